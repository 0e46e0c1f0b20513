package app

import (
	"context"
	"time"
)

// ResourceKind says what was made at a provider.
type ResourceKind string

// Resource is something that was made at a provider for an intent, from when it was made until a list proved it gone.
type Resource struct {
	Provider string       `json:"provider"` // the account, by its name in the catalog
	Kind     ResourceKind `json:"kind"`
	ID       string       `json:"id"` // the provider's own
	Tenant   string       `json:"-"`
	Cluster  string       `json:"-"`
	Node     string       `json:"node"`
	Intent   string       `json:"intent"`
	Zone     string       `json:"zone,omitempty"`
	Price    float64      `json:"price_per_hour"` // when it was made, in the account's currency; 0 where unknown
	MadeAt   time.Time    `json:"made_at"`
	GoneAt   time.Time    `json:"gone_at,omitzero"` // zero while it stands, or may
}

// Seen is a resource as a worker or the reconciler came across it. Price is that of the node's hardware.
type Seen struct {
	Kind   ResourceKind `json:"kind"`
	ID     string       `json:"id"`
	Zone   string       `json:"zone,omitempty"`
	Price  float64      `json:"price,omitempty"`
	MadeAt time.Time    `json:"made_at,omitzero"` // zero: now
	Gone   bool         `json:"gone,omitempty"`   // it was deleted, and a list proved it
}

// ProofState says how far the proof is that nothing of a deleted cluster is left.
type ProofState string

// States of a proof.
const (
	ProofPending ProofState = "pending" // the account wasn't checked since the cluster was deleted
	ProofProven  ProofState = "proven"
	ProofFailed  ProofState = "failed" // the last check couldn't prove it; the account is checked again
)

// ProofGap is how long after a check that failed an account is checked again.
const ProofGap = 30 * time.Second

// Proof tells that nothing carrying a cluster's tag is left at its provider. At is zero while that is not proven.
type Proof struct {
	State ProofState `json:"state,omitempty"`
	At    time.Time  `json:"at,omitzero"`
	// How says in a sentence what was asked and what the answer was; before the proof, why there is none yet.
	How       string    `json:"how,omitempty"`
	CheckedAt time.Time `json:"checked_at,omitzero"`
	NextAt    time.Time `json:"next_check_at,omitzero"`
}

// Of works out where the proof of a cluster is.
func (p Proof) Of(c Cluster) Proof {
	switch {
	case c.DeletedAt.IsZero():
		return Proof{}
	case !p.At.IsZero():
		p.State = ProofProven
	case p.CheckedAt.IsZero():
		p.State, p.NextAt = ProofPending, c.DeletedAt.Add(ProofGap) // a check for another cluster may have just failed
	default:
		p.State, p.NextAt = ProofFailed, p.CheckedAt.Add(ProofGap)
	}
	return p
}

// ReceiptStore keeps what was made at providers.
type ReceiptStore interface {
	// Resources gives all that was ever made for a cluster, in the order in which it was made.
	Resources(ctx context.Context, tenant, cluster string) ([]Resource, error)
	// LastNode gives the greatest number that a node of the cluster ever had, those that are gone included; 0 for none.
	LastNode(ctx context.Context, tenant, cluster string) (int, error)
	// NoteResources writes down what was come across for an intent, and ends what is gone. What is known already keeps the
	// time at which it was made.
	NoteResources(ctx context.Context, provider, intent string, at time.Time, seen []Seen) error
	// Proof returns At, How and CheckedAt of the proof of a cluster's end; the zero Proof where there is none.
	Proof(ctx context.Context, tenant, cluster string) (Proof, error)
	// Unproven gives deleted clusters whose end is not proven yet, of all tenants, those asked for least recently first.
	Unproven(ctx context.Context, limit int) ([]Cluster, error)
	// SetProof keeps a proof, or why there is none yet.
	SetProof(ctx context.Context, tenant, cluster string, p Proof, asked time.Time) error
}
