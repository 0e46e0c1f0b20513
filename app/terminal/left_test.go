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
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script+terminal.ForgetLeft+"exit 0").CombinedOutput()
	want := "-L muster kill-session -t =muster-left\n-L muster kill-session -t =muster-never"
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v", out, err)
	}
}
