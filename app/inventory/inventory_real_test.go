//go:build real

package inventory

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSSHReadsTheInventory has ssh itself say what it makes of the configuration.
func TestSSHReadsTheInventory(t *testing.T) {
	i, err := NewInventory(inventoried(), Files{Key: "/keys/lake.pem"})
	if err != nil {
		t.Fatal(err)
	}
	text, _, _, _ := i.File(FormatSSH)
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"n2-c1.muster.example", "n2.lake_one"} {
		out, err := exec.Command("ssh", "-G", "-F", file, name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, want := range []string{"hostname 192.0.2.2\n", "user debian\n", "port 2222\n", "identityfile /keys/lake.pem\n", "hostkeyalias n2-c1.muster.example\n", "stricthostkeychecking true\n"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("of %s ssh does not say %q:\n%s", name, want, out)
			}
		}
	}
}
