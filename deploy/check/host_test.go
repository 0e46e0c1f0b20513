package check

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program finds a program, also where only root's path has it. Without it a test is left out, unless CI insists.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/usr/bin/"} {
		if p, err := exec.LookPath(dir + name); err == nil {
			return p
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not here; see deploy/ci/setup.sh", name)
	}
	t.Skipf("%s is not here", name)
	return ""
}

// TestSystemd lets systemd look at the units. That their programs are not installed here is no fault of theirs.
func TestSystemd(t *testing.T) {
	analyze := program(t, "systemd-analyze")
	units, err := filepath.Glob("../systemd/*.service")
	if err != nil || len(units) != 3 {
		t.Fatal(units, err)
	}
	timers, _ := filepath.Glob("../systemd/*.timer")
	dir := t.TempDir()
	args := []string{"verify", "--man=no", "--recursive-errors=no"}
	for _, u := range append(units, timers...) {
		b, err := os.ReadFile(u)
		if err != nil {
			t.Fatal(err)
		}
		// An existing program replaces ours.
		b = bytes.ReplaceAll(b, []byte("/usr/bin/muster"), []byte("/bin/true"))
		to := filepath.Join(dir, filepath.Base(u))
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, to)
	}
	out, err := exec.Command(analyze, args...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte(dir)) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAlerts lets Prometheus read the rules of alerts. That what they ask for is shown is looked at in package metrics.
func TestAlerts(t *testing.T) {
	if out, err := exec.Command(program(t, "promtool"), "check", "rules", "../prometheus/rules.yml").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
