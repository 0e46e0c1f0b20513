//go:build linux

package sandbox

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

func TestProcessPassesTheSuite(t *testing.T) {
	h, _ := suite(ModeProcess)
	h.Judge = "in process mode"
	providertest.Run(t, h)
}

func TestProcessMachine(t *testing.T) {
	dir := dataDir(t)
	p := open(t, dir, ModeProcess)
	m, k := create(t, p, "own")
	if m.OwnRoot || !loopback.Contains(netip.MustParseAddr(m.Addresses["access_v4"])) || !strings.Contains(m.Note, "shares this host's file system") {
		t.Errorf("%+v", m)
	}
	home := p.files.file(m.ID, "home")
	c := dial(t, m, k)

	t.Run("commands run in the machine's folder", func(t *testing.T) {
		t.Setenv("SECRET_OF_MUSTER", "x")
		want := home + "\n" + home + "\n" + m.ID + "\n"
		if got := sh(t, c, `pwd; echo "$HOME"; echo "$MUSTER_SANDBOX_NODE$SECRET_OF_MUSTER"`) + "\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("exit status and both outputs", func(t *testing.T) {
		s := newTestSession(t, c)
		var out, errs strings.Builder
		s.Stdout, s.Stderr = &out, &errs
		err := s.Run("echo out; echo err >&2; exit 7")
		var exit *ssh.ExitError
		if !errors.As(err, &exit) || exit.ExitStatus() != 7 || out.String() != "out\n" || errs.String() != "err\n" {
			t.Errorf("%v, %q, %q", err, out.String(), errs.String())
		}
	})
	t.Run("standard input, and much of it", func(t *testing.T) {
		s := newTestSession(t, c)
		s.Stdin = strings.NewReader(strings.Repeat("x", 3_000_000))
		if out, err := s.Output("cat | wc -c"); err != nil || strings.TrimSpace(string(out)) != "3000000" {
			t.Errorf("%s, %v", out, err)
		}
		s = newTestSession(t, c)
		if out, err := s.Output("head -c 3000000 /dev/zero"); err != nil || len(out) != 3000000 {
			t.Errorf("%d bytes, %v", len(out), err)
		}
	})
	t.Run("what stays in the background does not hold the session", func(t *testing.T) {
		start := time.Now()
		if got := sh(t, c, "sleep 600 & echo $!"); time.Since(start) > hangs {
			t.Errorf("waited for process %s", got)
		}
	})
	t.Run("signals", func(t *testing.T) {
		s := newTestSession(t, c)
		out, err := s.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start("echo ready; sleep 60"); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadFull(out, make([]byte, 6))
		if err := s.Signal(ssh.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var exit *ssh.ExitError
		if err := s.Wait(); !errors.As(err, &exit) || exit.Signal() != "KILL" {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("terminal and shell", func(t *testing.T) {
		s := newTestSession(t, c)
		if err := s.RequestPty("xterm", 33, 99, nil); err != nil {
			t.Fatal(err)
		}
		if out, err := s.Output("stty size; tty"); err != nil || !strings.HasPrefix(string(out), "33 99\r\n/dev/pts/") {
			t.Errorf("%q, %v", out, err)
		}
		s = newTestSession(t, c)
		s.Stdin = strings.NewReader("echo $((40+2))\n")
		var all strings.Builder
		s.Stdout = &all
		if err := s.Shell(); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(); err != nil || all.String() != "42\n" {
			t.Errorf("the shell says %q, %v", all.String(), err)
		}
	})
	t.Run("other users' requests", func(t *testing.T) {
		if ok, err := newTestSession(t, c).SendRequest("x11-req", true, nil); ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		if err := newTestSession(t, c).RequestSubsystem("netconf"); err == nil {
			t.Error("an unknown subsystem is offered")
		}
		if _, err := c.Dial("tcp", "127.0.0.1:1"); err == nil {
			t.Error("connections are passed on")
		}
	})
	remove(t, p, m)
	wantNoTraces(t, dir)
}

func newTestSession(t *testing.T, c *ssh.Client) *ssh.Session {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestProcessFiles(t *testing.T) {
	p := open(t, dataDir(t), ModeProcess)
	m, k := create(t, p, "files")
	c := dial(t, m, k)
	f, err := sftp.NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	home := p.files.file(m.ID, "home")
	if wd, err := f.Getwd(); err != nil || wd != home {
		t.Errorf("works in %q, %v", wd, err)
	}
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	must("mkdir", f.MkdirAll("a/b"))
	w, err := f.Create("a/b/file")
	must("create", err)
	_, err = w.Write([]byte("hello"))
	must("write", err)
	must("close", w.Close())
	must("chmod", f.Chmod("a/b/file", 0o600))
	must("rename", f.Rename("a/b/file", home+"/a/moved"))
	must("symlink", f.Symlink("moved", "a/link"))
	if got := sh(t, c, "cat a/link; stat -c %%a a/moved"); got != "hello600" {
		t.Errorf("a command finds %q", got)
	}
	if link, err := f.ReadLink("a/link"); err != nil || link != "moved" {
		t.Errorf("link to %q, %v", link, err)
	}
	if infos, err := f.ReadDir("a"); err != nil || len(infos) != 3 {
		t.Errorf("%v, %v", infos, err)
	}
	must("replace", func() error {
		w, err := f.Create("new")
		if err != nil {
			return err
		}
		return errors.Join(w.Close(), f.PosixRename("new", "a/moved"))
	}())
	if info, err := f.Stat("a/moved"); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
	must("remove", f.Remove("a/link"))

	outside := filepath.Join(t.TempDir(), "outside")
	must("outside", os.WriteFile(outside, []byte("x"), 0o644))
	sh(t, c, "ln -s %s way-out", outside)
	for _, path := range []string{outside, "../host_key", "/etc/passwd", "way-out"} {
		if r, err := f.Open(path); err == nil {
			_ = r.Close()
			t.Errorf("%s can be read", path)
		}
		if w, err := f.Create(path); err == nil {
			_ = w.Close()
			t.Errorf("%s can be written", path)
		}
	}
}

// pidIn waits until a command has written its number to a file in the machine's folder.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	for deadline := time.Now().Add(hangs); ; time.Sleep(2 * time.Millisecond) {
		b, err := os.ReadFile(path)
		if pid, perr := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && perr == nil {
			return pid
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %q, %v", path, b, err)
		}
	}
}

func running(pid int) bool {
	_, state, err := procStat(pid)
	return err == nil && state != 'Z'
}

func waitEnded(t *testing.T, what string, pid int) {
	t.Helper()
	for deadline := time.Now().Add(hangs); running(pid); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s (%d) still runs", what, pid)
		}
	}
}

func TestProcessCancelledSession(t *testing.T) {
	for name, cancel := range map[string]func(c *ssh.Client, s *ssh.Session) error{
		"the channel is closed":  func(_ *ssh.Client, s *ssh.Session) error { return s.Close() },
		"the connection is lost": func(c *ssh.Client, _ *ssh.Session) error { return c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := dataDir(t)
			p := open(t, dir, ModeProcess)
			m, k := create(t, p, "cancelled")
			home := p.files.file(m.ID, "home")
			c := dial(t, m, k)
			s := newTestSession(t, c)
			// The child ignores what is polite, and a service was put into a session of its own.
			if err := s.Start(`setsid sh -c 'echo $$ >service; exec sleep 600' >log 2>&1 </dev/null &
				sh -c 'trap "" TERM; echo $$ >child; while :; do sleep 600; done' & echo $$ >command; wait`); err != nil {
				t.Fatal(err)
			}
			service, child, command := pidIn(t, home+"/service"), pidIn(t, home+"/child"), pidIn(t, home+"/command")
			if err := cancel(c, s); err != nil {
				t.Fatal(err)
			}
			waitEnded(t, "the command", command)
			waitEnded(t, "its child", child)
			if !running(service) {
				t.Error("the service is gone")
			}
			remove(t, p, m)
			if running(service) {
				t.Error("the service outlives its machine")
			}
			wantNoTraces(t, dir)
		})
	}
}

