package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/jobs/remote"
)

// Member is what the checks have to know of an automator.
type Member struct {
	New   func() family.Automator
	Check func(fields map[string]string) error // looks at fields as a catalog's reader does; nil: the member's own

	OK       map[string]string // fields of an action that succeeds, however often it is run
	OKSays   string            // is part of a line that it says
	Fail     map[string]string // fields of an action that fails; nil: there is none
	FailSays []string          // parts of the error's message: the exit code, the reason
	Slow     map[string]string // fields of an action that takes minutes; nil: there is none
	SlowSays string            // part of a line of its output once it's running; "": it runs after two seconds
	Invalid  []Invalid         // fields that are refused

	// In the values of all fields, and of WantFacts: {home} is the directory of the node in which an action may leave files.

	// Changes are the fields of an action that changes something on a node that it has not seen, and nothing the second time; for an
	// family.DryRunner. ChangesSay are parts of what its dry run tells, each of another line; nil: whatever it tells.
	Changes    map[string]string
	ChangesSay []string
	// Facts are the fields of an action that finds something out, and WantFacts is what that is. nil where the tool has no such thing.
	Facts     map[string]string
	WantFacts map[string]string

	// Slowly is for a tool that takes seconds to start: it is tried two times at once instead of four, and once where another time would find the same.
	Slowly bool
	Call   func(*family.ServiceCall) // completes every call, such as by resources; nil where there is nothing to add
}

// Invalid is a set of fields with the name of the one that is wrong; "" where any may be named.
type Invalid struct {
	Fields map[string]string
	Field  string
}

// Node is a machine of the trial's own on this very host.
type Node struct {
	Shell             family.Shell // the last check closes it
	Home, Temp, State string       // directories
	Resources         string       // the directory of the resources of every call, and what they are
	Refs              []template.ResourceRef
	// NoRoot has commands run as the login user, also where that could be root.
	NoRoot bool
}

// Secret is in the cluster configuration of every call. It must not be found on a command line while the action runs,
// nor in a file after it has ended.
const Secret = "s3cr3t-8d1f6a7be2"

// Describe checks what a member says of itself, and of fields. It needs no machine.
func Describe[S T[S]](t S, m Member) {
	t.Run("descriptor", func(t S) { m.descriptor(t) })
	t.Run("check", func(t S) { m.check(t) })
}

// Run checks what a member does on a machine.
func Run[S T[S]](t S, m Member, n Node) {
	s := onNode{Member: m, Node: n, sh: n.Shell}
	if n.NoRoot {
		s.sh = plain{n.Shell}
	}
	for _, c := range []struct {
		name  string
		check func(onNode, TB)
	}{{"bootstrap twice", onNode.bootstrap}, {"run twice", onNode.run}, {"run fails", onNode.fails}, {"run with bad fields", onNode.badFields}, {"run at the same time", onNode.together},
		{"dry run", onNode.dryRun}, {"tell", onNode.tell}, {"cancel", onNode.cancel}, {"time out", onNode.timeout}, {"nothing left", onNode.clean}, {"connection lost", onNode.lost}} {
		t.Run(c.name, func(t S) { c.check(s, t) })
	}
}

// plain is a shell that never asks for root.
type plain struct{ family.Shell }

// Run carries out family.Shell.
func (p plain) Run(ctx context.Context, c family.Command, out family.Output) (int, error) {
	c.Sudo = false
	return p.Shell.Run(ctx, c, out)
}

// under is the shell as an attempt of a step has it.
func (s onNode) under(c remote.Claim) family.Shell {
	if s.NoRoot {
		return plain{remote.Under(s.Shell, c)}
	}
	return remote.Under(s.sh, c)
}

func (m Member) descriptor(t TB) {
	d := m.New().Descriptor()
	if d.Name == "" || d.Description == "" {
		t.Error("name and description are required")
	}
	seen := map[string]bool{}
	for _, f := range d.Fields {
		if f.Name == "" || f.Label == "" || seen[f.Name] {
			t.Errorf("field %q needs a label and a unique name", f.Name)
		}
		seen[f.Name] = true
		if f.Default != "" && len(f.Options) > 0 && !slices.Contains(f.Options, f.Default) {
			t.Errorf("field %q: the default is not an option", f.Name)
		}
	}
	for _, fields := range []map[string]string{m.OK, m.Fail, m.Slow, m.Changes, m.Facts} {
		for name := range fields {
			if !seen[name] {
				t.Errorf("field %q is used but not described", name)
			}
		}
	}
}

