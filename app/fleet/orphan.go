package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/volume"
)

// MachineStore keeps orphans, and what clusters have at providers.
type MachineStore interface {
	Accounts(ctx context.Context) ([]app.Account, error)
	// DecideOrphan keeps what a person said, and writes an audit row. ENotFound where the tenant ("" for all) has no such
	// orphan, EConflict where it is gone.
	DecideOrphan(ctx context.Context, tenant, id string, d OrphanDecision, who app.Actor, now time.Time) (Orphan, error)
	// OrphanMode returns what an admin has set; OrphansDelete where no one has.
	OrphanMode(ctx context.Context) (OrphanMode, error)
	// Orphans returns those of a tenant, or of all tenants where it is "", the oldest first; with gone also those that went
	// within the last thirty days.
	Orphans(ctx context.Context, tenant string, gone bool) ([]Orphan, error)
	// Proof returns At, How and CheckedAt of the proof of a cluster's end; the zero Proof where there is none.
	Proof(ctx context.Context, tenant, cluster string) (Proof, error)
	// Resources returns all that was ever made for a cluster, in the order in which it was made.
	Resources(ctx context.Context, tenant, cluster string) ([]CloudResource, error)
	SetOrphanMode(ctx context.Context, m OrphanMode, who app.Actor, now time.Time) error
	Volumes(ctx context.Context, tenant string, f volume.Filter) ([]volume.Volume, error)
}

// MachinesConfig is what Machines is created from. Only what says so may be nil.
type MachinesConfig struct {
	Store    MachineStore
	Now      func() time.Time
	Catalogs *catalog.Service
	Clusters *cluster.Finder
}

// Machines account for what was created at providers: in receipts of clusters, and as orphans.
type Machines struct {
	MachinesConfig
}

// NewMachines returns them on top of what c holds.
func NewMachines(c MachinesConfig) *Machines { return &Machines{MachinesConfig: c} }

// OrphanKind says why no cluster owns a machine that carries our installation's tag.
type OrphanKind string

// The kinds.
const (
	OrphanEnded     OrphanKind = "ended"     // its node was given back; it came up late, or its deletion did not last
	OrphanDuplicate OrphanKind = "duplicate" // another machine is its node's
	OrphanUnknown   OrphanKind = "unknown"   // the ledger has never heard of it: never deleted without a person
)

// OrphanMode says what the reconciler does about orphans.
type OrphanMode string

// The modes.
const (
	OrphansOff    OrphanMode = "off"    // accounts are not compared with the ledger
	OrphansReport OrphanMode = "report" // orphans are listed, and deleted only where a person says so
	OrphansDelete OrphanMode = "delete" // ended ones and duplicates are deleted on the second sighting
)

// OrphanState is what is to become of an orphan.
type OrphanState string

// The states.
const (
	OrphanReported OrphanState = "reported" // a person decides
	OrphanDue      OrphanState = "due"      // it is deleted at DeleteAt, or in the pass after that
	OrphanKept     OrphanState = "kept"     // a person said that it stays
	OrphanGone     OrphanState = "gone"     // it is not there any more
)

// Orphan is a machine of ours that no cluster owns. Tenant, Cluster and Node are what its tags say.
type Orphan struct {
	ID       string `json:"id"` // see OrphanID
	Provider string `json:"provider"`
	Machine  string `json:"machine"` // or the volume, the snapshot or the baked image
	// Resource says what it is: a machine, a volume, a snapshot of one, or a baked image.
	Resource  app.CloudResourceKind `json:"resource"`
	Hostname  string                `json:"hostname,omitempty"`
	Zone      string                `json:"zone,omitempty"`
	Tenant    string                `json:"tenant,omitempty"`
	Cluster   string                `json:"cluster,omitempty"`
	Node      string                `json:"node,omitempty"`
	Intent    string                `json:"-"`
	Kind      OrphanKind            `json:"kind"`
	State     OrphanState           `json:"state"`
	CreatedAt time.Time             `json:"created_at,omitzero"` // zero: not known; it is older than FirstSeen
	FirstSeen time.Time             `json:"first_seen"`
	LastSeen  time.Time             `json:"last_seen"`
	SeenCount int                   `json:"seen_count"`
	DeleteAt  time.Time             `json:"delete_at,omitzero"`
	DeletedAt time.Time             `json:"deleted_at,omitzero"`
	Price     float64               `json:"price_per_hour"`     // 0: not known
	Cost      float64               `json:"cost"`               // so far
	Currency  string                `json:"currency,omitempty"` // of the tenant, by ISO 4217
	// Decided is who said that it is to be deleted or kept; "" where no one did.
	Decided  string         `json:"decided,omitempty"`
	Decision OrphanDecision `json:"decision,omitempty"`
	Error    string         `json:"error,omitempty"` // why it could not be deleted the last time
}

