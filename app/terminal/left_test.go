package terminal_test

import (
	"os/exec"
	"strings"
	"testing"

	"muster/app/terminal"
)

// Only sessions are ended that no one is in, was in, typed into or that showed anything for an hour.
func TestSessionsThatWereLeftEnd(t *testing.T) {
	script := `date() { echo 10000; }
tmux() {
	case "$*" in
	*list-sessions*) printf '%s\n' '0 6000 6000 6000 muster-left' '0 6000 0 0 muster-never' '1 6000 6000 6000 muster-attached' '0 9000 6000 6000 muster-typed' ` +
		`'0 6000 9000 6000 muster-came' '0 6000 6000 9000 muster-shows' '0 7000 7000 7000 muster-new' ;;
	*) echo "$*" ;;
	esac
}
`
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script+terminal.OnNode("n1", terminal.ForgetLeft+"exit 0")).CombinedOutput()
	want := "-L P kill-session -t =muster-left\n-L P kill-session -t =muster-never"
	place := strings.TrimPrefix(strings.TrimSuffix(terminal.OnNode("n1", ""), "; "), "place=")
	if place == "" || terminal.OnNode("n2", "") == terminal.OnNode("n1", "") {
		t.Errorf("nodes share a tmux server: %q", place)
	}
	out = []byte(strings.ReplaceAll(string(out), place, "P"))
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v", out, err)
	}
}