// Daemons overwrite the memory that showed their environment; a person's shell must not be taken for one.
func TestProcessDeleteFindsHiddenProcesses(t *testing.T) {
	dir := dataDir(t)
	p := open(t, dir, ModeProcess)
	m, k := create(t, p, "hides")
	other, k2 := create(t, p, "stays")
	sh(t, dial(t, m, k), "setsid env -i sh -c 'echo $$ >hidden; exec sleep 600' >log 2>&1 </dev/null &")
	sh(t, dial(t, other, k2), "setsid sh -c 'echo $$ >service; exec sleep 600' >log 2>&1 </dev/null &")
	hidden := pidIn(t, p.files.file(m.ID, "home")+"/hidden")
	neighbour := pidIn(t, p.files.file(other.ID, "home")+"/service")

	onlooker := exec.Command("sleep", "600")
	onlooker.Env = []string{nodeVariable + "=" + m.ID + "0"} // nearly the mark
	if err := onlooker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = onlooker.Process.Kill(); _ = onlooker.Wait() }()

	remove(t, p, m)
	if running(hidden) {
		t.Error("a process without the mark outlives its machine")
	}
	if !running(neighbour) || !running(onlooker.Process.Pid) {
		t.Error("someone else's process was killed")
	}
	remove(t, p, other)
	wantNoTraces(t, dir)
}

