package automatortest

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
	"testing"
	"time"

	"muster/app"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// Member is what the suite has to know of an automator.
type Member struct {
	New func() app.Automator

	OK       map[string]string // fields of an action that succeeds, however often it is run
	OKSays   string            // is part of a line that it says
	Fail     map[string]string // fields of an action that fails
	FailSays []string          // parts of the error's message: the exit code, the reason
	Slow     map[string]string // fields of an action that takes minutes
	SlowSays string            // is part of a line that it says when it is well under way
	Invalid  []Invalid         // fields that Check refuses
}

// Invalid is a set of fields with the name of the one that is wrong.
type Invalid struct {
	Fields map[string]string
	Field  string
}

// Secret stands in the cluster configuration of every call. It must not be found on a command line while the action runs,
// nor in a file after it has ended.
const Secret = "s3cr3t-8d1f6a7be2"

// Run runs the suite.
func Run(t *testing.T, m Member) {
	t.Run("descriptor", m.descriptor)
	t.Run("check", m.check)
	for name, node := range map[string]func(t testing.TB) *remotetest.Node{
		"in-process": func(t testing.TB) *remotetest.Node { return &remotetest.Start(t, remotetest.Options{}).Node },
		"openssh":    remotetest.OpenSSH,
	} {
		t.Run(name, func(t *testing.T) {
			n := node(t)
			sh, err := remote.Dial(t.Context(), n.Target())
			if err != nil {
				t.Fatal(err)
			}
			defer sh.Close()
			s := onNode{m, n, sh}
			t.Run("bootstrap twice", s.bootstrap)
			t.Run("run twice", s.run)
			t.Run("run fails", s.fails)
			t.Run("run with bad fields", s.badFields)
			t.Run("run at the same time", s.together)
			t.Run("cancel", s.cancel)
			t.Run("time out", s.timeout)
			t.Run("nothing left", s.clean)
			t.Run("connection lost", s.lost)
		})
	}
}

func (m Member) descriptor(t *testing.T) {
	d := m.New().Descriptor()
	if d.Name == "" || d.Description == "" {
		t.Error("name and description are for people: both must be there")
	}
	seen := map[string]bool{}
	for _, f := range d.Fields {
		if f.Name == "" || f.Label == "" || seen[f.Name] {
			t.Errorf("field %q: needs a label and a name of its own", f.Name)
		}
		seen[f.Name] = true
		if f.Default != "" && len(f.Options) > 0 && !slices.Contains(f.Options, f.Default) {
			t.Errorf("field %q: the default is not an option", f.Name)
		}
	}
	for _, fields := range []map[string]string{m.OK, m.Fail, m.Slow} {
		for name := range fields {
			if !seen[name] {
				t.Errorf("field %q is used but not described", name)
			}
		}
	}
}

func (m Member) check(t *testing.T) {
	a := m.New()
	for name, fields := range map[string]map[string]string{"OK": m.OK, "Fail": m.Fail, "Slow": m.Slow} {
		if err := a.Check(fields); err != nil {
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
			invalid = append(invalid, Invalid{without, f.Name})
		}
	}
	for _, i := range invalid {
		err := a.Check(i.Fields)
		if app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != i.Field {
			t.Errorf("%v: got %v, want %s for field %q", i.Fields, err, app.EInvalid, i.Field)
		}
	}
}

// onNode is a member on a machine.
type onNode struct {
	Member
	node *remotetest.Node
	sh   app.Shell
}

func (s onNode) context() app.NodeContext {
	return app.NodeContext{Tenant: "acme", Cluster: "c1", Node: "n1", Hostname: "n1.c1.example.org", Owner: "ada"}
}

func (s onNode) call(service string, fields map[string]string) app.ServiceCall {
	return app.ServiceCall{
		NodeContext: s.context(), Service: service, Action: app.ActionInstall, Fields: fields,
		Config: map[string]any{"db": map[string]any{"password": Secret}},
	}
}

