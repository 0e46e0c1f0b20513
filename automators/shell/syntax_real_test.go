//go:build real

package shell

import (
	"os/exec"
	"strings"
	"testing"
)

// TestRealShellsAgree holds Syntax to what dash -n and bash -n say of the same scripts: what they refuse is reported, and what both read is at most warned of.
func TestRealShellsAgree(t *testing.T) {
	reads := func(shell, script string) bool {
		cmd := exec.CommandContext(t.Context(), shell, "-n")
		cmd.Stdin = strings.NewReader(strings.ReplaceAll(script, "\r\n", "\n"))
		return cmd.Run() == nil
	}
	for _, c := range scriptCases {
		fault := Syntax(c.script)
		switch Language(c.script) {
		case "sh":
			dash, bash := reads("dash", c.script), reads("bash", c.script)
			if !dash && fault == nil {
				t.Errorf("%s: dash cannot read it, which is not reported", c.name)
			}
			if bash && fault != nil && !fault.Warning {
				t.Errorf("%s: bash reads it, and it is refused: %s", c.name, fault.Message)
			}
			if dash && fault != nil && !fault.Warning {
				t.Errorf("%s: dash reads it, and it is refused: %s", c.name, fault.Message)
			}
		case "bash":
			if got, want := fault == nil || fault.Warning, reads("bash", c.script); got != want {
				t.Errorf("%s: read %v, by bash %v", c.name, got, want)
			}
		}
	}
}