func TestProcessServicesSurviveTheProvider(t *testing.T) {
	dir := dataDir(t)
	p := open(t, dir, ModeProcess)
	m, k := create(t, p, "restart")
	sh(t, dial(t, m, k), "setsid sh -c 'echo $$ >service; exec sleep 600' >log 2>&1 </dev/null &")
	service := pidIn(t, p.files.file(m.ID, "home")+"/service")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped {
		t.Errorf("unserved: %+v, %v", got, err)
	}
	p = open(t, dir, ModeProcess)
	if got := sh(t, dial(t, m, k), "cat service"); got != strconv.Itoa(service) || !running(service) {
		t.Errorf("service %d: file says %q, running %v", service, got, running(service))
	}
	remove(t, p, m)
	if running(service) {
		t.Error("the service outlives its machine")
	}
}

// Two providers on one directory, as in two processes: the one that serves a machine, and one that deletes it.
func TestProcessDeletedFromElsewhere(t *testing.T) {
	dir := dataDir(t)
	p, q := open(t, dir, ModeProcess), open(t, dir, ModeProcess)
	m, k := create(t, p, "shared")
	if got, err := q.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineRunning {
		t.Errorf("seen from elsewhere: %+v, %v", got, err)
	}
	c := dial(t, m, k)
	remove(t, q, m)
	if _, err := c.NewSession(); err == nil {
		// The server notices at the knock; what it had open it closes then.
		if err := c.Wait(); err == nil {
			t.Error("the connection ended as if asked to")
		}
	}
	for deadline := time.Now().Add(hangs); ; time.Sleep(2 * time.Millisecond) {
		n, err := net.DialTimeout("tcp", net.JoinHostPort(m.Addresses["access_v4"], strconv.Itoa(m.SSHPort)), time.Second)
		if errors.Is(err, unix.ECONNREFUSED) {
			break
		}
		if err == nil {
			_ = n.Close()
		}
		if time.Now().After(deadline) {
			t.Fatalf("it still listens: %v", err)
		}
	}
	wantNoTraces(t, dir)
	again, k := create(t, q, "shared")
	sh(t, dial(t, again, k), "true")
}

func TestProcessAddressTaken(t *testing.T) {
	p := open(t, dataDir(t), ModeProcess)
	first, _ := create(t, p, "first")
	q := open(t, dataDir(t), ModeProcess)
	second, k := create(t, q, "second")
	if first.Addresses["access_v4"] == second.Addresses["access_v4"] {
		t.Errorf("both are at %v", first.Addresses)
	}
	sh(t, dial(t, second, k), "true")
}

