package node

import (
	"os/exec"
	"strings"
	"testing"
)

func TestAtLeast(t *testing.T) {
	for _, tc := range []struct {
		want, have string
		ok         bool
	}{{"7", "7.23.0", true}, {"7.23", "7.23.0", true}, {"7.23.1", "7.23.0", false}, {"8", "7.23.0", false}, {"6.24", "7.1", true}, {"5.5", "5.5", true}, {"5.5", "5", false},
		{"7", "", false}, {"7", "none", false}, {"7.0.0", "7.0.0-rc1", true}, {"2.12", "ansible-playbook [core 2.14.18]", true}, {"2.15", "ansible-playbook [core 2.14.18]", false}, {"2.10", "ansible-playbook 2.9.6", false}} {
		var s Script
		s.AtLeast("Tool", "echo '"+tc.have+"'", tc.want)
		out, err := exec.Command("sh", "-eu", "-c", s.String()).CombinedOutput()
		if (err == nil) != tc.ok || !tc.ok && !strings.Contains(string(out), "requires at least "+tc.want) || tc.ok && len(out) > 0 {
			t.Errorf("%s where %s is wanted: %v, %s", tc.have, tc.want, err, out)
		}
	}
}
