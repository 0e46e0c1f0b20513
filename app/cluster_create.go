package app

import (
	"fmt"
	"slices"
)

// CheckOwners refuses a visibility that does not exist, and a group that the one who asks does not belong to.
func (r ClusterRequest) CheckOwners(actor Actor) error {
	if r.Visibility != "" {
		if err := r.Visibility.Check(); err != nil {
			return err
		}
	}
	if r.Group == "" || slices.Contains(actor.Groups, r.Group) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "group", Message: fmt.Sprintf("You are not in the group %.70q.", r.Group), Hint: "A cluster can belong to a group of yours."}
}
