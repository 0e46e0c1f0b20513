package app

import (
	"fmt"
	"time"
)

// Interruption is a provider's announcement that it takes a node's machine away.
type Interruption struct {
	Node    string    `json:"node"`
	Machine string    `json:"machine"`
	At      time.Time `json:"at,omitzero"` // zero: it came to nothing
}

// Words say for people when that is, or was.
func (i Interruption) Words(now time.Time) string {
	if i.At.IsZero() {
		return i.Node + "'s machine was not interrupted."
	}
	will := "will be"
	if !i.At.After(now) {
		will = "was"
	}
	return fmt.Sprintf("%s's machine %s interrupted at %s.", i.Node, will, i.At.UTC().Format("15:04 UTC"))
}
