package app

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// ResourceKind says what was made at a provider.
type ResourceKind string

// ResourceMachine is a machine. Members that make more (disks, addresses) get kinds of their own.
const ResourceMachine ResourceKind = "machine"

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

// SeenMachine is a machine come across.
func SeenMachine(m Machine, price float64) Seen {
	return Seen{Kind: ResourceMachine, ID: m.ID, Zone: m.Zone, Price: price, MadeAt: m.MadeAt}
}

// Proof tells that nothing carrying a cluster's tag is left at its provider. At is zero while that is not proven.
type Proof struct {
	At time.Time `json:"at,omitzero"`
	// How says in a sentence what was asked and what the answer was; before the proof, why there is none yet.
	How string `json:"how,omitempty"`
}

// Receipt is what a cluster has had at its provider, and what that cost. Of a cluster that is gone it is final once Proof
// has a time.
type Receipt struct {
	Cluster   string        `json:"cluster"`
	Name      string        `json:"name"`
	Owner     string        `json:"owner"`
	Provider  string        `json:"provider"`
	Status    ClusterStatus `json:"status"`
	CreatedAt time.Time     `json:"created_at"`
	DeletedAt time.Time     `json:"deleted_at,omitzero"`
	AsOf      time.Time     `json:"as_of"` // what still stands is counted until here
	Lines     []ReceiptLine `json:"resources"`
	Left      int           `json:"left"` // resources that are not proven to be gone
	Lifetime  time.Duration `json:"lifetime"`
	Cost      float64       `json:"cost"`
	Unpriced  int           `json:"unpriced,omitempty"` // resources whose price is not known, counted as free
	Proof     Proof         `json:"proof"`
}

// ReceiptLine is one resource of a receipt.
type ReceiptLine struct {
	Resource
	Lifetime time.Duration `json:"lifetime"`
	Cost     float64       `json:"cost"`
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
	// Proof gives the proof of a cluster's end; the zero Proof where there is none.
	Proof(ctx context.Context, tenant, cluster string) (Proof, error)
	// Unproven gives deleted clusters whose end is not proven yet, of all tenants, those asked for least recently first.
	Unproven(ctx context.Context, limit int) ([]Cluster, error)
	// SetProof keeps a proof, or why there is none yet.
	SetProof(ctx context.Context, tenant, cluster string, p Proof, asked time.Time) error
}

// Receipt gives what the cluster has had at its provider, and what that cost.
func (a *App) Receipt(ctx context.Context, actor Actor, cluster string) (Receipt, error) {
	c, err := a.look(ctx, actor, "Receipt", cluster)
	if err != nil {
		return Receipt{}, err
	}
	all, err := a.Store.Resources(ctx, actor.Tenant, c.ID)
	if err != nil {
		return Receipt{}, err
	}
	proof, err := a.Store.Proof(ctx, actor.Tenant, c.ID)
	if err != nil {
		return Receipt{}, err
	}
	r := NewReceipt(c, all, a.Now())
	r.Proof = proof
	return r, nil
}

// NewReceipt adds up what was made for a cluster.
func NewReceipt(c Cluster, all []Resource, now time.Time) Receipt {
	r := Receipt{Cluster: c.ID, Name: c.Name, Owner: c.Owner, Provider: c.Provider, Status: c.Status, CreatedAt: c.CreatedAt,
		DeletedAt: c.DeletedAt, AsOf: now, Lines: []ReceiptLine{}}
	for _, x := range all {
		end := x.GoneAt
		if end.IsZero() {
			end = now
			r.Left++
		}
		l := ReceiptLine{Resource: x, Lifetime: max(end.Sub(x.MadeAt), 0)}
		l.Cost = l.Lifetime.Hours() * x.Price
		if x.Price == 0 {
			r.Unpriced++
		}
		r.Lines = append(r.Lines, l)
		r.Lifetime += l.Lifetime
		r.Cost += l.Cost
	}
	slices.SortStableFunc(r.Lines, func(x, y ReceiptLine) int {
		return cmp.Or(cmp.Compare(NodeNumber(x.Node), NodeNumber(y.Node)), x.MadeAt.Compare(y.MadeAt), cmp.Compare(x.ID, y.ID))
	})
	return r
}
