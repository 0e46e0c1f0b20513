//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app/family"
	"muster/providers/providertest"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := makeUntilKilled(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// suite is the harness of one mode. Each test has a data directory of its own, by the test's name.
func suite(mode string) (providertest.Harness, map[string]string) {
	dirs := make(map[string]string)
	h := providertest.Harness{
		Open: func(t *testing.T) family.Provider {
			dirs[t.Name()] = dataDir(t)
			return open(t, dirs[t.Name()], mode)
		},
		Reopen: func(t *testing.T) family.Provider { return open(t, dirs[t.Name()], mode) },
		Flavor: "small",
		Image:  HostImage,
		Login:  true,
		Mount:  "~/suite",
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor":    func(s *family.MachineSpec) { s.Flavor.Flavor = "gigantic" },
			"an unknown image":     func(s *family.MachineSpec) { s.Image.Image = "ubuntu" },
			"an absent image":      func(s *family.MachineSpec) { s.Image.Image = "/no/such/root" },
			"an odd host name":     func(s *family.MachineSpec) { s.Hostname = "a\n10.0.0.1 b" },
			"a broken host key":    func(s *family.MachineSpec) { s.HostKey = []byte("none") },
			"no one to let in":     func(s *family.MachineSpec) { s.AuthorizedKey = "" },
			"two keys to let in":   func(s *family.MachineSpec) { s.AuthorizedKey += "\n" + s.AuthorizedKey },
			"the host's root":      func(s *family.MachineSpec) { s.Image.Image = "/" },
			"an image without ssh": func(s *family.MachineSpec) { s.Image.Image = "/proc/self/fdinfo" },
		},
	}
	return h, dirs
}

// dataDir returns a directory that is emptied of machines, and then checked, when the test ends.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		left := traces(dir)
		if len(left) == 0 {
			if err := cleanup(context.Background(), dir); err != nil {
				t.Errorf("clean up: %v", err)
			}
			return
		}
		if err := cleanup(context.Background(), dir); err != nil {
			t.Errorf("clean up: %v (there was %v)", err, left)
		}
		if left := traces(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return dir
}

func open(t *testing.T, dir, mode string) *Provider {
	t.Helper()
	p, err := Open(t.Context(), "here", map[string]any{"mode": mode}, Env{DataDir: dir, Logger: slog.New(slog.NewTextHandler(testLog{t}, nil))})
	if err != nil {
		t.Fatalf("open the sandbox: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})
	if got, why := p.Mode(); mode != ModeAuto && got != mode {
		t.Fatalf("mode %s (%s), want %s", got, why, mode)
	}
	return p
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// traces tells what on this host belongs to a data directory's machines: devices, processes
// (this one too) that see mounts of it or are marked, and the machines' own files.
func traces(dir string) []string {
	var out []string
	n := newNetwork(layout{dir}, settings{}.subnet, nil)
	devices, _ := os.ReadDir("/sys/class/net")
	for _, d := range devices {
		if d.Name() == n.bridge || strings.HasPrefix(d.Name(), "mv"+n.hash) {
			out = append(out, "device "+d.Name())
		}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		mounts, _ := os.ReadFile(p + "/mountinfo")
		environ, _ := os.ReadFile(p + "/environ")
		cwd, _ := os.Readlink(p + "/cwd")
		marked := false
		ids, _ := layout{dir}.ids()
		for _, id := range ids {
			marked = marked || strings.Contains(string(environ), nodeVariable+"="+id+"\x00")
		}
		if strings.Contains(string(mounts), "muster:"+n.hash+":") || within(cwd, dir) || marked {
			out = append(out, "process "+p)
		}
	}
	for _, pattern := range []string{"nodes/*", "addresses/*", "trash/*"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		out = append(out, files...)
	}
	return out
}

// wantNoTraces checks that nothing but a cache is left of any machine.
func wantNoTraces(t *testing.T, dir string) {
	t.Helper()
	if left := traces(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func spec(t testing.TB, intent string) (family.MachineSpec, providertest.Keys) {
	return providertest.Harness{Flavor: "small", Image: HostImage}.Spec(t, intent)
}

func create(t testing.TB, p *Provider, intent string) (family.Machine, providertest.Keys) {
	t.Helper()
	s, k := spec(t, intent)
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatalf("create %s: %v", intent, err)
	}
	return m, k
}

func remove(t testing.TB, p *Provider, m family.Machine) {
	t.Helper()
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Errorf("delete %s: %v", m.ID, err)
	}
}

func dial(t testing.TB, m family.Machine, k providertest.Keys) *ssh.Client {
	t.Helper()
	c := providertest.Dial(t, m, k)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// sh runs a command and returns all that it printed.
func sh(t testing.TB, c *ssh.Client, format string, args ...any) string {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	command := fmt.Sprintf(format, args...)
	out, err := s.CombinedOutput(command)
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return strings.TrimSpace(string(out))
}

// cleanup deletes every machine of a data directory, then the directory. It is for tests and for starting over.
func cleanup(ctx context.Context, dataDir string) error {
	if _, err := os.Stat(dataDir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	p, err := Open(ctx, "cleanup", map[string]any{"mode": ModeProcess}, Env{DataDir: dataDir})
	if err != nil {
		return err
	}
	ids, err := p.files.ids()
	errs := []error{err}
	for _, id := range ids {
		errs = append(errs, p.Delete(ctx, id))
	}
	errs = append(errs, p.Close())
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return os.RemoveAll(p.files.dir)
}
