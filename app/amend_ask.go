package app

import "fmt"

// RefusedBy is what is told of a policy's no.
func RefusedBy(d Decision, request int64) error {
	return &Error{Code: EForbidden, Reason: "policy", Message: d.Reason,
		Hint: fmt.Sprintf("That is what the policy %s says. Request %d keeps what was asked for.", d.Policy, request)}
}

// Moves tells whether a node is made, goes, or has other services afterwards. Where services were left undone, they are among those
// that it had.
func (n AmendedNode) Moves() bool {
	return n.Change == NodeNew || n.Change == NodeGone || len(n.Added)+len(n.Removed) > 0
}
