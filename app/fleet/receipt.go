package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/volume"
)

// CloudResource is something that was made at a provider for an intent, from when it was made until a list proved it gone.
type CloudResource struct {
	Provider  string                `json:"provider"` // the account, by its name in the catalog
	Kind      app.CloudResourceKind `json:"kind"`
	ID        string                `json:"id"` // the provider's own
	Tenant    string                `json:"-"`
	Cluster   string                `json:"-"`
	Node      string                `json:"node"`
	Intent    string                `json:"intent"`
	Zone      string                `json:"zone,omitempty"`
	Price     float64               `json:"price_per_hour"` // when it was created, in the tenant's currency; 0 where unknown
	CreatedAt time.Time             `json:"created_at"`
	DeletedAt time.Time             `json:"deleted_at,omitzero"` // zero while it exists, or may
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
func (p Proof) Of(c app.Cluster) Proof {
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

// ResourceMachine is a machine. Members that make more (disks, addresses) get kinds of their own.
const ResourceMachine app.CloudResourceKind = "machine"

// ResourceVolume is a volume.
const ResourceVolume app.CloudResourceKind = "volume"

// ResourceSnapshot is a snapshot of a volume.
const ResourceSnapshot app.CloudResourceKind = "snapshot"

// ResourceImage is a baked image.
const ResourceImage app.CloudResourceKind = "image"

// SeenMachine is a machine come across.
func SeenMachine(m family.Machine, price float64) app.Seen {
	return app.Seen{Kind: ResourceMachine, ID: m.ID, Zone: m.Zone, Price: price, CreatedAt: m.CreatedAt}
}

// Receipt is what a cluster has had at its provider, and what that cost. Of a cluster that is gone it is final once Proof
// has a time.
type Receipt struct {
	Cluster   string            `json:"cluster"`
	Name      string            `json:"name"`
	Owner     string            `json:"owner"`
	Provider  string            `json:"provider"`
	Status    app.ClusterStatus `json:"status"`
	CreatedAt time.Time         `json:"created_at"`
	DeletedAt time.Time         `json:"deleted_at,omitzero"`
	AsOf      time.Time         `json:"as_of"` // what still exists is counted until here
	Lines     []ReceiptLine     `json:"resources"`
	Remaining int               `json:"remaining"`      // resources that are not proven to be gone
	Kept      int               `json:"kept,omitempty"` // machines that were kept for inspection, in clusters of their own
	Lifetime  time.Duration     `json:"lifetime"`
	Cost      float64           `json:"cost"`
	Currency  string            `json:"currency"`           // by ISO 4217
	Unpriced  int               `json:"unpriced,omitempty"` // resources whose price is not known, counted as free
	Proof     Proof             `json:"proof"`
	// Volumes are those that the cluster has, or had: what happened to each, and the proof where it was deleted.
	Volumes []volume.Volume `json:"volumes,omitempty"`
}

// VolumeWords says of each volume what happened to it.
func (r Receipt) VolumeWords() (words []string) {
	for _, v := range r.Volumes {
		what := fmt.Sprintf("Volume %s (%s of %s, %d GB) is %s", v.ID, v.Name, v.Node, v.SizeGB, v.State)
		switch {
		case v.Cluster != "" && v.Cluster != r.Cluster:
			what = fmt.Sprintf("Volume %s (%s, %d GB) was kept, and cluster %s has it", v.ID, v.Name, v.SizeGB, v.Cluster)
		case v.State == volume.StateDeleted && v.Proof != "":
			what += ": " + strings.TrimRight(v.Proof, ".")
		case v.State == volume.StateKept && !v.ExpiresAt.IsZero():
			what += " until " + v.ExpiresAt.UTC().Format(time.DateOnly)
		}
		words = append(words, what+".")
	}
	return words
}

// Unproven tells that the cluster is deleted and that it isn't proven yet that nothing is left.
func (r Receipt) Unproven() bool { return !r.DeletedAt.IsZero() && r.Proof.At.IsZero() }

// ProofWords says how far the proof is; nothing while the cluster isn't deleted.
func (r Receipt) ProofWords() string {
	p := r.Proof
	next := "as soon as a server is available"
	if p.NextAt.After(r.AsOf) {
		next = "by " + p.NextAt.UTC().Format(time.TimeOnly) + " UTC"
	}
	switch p.State {
	case ProofProven:
		return fmt.Sprintf("Proven %s UTC: %s", p.At.UTC().Format(time.DateTime), p.How)
	case ProofPending:
		return fmt.Sprintf("Proof pending: provider %s will be checked for remaining machines %s.", r.Provider, next)
	case ProofFailed:
		return fmt.Sprintf("Proof pending: %s. Last checked %s UTC; next check %s.", strings.TrimRight(p.How, ". "), p.CheckedAt.UTC().Format(time.DateTime), next)
	}
	return ""
}

// ReceiptLine is one resource of a receipt.
type ReceiptLine struct {
	CloudResource
	Lifetime time.Duration `json:"lifetime"`
	Cost     float64       `json:"cost"`
	Kept     bool          `json:"kept,omitempty"` // since DeletedAt it's kept for inspection, on a receipt of its own
}

// KeptSuffix ends the intent of a line whose machine is kept under the intent itself.
const KeptSuffix = "/kept"

// KeptWords say that machines of the cluster are kept; "" where none is.
func (r Receipt) KeptWords() string {
	if r.Kept == 0 {
		return ""
	}
	return humanize.CountOf(r.Kept, "machine was", "machines were") + " kept for inspection, each with a receipt of its own: muster cluster kept."
}

// Receipt returns what the cluster has had at its provider, and what that cost.
func (a *Machines) Receipt(ctx context.Context, actor app.Actor, cluster string) (Receipt, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Receipt", cluster)
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
	r := NewReceipt(c, all, proof, a.Now())
	if r.Volumes, err = a.Store.Volumes(ctx, actor.Tenant, volume.Filter{Cluster: c.ID, Gone: true}); err != nil {
		return Receipt{}, err
	}
	r.Currency, err = a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	return r, err
}

// NewReceipt adds up what was made for a cluster.
func NewReceipt(c app.Cluster, all []CloudResource, p Proof, now time.Time) Receipt {
	r := Receipt{Cluster: c.ID, Name: c.Name, Owner: c.Owner, Provider: c.Provider, Status: c.Status, CreatedAt: c.CreatedAt,
		DeletedAt: c.DeletedAt, AsOf: now, Lines: []ReceiptLine{}, Proof: p.Of(c)}
	for _, x := range all {
		end := x.DeletedAt
		if end.IsZero() {
			end = now
			r.Remaining++
		}
		l := ReceiptLine{CloudResource: x, Lifetime: max(end.Sub(x.CreatedAt), 0), Kept: strings.HasSuffix(x.Intent, KeptSuffix)}
		if l.Kept {
			r.Kept++
		}
		l.Cost = l.Lifetime.Hours() * x.Price
		if x.Price == 0 {
			r.Unpriced++
		}
		r.Lines = append(r.Lines, l)
		r.Lifetime += l.Lifetime
		r.Cost += l.Cost
	}
	slices.SortStableFunc(r.Lines, func(x, y ReceiptLine) int {
		return cmp.Or(cmp.Compare(app.NodeNumber(x.Node), app.NodeNumber(y.Node)), x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	return r
}