// OrphanDecision is what a person said about an orphan.
type OrphanDecision string

// The decisions.
const (
	DecideNothing OrphanDecision = ""
	DecideDelete  OrphanDecision = "delete"
	DecideKeep    OrphanDecision = "keep"
)

// Since is from when on the machine is counted as costing.
func (o Orphan) Since() time.Time {
	if o.CreatedAt.IsZero() {
		return o.FirstSeen
	}
	return o.CreatedAt
}

// OrphanPolicy bounds what a pass over an account may delete by itself.
type OrphanPolicy struct {
	Mode   OrphanMode
	Settle time.Duration // a machine is deleted when it was first seen at least so long ago, and seen again
	Most   int           // in a pass
	Share  float64       // of the account's machines of ours, in a pass; one at least
}

// Judge says what is to become of an orphan.
func (p OrphanPolicy) Judge(o Orphan) (OrphanState, time.Time) {
	switch {
	case !o.DeletedAt.IsZero():
		return OrphanGone, time.Time{}
	case o.Decision == DecideKeep:
		return OrphanKept, time.Time{}
	case o.Decision == DecideDelete:
		return OrphanDue, o.LastSeen
	case p.Mode != OrphansDelete, o.Kind == OrphanUnknown:
		return OrphanReported, time.Time{}
	}
	return OrphanDue, o.FirstSeen.Add(p.Settle)
}

// Choose picks which of an account's orphans are deleted in this pass, the oldest sighting first, and how many more are
// due but were held back because they are too many at once: a person has to look. What a person has decided on is not
// counted against the bounds.
func (p OrphanPolicy) Choose(orphans []Orphan, machines int, now time.Time) (chosen []Orphan, heldBack int) {
	var ordered, due []Orphan
	for _, o := range orphans {
		state, at := p.Judge(o)
		switch {
		case state != OrphanDue || at.After(now):
		case o.Decision == DecideDelete:
			ordered = append(ordered, o)
		case o.SeenCount >= 2:
			due = append(due, o)
		}
	}
	slices.SortStableFunc(due, func(a, b Orphan) int { return cmp.Or(a.FirstSeen.Compare(b.FirstSeen), cmp.Compare(a.ID, b.ID)) })
	most := min(p.Most, max(1, int(math.Floor(p.Share*float64(machines)))))
	if len(due) > most {
		heldBack = len(due) - most
		due = due[:most]
	}
	return append(ordered, due...), heldBack
}

// ExpectedMachine is a machine that a cluster should have, as the ledger says.
type ExpectedMachine struct {
	ID      string
	Tenant  string
	Cluster string
	Status  app.ClusterStatus // of the cluster: active, failed or asleep
	Lost    bool              // the node's machine is known to be lost
	Marked  bool              // the cluster is known to have lost machines
	Leaves  bool              // it is known that the provider takes the machine away
}

// Interruption is a provider's announcement that it takes a node's machine away.
type Interruption = app.Interruption

// ComparedCluster is a cluster whose machines are compared with the provider's. Lost: it was marked as having lost machines (MarkLost), and nothing
// was done to it since.
type ComparedCluster struct {
	app.Cluster
	Nodes []app.Node
	Lost  bool
}

// Fill adds what follows from the rest.
func (o *Orphan) Fill(p OrphanPolicy, now time.Time) {
	o.State, o.DeleteAt = p.Judge(*o)
	end := now
	if !o.DeletedAt.IsZero() {
		end = o.DeletedAt
	}
	o.Cost = max(end.Sub(o.Since()), 0).Hours() * o.Price
}

// OrphanModes are all of them.
var OrphanModes = []OrphanMode{OrphansOff, OrphansReport, OrphansDelete}