func TestMostMachines(t *testing.T) {
	dir := dataDir(t)
	p, err := Open(t.Context(), "small", map[string]any{"mode": ModeProcess, "max_machines": 1}, Env{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	m, _ := create(t, p, "one")
	s, _ := spec(t, "two")
	if _, err := p.Create(t.Context(), s); app.CodeOf(err) != app.ECapacity {
		t.Errorf("one too many: %v", err)
	}
	if again, _ := create(t, p, "one"); again.ID != m.ID {
		t.Error("the one that is there does not count against itself")
	}
	remove(t, p, m)
	if _, err := p.Create(t.Context(), s); err != nil {
		t.Errorf("room again: %v", err)
	}
}

func TestSettings(t *testing.T) {
	for field, value := range map[string]any{"mode": "vm", "subnet": "8.8.0.0/16", "max_machines": 0, "max_processes": -1, "max_disk_gb": "much"} {
		err := Check(map[string]any{field: value})
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "settings."+field {
			t.Errorf("%s=%v: %v", field, value, err)
		}
	}
	for _, subnet := range []string{"10.0.0.0/8", "fd00::/64", "10.1.2.0/28", "here"} {
		if Check(map[string]any{"subnet": subnet}) == nil {
			t.Errorf("subnet %s is taken", subnet)
		}
	}
	s, err := parseSettings(map[string]any{"subnet": "10.1.2.3/24", "max_machines": 3})
	if err != nil || s.subnet.String() != "10.1.2.0/24" || s.maxMachines != 3 || s.mode != ModeAuto {
		t.Errorf("%+v, %v", s, err)
	}
}

// Whatever is in the directory, nothing is taken for a machine that is none, and what cannot be read is not passed over.
func TestStrangeFiles(t *testing.T) {
	dir := dataDir(t)
	p := open(t, dir, ModeProcess)
	for _, d := range []string{"nodes/lost+found", "nodes/sb-000000000000"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if ms, err := p.List(t.Context(), nil); err != nil || len(ms) != 0 {
		t.Errorf("%v, %v", ms, err)
	}
	m, _ := create(t, p, "broken")
	good, err := os.ReadFile(p.files.recordFile(m.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.files.recordFile(m.ID), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.List(t.Context(), nil); err == nil {
		t.Error("the list passes over a record that cannot be read")
	}
	if err := p.Delete(t.Context(), m.ID); err == nil {
		t.Error("a machine is deleted without knowing what it is")
	}
	if err := os.WriteFile(p.files.recordFile(m.ID), good, 0o600); err != nil {
		t.Fatal(err)
	}
	remove(t, p, m)
	for _, d := range []string{"nodes/lost+found", "nodes/sb-000000000000"} {
		if err := os.Remove(filepath.Join(dir, d)); err != nil {
			t.Error(err)
		}
	}
}

// Where tenants share the host, no machine is a process of it, whichever way the mode was chosen.
func TestProcessMachinesAreForOneTenant(t *testing.T) {
	p := open(t, dataDir(t), ModeProcess)
	s, _ := spec(t, "shared")
	s.Isolated = true
	_, err := p.Create(t.Context(), s)
	if e := app.AsError(err); err == nil || e.Code != app.EForbidden || e.Reason != "process_mode" || e.Hint != family.IsolationHint {
		t.Errorf("%v", err)
	}
	wantNoTraces(t, p.files.dir)
	s.Isolated = false
	if _, err := p.Create(t.Context(), s); err != nil {
		t.Error(err)
	}
}

// A sandbox holds so many machines, processes and files, and says which limit it has met.
func TestSandboxIsBounded(t *testing.T) {
	bounded := func(t *testing.T, name string, most int) *Provider {
		t.Helper()
		p, err := Open(t.Context(), "small", map[string]any{"mode": ModeProcess, name: most}, Env{DataDir: dataDir(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	full := func(t *testing.T, p *Provider, setting string) {
		t.Helper()
		s, _ := spec(t, "one more")
		_, err := p.Create(t.Context(), s)
		if e := app.AsError(err); err == nil || e.Code != app.ECapacity || !strings.Contains(e.Hint, setting) {
			t.Errorf("%v", err)
		}
	}
	t.Run("processes", func(t *testing.T) {
		p := bounded(t, "max_processes", 4)
		m, k := create(t, p, "first")
		c := dial(t, m, k)
		sh(t, c, "for i in 1 2 3 4 5; do sleep 600 >/dev/null 2>&1 & done")
		p.usage.processes.at = time.Time{} // a moment later
		s := newTestSession(t, c)
		out, err := s.CombinedOutput("echo hello")
		var exit *ssh.ExitError
		if !errors.As(err, &exit) || exit.ExitStatus() != 1 || !strings.Contains(string(out), "limit of 4 processes") || !strings.Contains(string(out), "max_processes") {
			t.Errorf("%q, %v", out, err)
		}
		full(t, p, "max_processes")
	})
	t.Run("disk", func(t *testing.T) {
		p := bounded(t, "max_disk_gb", 1)
		m, k := create(t, p, "first")
		p.usage.limit.maxDiskGB = 0 // no one wants a test to write a gigabyte
		p.usage.disk.at = time.Time{}
		sh(t, dial(t, m, k), "echo something > file")
		full(t, p, "max_disk_gb")
	})
	t.Run("machines", func(t *testing.T) {
		p := bounded(t, "max_machines", 1)
		create(t, p, "first")
		full(t, p, "max_machines")
	})
}

func TestDiskUsed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := diskUsed(t.Context(), dir, 1<<30); err != nil || n < 1<<20 || n > 2<<20 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := diskUsed(t.Context(), filepath.Join(dir, "none"), 1); err != nil || n != 0 {
		t.Errorf("a directory that is not there: %d, %v", n, err)
	}
}
