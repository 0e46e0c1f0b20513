package program

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"muster/app"
)

// Pins say what an installation decided about programs, by the name of the file: the SHA-256 that it must have, in hex, or Removed. Programs
// that aren't in it are used as they are.
type Pins map[string]string

// Removed is the pin of a program that isn't run any more.
const Removed = "removed"

// Reasons of the errors for programs that a pin refuses.
const (
	ReasonRemoved = "plugin_removed"
	ReasonChanged = "plugin_changed"
)

// pinned are the pins of this process. The channel is closed when they change.
var pinned = struct {
	sync.Mutex
	pins    Pins
	changed chan struct{}
}{changed: make(chan struct{})}

// SetPins says what holds in this process from now on. Running processes of a program that was removed end at once; where the pin is another one, they
// aren't used for anything new.
func SetPins(p Pins) {
	pinned.Lock()
	defer pinned.Unlock()
	if maps.Equal(p, pinned.pins) {
		return
	}
	pinned.pins = maps.Clone(p)
	close(pinned.changed)
	pinned.changed = make(chan struct{})
}

// CurrentPins returns those of this process; an empty map for none.
func CurrentPins() Pins {
	pinned.Lock()
	defer pinned.Unlock()
	if pinned.pins == nil {
		return Pins{}
	}
	return maps.Clone(pinned.pins)
}

// pinOf returns the pin of a file, and what is closed when pins change.
func pinOf(path string) (pin string, changed <-chan struct{}) {
	pinned.Lock()
	defer pinned.Unlock()
	return pinned.pins[filepath.Base(path)], pinned.changed
}

// IsRefused reports whether an error is about a program that a pin refuses: no crash, and nothing that time changes.
func IsRefused(err error) bool {
	reason := app.AsError(err).Reason
	return reason == ReasonRemoved || reason == ReasonChanged
}

// CheckRemoved refuses a program that was removed, by its file or the name of it. Errors are EForbidden with the reason ReasonRemoved.
func CheckRemoved(path string) error {
	if pin, _ := pinOf(path); pin != Removed {
		return nil
	}
	name := filepath.Base(path)
	return &app.Error{Code: app.EForbidden, Reason: ReasonRemoved, Message: "the plugin " + name + " was removed by a superadmin",
		Hint: registerHint(name)}
}

// checkPin refuses a program that was removed, or whose file isn't the one that was registered.
func checkPin(path string) error {
	if err := CheckRemoved(path); err != nil {
		return err
	}
	pin, _ := pinOf(path)
	if pin == "" {
		return nil
	}
	found, err := Sum(path)
	if err != nil || found == pin {
		return err
	}
	name := filepath.Base(path)
	return &app.Error{Code: app.EForbidden, Reason: ReasonChanged, Hint: registerHint(name), Message: fmt.Sprintf(
		"the file of the plugin %s has changed: its SHA-256 begins with %s, but %s was registered", name, Short(found), Short(pin))}
}

func registerHint(name string) string {
	return "If it can be trusted, a superadmin can register it again: muster plugin register " + name
}

// Short is the beginning of a sum, for people.
func Short(sum string) string { return sum[:min(len(sum), 12)] }

// Sum returns the SHA-256 of a file, in hex.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", app.Errorf(app.EInvalid, "can't read the file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", app.Errorf(app.EInvalid, "can't read the file: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
