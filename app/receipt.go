package app

import "time"

// CloudResourceKind says what was made at a provider.
type CloudResourceKind string

// Seen is a resource as a worker or the reconciler came across it. Price is that of the node's hardware.
type Seen struct {
	Kind   CloudResourceKind `json:"kind"`
	ID     string            `json:"id"`
	Zone   string            `json:"zone,omitempty"`
	Price  float64           `json:"price,omitempty"`
	MadeAt time.Time         `json:"made_at,omitzero"` // zero: now
	Gone   bool              `json:"gone,omitempty"`   // it was deleted, and a list proved it
}
