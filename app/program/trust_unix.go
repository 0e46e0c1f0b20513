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
		return app.Errorf(app.EInvalid, "%s cannot be looked at: %w", place, err)
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return app.Errorf(app.EInvalid, "of %s nobody can tell who may write it", place)
	}
	e := &app.Error{Code: app.EForbidden, Reason: "untrusted"}
	switch {
	case s.Uid != 0 && int(s.Uid) != os.Geteuid():
		e.Message = place + " belongs to another user, who could put anything in its place"
		e.Hint = "It must belong to root, or to the user that Muster runs as."
	case info.Mode().Perm()&0o022 != 0:
		e.Message = place + " can be written by others than its owner"
		e.Hint = "`chmod go-w " + place + "` ends that. See first that nobody has changed it."
	default:
		return nil
	}
	return e
}