func (s onNode) bootstrap(t *testing.T) {
	for range 2 {
		if err := s.New().Bootstrap(t.Context(), s.sh, s.context(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func (s onNode) run(t *testing.T) {
	for range 2 {
		var h heard
		if err := s.New().Run(t.Context(), s.sh, s.call("web", s.OK), h.add); err != nil {
			t.Fatalf("%v\n%s", err, h.text())
		}
		if !strings.Contains(h.text(), s.OKSays) {
			t.Errorf("%q was not said:\n%s", s.OKSays, h.text())
		}
	}
	if err := s.New().Run(t.Context(), s.sh, s.call("web", s.OK), nil); err != nil {
		t.Errorf("without anyone listening: %v", err)
	}
}

func (s onNode) fails(t *testing.T) {
	err := s.New().Run(t.Context(), s.sh, s.call("web", s.Fail), nil)
	if app.CodeOf(err) != app.EScript {
		t.Fatalf("got %v, want code %s", err, app.EScript)
	}
	for _, part := range append([]string{"web", "install"}, s.FailSays...) {
		if !strings.Contains(app.AsError(err).Message, part) {
			t.Errorf("%q does not say %q", app.AsError(err).Message, part)
		}
	}
}

func (s onNode) badFields(t *testing.T) {
	for _, i := range s.Invalid {
		if err := s.New().Run(t.Context(), s.sh, s.call("web", i.Fields), nil); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%v: got %v, want code %s", i.Fields, err, app.EInvalid)
		}
	}
}

// together uses one value for several calls at once, as workers with several nodes do.
func (s onNode) together(t *testing.T) {
	a := s.New()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			var h heard
			if err := a.Run(t.Context(), s.sh, s.call(fmt.Sprint("web", i), s.OK), h.add); err != nil {
				t.Errorf("%v\n%s", err, h.text())
			}
		})
	}
	all.Wait()
}

// slow starts the slow action, waits until it is under way and gives its end.
func (s onNode) slow(t *testing.T, ctx context.Context) <-chan error {
	t.Helper()
	going := make(chan struct{})
	var once sync.Once
	done := make(chan error, 1)
	go func() {
		done <- s.New().Run(ctx, s.sh, s.call("web", s.Slow), func(_ app.Stream, line string) {
			if strings.Contains(line, s.SlowSays) {
				once.Do(func() { close(going) })
			}
		})
	}()
	select {
	case <-going:
	case err := <-done:
		t.Fatalf("it ended before it said %q: %v", s.SlowSays, err)
	case <-time.After(time.Minute):
		t.Fatalf("it did not say %q within a minute", s.SlowSays)
	}
	return done
}

func (s onNode) cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := s.slow(t, ctx)
	if lines := commandLines(Secret); len(lines) > 0 {
		t.Errorf("the secret is on a command line: %q", lines)
	}
	cancel()
	within(t, done, app.ECancelled)
	s.clean(t)
}

func (s onNode) timeout(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	// The deadline comes once the action is under way, so that the test does not depend on the machine's speed.
	late := &deadline{Context: ctx}
	done := s.slow(t, late)
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

func (s onNode) clean(t *testing.T) {
	for _, dir := range []string{s.node.Home, s.node.Temp, s.node.State} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(p)
			if bytes.Contains(b, []byte(Secret)) {
				t.Errorf("the secret is in %s", p)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// lost is last: it leaves the shell closed.
func (s onNode) lost(t *testing.T) {
	done := s.slow(t, t.Context())
	_ = s.sh.Close()
	within(t, done, app.ETransient)
	if err := s.New().Bootstrap(t.Context(), s.sh, s.context(), nil); app.CodeOf(err) != app.ETransient {
		t.Errorf("bootstrap without a connection: got %v, want code %s", err, app.ETransient)
	}
}

func within(t *testing.T, done <-chan error, code app.Code) {
	t.Helper()
	select {
	case err := <-done:
		if app.CodeOf(err) != code {
			t.Errorf("got %v, want code %s", err, code)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}

// commandLines gives the command lines on this machine that hold a text, where there is a /proc.
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
