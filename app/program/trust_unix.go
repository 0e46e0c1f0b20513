//go:build unix

package program

import (
	"os"
	"syscall"

	"muster/app"
)

// trusted refuses a file or directory that others than root and Muster's own user may write.
func trusted(place string) error {
	info, err := os.Stat(place)
	if err != nil {
		return app.Errorf(app.EInvalid, "can't read %s: %w", place, err)
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return app.Errorf(app.EInvalid, "can't check who can write to %s", place)
	}
	e := &app.Error{Code: app.EForbidden, Reason: "untrusted"}
	switch {
	case s.Uid != 0 && int(s.Uid) != os.Geteuid():
		e.Message = place + " belongs to another user, who could replace it"
		e.Hint = "Change its owner to root, or to the user that Muster runs as."
	case info.Mode().Perm()&0o022 != 0:
		e.Message = place + " is writable by users other than its owner"
		e.Hint = "Run `chmod go-w " + place + "`, after checking that no one has changed it."
	default:
		return nil
	}
	return e
}
