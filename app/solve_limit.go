package app

import "fmt"

// MaxNodes is the most nodes that a cluster can have. Solving and planning take memory by the node, so larger sizes are refused before anything is
// worked out.
const MaxNodes = 10_000

// CheckSize refuses a size that no cluster can have, with EInvalid; 0 is for the template to say.
func CheckSize(size int) error {
	if size >= 0 && size <= MaxNodes {
		return nil
	}
	return &Error{Code: EInvalid, Reason: "size", Field: "size", Message: fmt.Sprintf("A cluster has 1 to %d nodes, not %d.", MaxNodes, size), Hint: "Ask for fewer nodes, or for several clusters."}
}
