package app

import "fmt"

// NoGoOn refuses to go on.
func NoGoOn(hint, format string, args ...any) error {
	return &Error{Code: EConflict, Reason: "no_go_on", Message: fmt.Sprintf(format, args...), Hint: hint}
}
