package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
)

// plug writes a plugin's program, and forgets all pins when the test ends.
func plug(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "muster-provider-lab")
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { SetPins(nil) })
	return path
}

func TestPinsRefuseChangedAndRemovedPrograms(t *testing.T) {
	const prefix = "muster-provider-"
	path := plug(t, "#!/bin/sh\ncat\n")
	sum, err := Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	SetPins(Pins{"muster-provider-other": Removed})
	if err := Vet(path, prefix); err != nil {
		t.Errorf("without a pin: %v", err)
	}
	SetPins(Pins{"muster-provider-lab": sum})
	if err := Vet(path, prefix); err != nil {
		t.Errorf("registered: %v", err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := app.AsError(Vet(path, prefix))
	if e.Code != app.EForbidden || e.Reason != ReasonChanged || !strings.Contains(e.Message, Short(sum)) || !strings.Contains(e.Hint, "muster plugin register muster-provider-lab") {
		t.Errorf("changed: %+v", e)
	}
	SetPins(Pins{"muster-provider-lab": Removed})
	if e := app.AsError(Vet(path, prefix)); e.Code != app.EForbidden || e.Reason != ReasonRemoved || !IsRefused(e) {
		t.Errorf("removed: %+v", e)
	}
}

// alive starts a program that runs until it's ended.
func alive(t *testing.T) (*Process, error) {
	t.Helper()
	return Start(plug(t, "#!/bin/sh\nexec cat\n"), nil, Times{Write: time.Second, EOF: time.Minute, Term: time.Minute}, func(*Process) Handler {
		return Handler{Line: func([]byte) error { return nil }, Over: func(error) {}, Log: func(string) {}}
	})
}

func TestProcessesEndWhenTheirProgramIsRemoved(t *testing.T) {
	p, err := alive(t)
	if err != nil {
		t.Fatal(err)
	}
	SetPins(Pins{"muster-provider-other": Removed})
	select {
	case <-p.Ended():
		t.Fatal("it ended because of another program")
	default:
	}
	if SetPins(Pins{"muster-provider-lab": strings.Repeat("0", 64)}); !p.Outdated() {
		t.Error("it's used on under another pin")
	}
	SetPins(Pins{"muster-provider-lab": Removed})
	<-p.Ended()
	if !p.Outdated() {
		t.Error("it's used on")
	}
}

// A program that was removed between its check and its start doesn't run.
func TestRemovedProgramsDontStart(t *testing.T) {
	for _, pin := range []string{Removed, strings.Repeat("0", 64)} {
		SetPins(Pins{"muster-provider-lab": pin})
		if p, err := alive(t); !IsRefused(err) {
			t.Errorf("pinned to %s, it starts: %v, %v", pin, p, err)
		}
	}
}