func (m Member) check(t TB) {
	a := m.New()
	check := m.Check
	if check == nil {
		check = a.Check
	}
	for name, fields := range map[string]map[string]string{"OK": m.OK, "Fail": m.Fail, "Slow": m.Slow, "Changes": m.Changes, "Facts": m.Facts} {
		if fields == nil {
			continue
		}
		if err := check(at(fields, "/home/ada")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	invalid := slices.Clone(m.Invalid)
	for _, f := range a.Descriptor().Fields {
		if f.Required {
			without := map[string]string{}
			for k, v := range m.OK {
				if k != f.Name {
					without[k] = v
				}
			}
			if m.Check == nil || f.Default == "" {
				invalid = append(invalid, Invalid{without, f.Name})
			}
		}
	}
	for _, i := range invalid {
		err := check(i.Fields)
		if app.CodeOf(err) != app.EInvalid || app.AsError(err).Field == "" || i.Field != "" && app.AsError(err).Field != i.Field {
			t.Errorf("%v: got %v, want %s for field %q", i.Fields, err, app.EInvalid, i.Field)
		}
	}
}

// at puts the node's directory into fields.
func at(fields map[string]string, home string) map[string]string {
	own := map[string]string{}
	for name, value := range fields {
		own[name] = strings.ReplaceAll(value, "{home}", home)
	}
	return own
}

// onNode is a member on a machine.
type onNode struct {
	Member
	Node
	sh family.Shell
}

func (s onNode) context() family.NodeContext {
	return family.NodeContext{Tenant: "acme", Cluster: "c1", Node: "n1", Hostname: "n1.c1.example.org", Owner: "ada"}
}

func (s onNode) call(service string, fields map[string]string) family.ServiceCall {
	c := family.ServiceCall{
		NodeContext: s.context(), Operation: 1, Step: "install " + service + "@n1", Service: service, Action: app.ActionInstall, Fields: at(fields, s.Home),
		Config:    map[string]any{"db": map[string]any{"password": Secret}},
		Resources: s.Resources, Refs: s.Refs, Services: []string{service},
		Peers: []family.HostEntry{{Address: "10.0.0.1", Names: []string{"n1.c1.example.org", "n1"}, Services: []string{service}},
			{Address: "10.0.0.2", Names: []string{"n2.c1.example.org", "n2"}, Services: []string{"db"}}},
	}
	if s.Call != nil {
		s.Call(&c)
	}
	return c
}

func (s onNode) bootstrap(t TB) {
	for range 2 {
		if err := s.New().Bootstrap(t.Context(), s.sh, s.context(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func (s onNode) run(t TB) {
	for range 2 {
		var h heard
		if err := s.New().Run(t.Context(), s.sh, s.call("web", s.OK), h.add); err != nil {
			t.Fatalf("%v\n%s", err, h.text())
		}
		if !strings.Contains(h.text(), s.OKSays) {
			t.Errorf("%q is missing from the output:\n%s", s.OKSays, h.text())
		}
	}
	if s.Slowly {
		return
	}
	if err := s.New().Run(t.Context(), s.sh, s.call("web", s.OK), nil); err != nil {
		t.Errorf("without output: %v", err)
	}
}

func (s onNode) fails(t TB) {
	if s.Fail == nil {
		t.Skip("no failing action")
	}
	err := s.New().Run(t.Context(), s.sh, s.call("web", s.Fail), nil)
	if app.CodeOf(err) != app.EScript {
		t.Fatalf("got %v, want code %s", err, app.EScript)
	}
	for _, part := range append([]string{"web", string(s.call("web", s.Fail).Action)}, s.FailSays...) {
		if !strings.Contains(app.AsError(err).Message, part) {
			t.Errorf("%q doesn't contain %q", app.AsError(err).Message, part)
		}
	}
}

func (s onNode) badFields(t TB) {
	for _, i := range s.Invalid {
		if err := s.New().Run(t.Context(), s.sh, s.call("web", i.Fields), nil); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%v: got %v, want code %s", i.Fields, err, app.EInvalid)
		}
	}
}

// together uses one value for several calls at once, as workers with several nodes do.
func (s onNode) together(t TB) {
	a := s.New()
	var all sync.WaitGroup
	many := 4
	if s.Slowly {
		many = 2
	}
	for i := range many {
		all.Go(func() {
			var h heard
			if err := a.Run(t.Context(), s.sh, s.call(fmt.Sprint("web", i), s.OK), h.add); err != nil {
				t.Errorf("%v\n%s", err, h.text())
			}
		})
	}
	all.Wait()
}

// slow starts the slow action, waits until it's running and returns its end.
func (s onNode) slow(ctx context.Context, t TB) <-chan error {
	t.Helper()
	going := make(chan struct{})
	var once sync.Once
	if s.SlowSays == "" {
		defer time.AfterFunc(2*time.Second, func() { once.Do(func() { close(going) }) }).Stop()
	}
	done := make(chan error, 1)
	go func() {
		done <- s.New().Run(ctx, s.sh, s.call("web", s.Slow), func(_ app.Stream, line string) {
			if s.SlowSays != "" && strings.Contains(line, s.SlowSays) {
				once.Do(func() { close(going) })
			}
		})
	}()
	select {
	case <-going:
	case err := <-done:
		t.Fatalf("ended before it said %q: %v", s.SlowSays, err)
	case <-time.After(time.Minute):
		t.Fatalf("didn't say %q within a minute", s.SlowSays)
	}
	return done
}

func (s onNode) cancel(t TB) {
	if s.Slow == nil {
		t.Skip("no action takes minutes")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := s.processes()
	done := s.slow(ctx, t)
	if lines := commandLines(Secret); len(lines) > 0 {
		t.Errorf("the secret is on a command line: %q", lines)
	}
	cancel()
	within(t, done, app.ECancelled)
	s.clean(t)
	s.ended(t, before)
}

func (s onNode) timeout(t TB) {
	if s.Slow == nil || s.Slowly {
		t.Skip("no action takes minutes, or it handles a cancel itself")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	// The deadline comes once the action is running, so that the test does not depend on the machine's speed.
	late := &deadline{Context: ctx}
	done := s.slow(late, t)
	late.pass()
	cancel(nil)
	within(t, done, app.ETimeout)
}

// deadline is a context whose time-out comes when the test says so.
type deadline struct {
	context.Context
	mu     sync.Mutex
	passed bool
}

func (d *deadline) pass() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passed = true
}

func (d *deadline) Err() error {
	err := d.Context.Err()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && d.passed {
		return context.DeadlineExceeded
	}
	return err
}

func (s onNode) clean(t TB) {
	for _, dir := range []string{s.Home, s.Temp, s.State} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(p)
			if bytes.Contains(b, []byte(Secret)) {
				t.Errorf("a secret of the configuration is in %s", p)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// lost is last: it leaves the shell closed.
func (s onNode) lost(t TB) {
	if s.Slow == nil {
		t.Skip("no action takes minutes")
	}
	done := s.slow(t.Context(), t)
	_ = s.sh.Close()
	within(t, done, app.ETransient)
	if err := s.New().Bootstrap(t.Context(), s.sh, s.context(), nil); app.CodeOf(err) != app.ETransient {
		t.Errorf("bootstrap without a connection: got %v, want code %s: Bootstrap must run a command on the node, even if there is nothing to install", err, app.ETransient)
	}
}

func within(t TB, done <-chan error, code app.Code) {
	t.Helper()
	select {
	case err := <-done:
		if app.CodeOf(err) != code {
			t.Errorf("got %v, want code %s", err, code)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("doesn't end")
	}
}

// ended waits until no process is left that the action has started.
func (s onNode) ended(t TB, before map[string]string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		left = nil
		for pid, line := range s.processes() {
			if before[pid] == "" {
				left = append(left, line)
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("still running after cancel: %q", left)
}

// processes returns the command lines of what runs on this node, by number, where there is a /proc. The shell's own helper, which waits for commands,
// is none of them.
func (s onNode) processes() map[string]string {
	all := map[string]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, _ := os.ReadFile(f)
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "environ"))
		if len(line) > 0 && bytes.Contains(environ, []byte(s.State)) {
			all[filepath.Base(filepath.Dir(f))] = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// commandLines returns the command lines on this machine that hold a text, where there is a /proc.
func commandLines(text string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var out []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(text)) {
			out = append(out, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return out
}

// heard collects lines.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) add(s app.Stream, line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, string(s)+": "+line)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}
