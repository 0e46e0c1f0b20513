package remote_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

const hangs = 5 * time.Minute // reached only where something hangs

func TestMain(m *testing.M) {
	remotetest.ServeQuiet()
	goleak.VerifyTestMain(m)
}

// onEach runs a test against the server in this process and against OpenSSH, with a resident where there can be one and
// with a session for each command.
func onEach(t *testing.T, test func(t *testing.T, n *remotetest.Node, c *remote.Conn)) {
	t.Helper()
	nodes := map[string]func(t *testing.T) *remotetest.Node{
		"in-process": func(t *testing.T) *remotetest.Node { return &remotetest.Start(t, remotetest.Options{}).Node },
		"in-process, neither signals nor sessions": func(t *testing.T) *remotetest.Node {
			return &remotetest.Start(t, remotetest.Options{NoSignals: true, NoSession: true}).Node
		},
		"openssh": func(t *testing.T) *remotetest.Node { return remotetest.OpenSSH(t) },
	}
	for name, start := range nodes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t)
			test(t, n, dial(t, n.Target()))
		})
	}
}

// onEachWay is onEach for what a resident does, also on machines without one.
func onEachWay(t *testing.T, test func(t *testing.T, n *remotetest.Node, c *remote.Conn)) {
	t.Helper()
	onEach(t, test)
	t.Run("without a resident", func(t *testing.T) {
		noBash := func(t *testing.T) string { return tools(t, map[string]string{"bash": "exit 126"}) }
		t.Run("in-process", func(t *testing.T) {
			t.Parallel()
			s := remotetest.Start(t, remotetest.Options{Env: []string{noBash(t)}})
			test(t, &s.Node, dial(t, s.Target()))
		})
		t.Run("openssh", func(t *testing.T) {
			t.Parallel()
			n := remotetest.OpenSSHWith(t, strings.Replace(noBash(t), "$PATH", os.Getenv("PATH"), 1))
			test(t, n, dial(t, n.Target()))
		})
	})
}

func dial(t testing.TB, target remote.Target) *remote.Conn {
	t.Helper()
	return dialWith(t, target, remote.Limits{})
}

func dialWith(t testing.TB, target remote.Target, l remote.Limits) *remote.Conn {
	t.Helper()
	if l.Dial == 0 {
		l.Dial = hangs
	}
	if l.Keepalive == 0 {
		l.Keepalive = time.Minute // a busy host may take longer to answer than the usual
	}
	c, err := l.DialTo(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
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

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lines...)
}

// of returns the text of one stream's lines.
func (h *heard) of(s app.Stream) []string {
	var out []string
	for _, l := range h.all() {
		if text, ok := strings.CutPrefix(l, string(s)+": "); ok {
			out = append(out, text)
		}
	}
	return out
}

func mustRun(t testing.TB, sh family.Shell, cmd family.Command) []string {
	t.Helper()
	var h heard
	exit, err := sh.Run(t.Context(), cmd, h.add)
	if err != nil || exit != 0 {
		t.Fatalf("%q: exit %d, %v, %q", cmd.Line, exit, err, h.all())
	}
	return h.of(family.StreamOut)
}

func wantCode(t testing.TB, err error, code app.Code, parts ...string) {
	t.Helper()
	if app.CodeOf(err) != code {
		t.Fatalf("got %v (code %q), want code %q", err, app.CodeOf(err), code)
	}
	for _, p := range parts {
		e := app.AsError(err)
		if !strings.Contains(e.Error()+" "+e.Hint, p) {
			t.Errorf("%q does not say %q", e.Error(), p)
		}
	}
}

// eventually polls for what another process does.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("it never happened: " + what)
}

// pidsIn reads process ids that commands have written, one a line.
func pidsIn(file string) []int {
	b, _ := os.ReadFile(file)
	var pids []int
	for _, w := range strings.Fields(string(b)) {
		if p, err := strconv.Atoi(w); err == nil {
			pids = append(pids, p)
		}
	}
	return pids
}

// running reports whether a process exists and is not a zombie that only waits for its parent.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func tempFile(n *remotetest.Node, name string) string { return filepath.Join(n.Temp, name) }

func soon(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
