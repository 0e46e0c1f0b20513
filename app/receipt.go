package app

import "time"

// CloudResourceKind says what was made at a provider.
type CloudResourceKind string

// Seen is a resource as a worker or the reconciler came across it. Price is that of the node's hardware.
type Seen struct {
	Kind      CloudResourceKind `json:"kind"`
	ID        string            `json:"id"`
	Zone      string            `json:"zone,omitempty"`
	Price     float64           `json:"price,omitempty"`
	CreatedAt time.Time         `json:"created_at,omitzero"` // zero: now
	Deleted   bool              `json:"deleted,omitempty"`   // it was deleted, and a list proved it
}
