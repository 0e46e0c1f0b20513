//go:build linux

package sandbox

import (
	"os"
	"testing"
	"time"

	"muster/app/family"
)

func TestAnInterruptionIsAnnouncedAndThenComes(t *testing.T) {
	p := open(t, dataDir(t), ModeProcess)
	m, _ := create(t, p, "spot")
	defer remove(t, p, m)
	listed := func() family.Machine {
		t.Helper()
		all, err := p.List(t.Context(), nil)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(p.files.file(m.ID, interruptFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"", "soon\n"} {
		write(text)
		if got := listed(); !got.LeavesAt.IsZero() || got.State != family.MachineRunning {
			t.Errorf("%q: %+v", text, got)
		}
	}
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	write(at.Format(time.RFC3339) + "\n")
	if got := listed(); !got.LeavesAt.Equal(at) || got.State != family.MachineRunning {
		t.Errorf("announced: %+v", got)
	}
	write("2026-01-02T03:04:05Z")
	for range 2 {
		if got := listed(); got.State != family.MachineStopped || !got.LeavesAt.IsZero() {
			t.Errorf("its time has come: %+v", got)
		}
	}
}