// OrphanID names an orphan shortly, and so that it can stand in an address: 12 hex digits.
func OrphanID(provider, machine string) string {
	sum := sha256.Sum256([]byte(provider + "\x00" + machine))
	return hex.EncodeToString(sum[:6])
}

// DefaultOrphanPolicy is careful: an orphan costs little for another quarter of an hour, a mistake costs a machine.
var DefaultOrphanPolicy = OrphanPolicy{Mode: OrphansDelete, Settle: 5 * time.Minute, Most: 5, Share: 0.25}

// OrphanReport is all that an admin sees of orphans. Accounts and Mode are for admins of the installation.
type OrphanReport struct {
	Mode     OrphanMode    `json:"mode,omitempty"`
	Accounts []app.Account `json:"accounts,omitempty"`
	Orphans  []Orphan      `json:"orphans"`
	Cost     float64       `json:"cost"`               // so far, of those that exist; of several tenants at today's exchange rates
	Currency string        `json:"currency"`           // of the cost, by ISO 4217
	Unlisted int           `json:"unlisted,omitempty"` // accounts that could not be listed: there may be more orphans in them
}

// Orphans lists machines of ours that no cluster owns.
func (a *Machines) Orphans(ctx context.Context, actor app.Actor, gone bool) (OrphanReport, error) {
	tenant, err := actor.MayHandleOrphans("Orphans")
	if err != nil {
		return OrphanReport{}, err
	}
	var r OrphanReport
	mode, err := a.Store.OrphanMode(ctx)
	if err != nil {
		return r, err
	}
	if r.Orphans, err = a.Store.Orphans(ctx, tenant, gone); err != nil {
		return r, err
	}
	policy, now := DefaultOrphanPolicy, a.Now()
	policy.Mode = mode
	for i := range r.Orphans {
		o := &r.Orphans[i]
		o.Fill(policy, now)
		exchange, err := a.Catalogs.Exchange(ctx, o.Tenant)
		if err != nil {
			return r, err
		}
		o.Currency = exchange.Currency
		if o.State != OrphanGone {
			rate := 1.0
			if tenant == "" {
				rate = exchange.Rate
			}
			r.Cost += o.Cost / rate
		}
	}
	accounts, err := a.Store.Accounts(ctx)
	if err != nil {
		return r, err
	}
	for _, account := range accounts {
		if account.Unlisted() {
			r.Unlisted++
		}
	}
	if actor.Operates() {
		r.Mode, r.Accounts = mode, accounts
	}
	r.Currency, err = a.Catalogs.CurrencyOf(ctx, tenant)
	if err != nil {
		return r, err
	}
	return r, nil
}

// DecideOrphan says what is to become of an orphan. The reconciler deletes it in its next pass, which begins at once where
// it can.
func (a *Machines) DecideOrphan(ctx context.Context, actor app.Actor, id string, d OrphanDecision) (Orphan, error) {
	tenant, err := actor.MayHandleOrphans("DecideOrphan")
	if err != nil {
		return Orphan{}, err
	}
	if d != DecideDelete && d != DecideKeep {
		return Orphan{}, &app.Error{Code: app.EInvalid, Field: "decision", Message: fmt.Sprintf("Invalid decision %q for an orphaned machine.", d),
			Hint: `Use "delete" or "keep".`}
	}
	o, err := a.Store.DecideOrphan(ctx, tenant, id, d, actor, a.Now())
	if err != nil {
		return Orphan{}, err
	}
	mode, err := a.Store.OrphanMode(ctx)
	policy := DefaultOrphanPolicy
	policy.Mode = mode
	o.Fill(policy, a.Now())
	return o, err
}

// SetOrphanMode says what the reconciler does by itself.
func (a *Machines) SetOrphanMode(ctx context.Context, actor app.Actor, m OrphanMode) error {
	if err := actor.Authorize("SetOrphanMode"); err != nil {
		return err
	}
	if !slices.Contains(OrphanModes, m) {
		return &app.Error{Code: app.EInvalid, Field: "mode", Message: fmt.Sprintf("Unknown mode %q.", m), Hint: "Use off, report or delete."}
	}
	return a.Store.SetOrphanMode(ctx, m, actor, a.Now())
}
