package app

import (
	"fmt"
	"slices"

	"muster/app/humanize"
)

// failureChoices are those that people can make.
var failureChoices = []FailureChoice{FailureRollBack, FailureAcceptPartial, FailureAcceptPartialOrRollBack, FailureStay}

// FailureChoices are the choices that people can make; none of them is as good as what the template says.
func FailureChoices() []FailureChoice { return slices.Clone(failureChoices) }

// Check refuses a choice that there is not.
func (c FailureChoice) Check() error {
	if c == FailureLeave {
		return nil
	}
	words := make([]string, len(failureChoices))
	for i, known := range failureChoices {
		if c == known {
			return nil
		}
		words[i] = string(known)
	}
	return &Error{Code: EInvalid, Field: "on_failure", Message: fmt.Sprintf("Unknown choice %.40q.", string(c)),
		Hint: "Use " + humanize.Or(words) + ", or omit it to use the template's setting."}
}

// GoesOn reports whether it is gone on with the machines that came.
func (c FailureChoice) GoesOn() bool {
	return c == FailureAcceptPartial || c == FailureAcceptPartialOrRollBack
}
