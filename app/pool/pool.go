package pool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
)

// Mode says what happens to a pool.
type Mode string

// The modes of a pool.
const (
	ModeOn      Mode = "on"      // it is refilled, and hands out
	ModeOff     Mode = "off"     // nothing is made; what is there is handed out, and given back when it is too old
	ModeDrained Mode = "drained" // all is given back, and nothing is made
	ModeDeleted Mode = "deleted" // all is given back; then it is gone
)

// State is the state of a machine of a pool.
type State string

// The states of a machine of a pool.
const (
	StateCreating State = "making"   // it is asked for, or on its way
	StateReady    State = "ready"    // it runs, has proved who it is, and is what services may assume
	StateReserved State = "promised" // a node of a cluster gets it as soon as its first step begins
	StateAssigned State = "handed"   // it is a cluster's
	StateFailed   State = "failed"   // it could not be made, or was lost; what may be left of it is given back
	StateDeleting State = "leaving"  // it is being given back
	StateGone     State = "gone"     // its provider has nothing of it any more
)

// Pool are machines that are made ahead of time for a tenant, handed out at once, and refilled.
type Pool struct {
	ID        int64         `json:"-"`
	Tenant    string        `json:"-"`
	Name      string        `json:"name"`
	Hardware  string        `json:"hardware"`
	Image     string        `json:"image"`
	Provider  string        `json:"provider"`
	Zone      string        `json:"zone,omitempty"` // "" leaves it to the provider
	Count     int           `json:"count"`          // how many machines are to be ready
	MaxAge    time.Duration `json:"max_age"`        // after which a machine is replaced
	Mode      Mode          `json:"mode"`
	CreatedBy string        `json:"created_by"`
	CreatedAt time.Time     `json:"created_at"`
	Error     string        `json:"error,omitempty"` // why it is not full
	ErrorAt   time.Time     `json:"error_at,omitzero"`
	RetryAt   time.Time     `json:"retry_at,omitzero"` // when it is tried again
	EndedAt   time.Time     `json:"-"`                 // when it was deleted and had no machine any more

	Version  int64     `json:"-"` // grows with all that happens to it
	Failures int       `json:"-"` // in a row
	Notified bool      `json:"-"` // of the trouble
	DueAt    time.Time `json:"-"`
}

// Machine is a machine of a pool. Cluster is the id of the one-node cluster that it is in.
type Machine struct {
	Cluster    string    `json:"cluster"`
	State      State     `json:"state"`
	Since      time.Time `json:"since"` // when it was ready, or asked for where it is not, or handed out or gone
	MachineID  string    `json:"machine_id,omitempty"`
	Zone       string    `json:"zone,omitempty"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
	ForCluster string    `json:"for_cluster,omitempty"` // that it is promised, or was handed out to
	ForNode    string    `json:"for_node,omitempty"`
	Message    string    `json:"message,omitempty"` // why it failed
	Shape      string    `json:"-"`
	Price      float64   `json:"price_per_hour"`
}

// View is a pool with its machines, the oldest first; those that are handed out or gone are only counted.
type View struct {
	Pool
	Ready          int       `json:"ready"`
	Creating       int       `json:"creating"`
	Reserved       int       `json:"reserved"`
	Failed         int       `json:"failed"`
	Deleting       int       `json:"deleting"`
	HandedOutToday int       `json:"handed_out_today"` // since midnight, UTC
	HandedOut      int       `json:"handed_out"`
	CostPerHour    float64   `json:"cost_per_hour"`         // of the machines that exist
	Currency       string    `json:"currency"`              // by ISO 4217
	WaitedSince    time.Time `json:"waited_since,omitzero"` // since when the machine that is ready longest has waited
	Machines       []Machine `json:"machines,omitempty"`
	// Recent are the clusters to which machines were handed out last, newest first; in a single view only.
	Recent []Machine `json:"recent,omitempty"`
}

// Receipt is what a pool has had at its provider, until it was handed out or given back.
type Receipt struct {
	Pool      string        `json:"pool"`
	Provider  string        `json:"provider"`
	CreatedAt time.Time     `json:"created_at"`
	DeletedAt time.Time     `json:"deleted_at,omitzero"` // when nothing was left of it
	AsOf      time.Time     `json:"as_of"`
	Machines  int           `json:"machines"` // ever made
	HandedOut int           `json:"handed_out"`
	Deleted   int           `json:"deleted"`   // proven to be gone
	Remaining int           `json:"remaining"` // of the pool, and not proven to be gone
	Lifetime  time.Duration `json:"lifetime"`
	Cost      float64       `json:"cost"`
	Currency  string        `json:"currency"` // by ISO 4217
}

// Request asks for a pool, or for another count, age or mode of one; nil leaves what is there.
type Request struct {
	Name     string         `json:"name"`
	Hardware string         `json:"hardware"`
	Image    string         `json:"image"`
	Provider string         `json:"provider"`
	Zone     string         `json:"zone,omitempty"`
	Count    *int           `json:"count,omitempty"`
	MaxAge   *time.Duration `json:"max_age,omitempty"`
	Mode     Mode           `json:"mode,omitempty"` // on or off
}

// NewPoolMachine is a machine of a pool about to be made.
type NewPoolMachine struct {
	Cluster   cluster.NewCluster
	Shape     string
	ExpiresAt time.Time
}

// Bounds of pools.
const (
	MaxPoolCount   = 500
	MaxPools       = 100 // of a tenant
	minPoolAge     = 10 * time.Minute
	maxPoolAge     = 90 * 24 * time.Hour
	DefaultPoolAge = 24 * time.Hour
)

// poolOwner is whose machines those of a pool are. No user has such a name.
func poolOwner(name string) string { return "pool:" + name }

// CheckPool refuses what no pool can be.
func (a *Service) CheckPool(ctx context.Context, p Pool) error {
	if p.Count < 0 || p.Count > MaxPoolCount {
		return &app.Error{Code: app.EInvalid, Field: "count", Message: fmt.Sprintf("A pool can have 0 to %d machines, not %d.", MaxPoolCount, p.Count)}
	}
	if p.MaxAge < minPoolAge || p.MaxAge > maxPoolAge {
		return &app.Error{Code: app.EInvalid, Field: "max_age", Message: fmt.Sprintf("The maximum age of pool machines must be %s to %s, not %s.", humanize.Duration(minPoolAge), humanize.Duration(maxPoolAge), humanize.Duration(p.MaxAge)),
			Hint: `For example: 24h.`}
	}
	if p.Mode != ModeOn && p.Mode != ModeOff && p.Mode != ModeDrained && p.Mode != ModeDeleted {
		return &app.Error{Code: app.EInvalid, Field: "mode", Message: fmt.Sprintf("A pool can be on or off, not %.40q.", string(p.Mode)), Hint: "To delete its machines, drain or delete the pool."}
	}
	_, err := a.poolSpec(ctx, p)
	return err
}

// poolSpec is what machines of a pool are made of, by the catalog as it is now.
type poolSpec struct {
	definition cluster.Definition
	shape      string
	price      float64
	catalog    int64 // the revision of the tenant's own entries
}

// poolSpec finds it. Errors say what of it the catalog does not have.
func (a *Service) poolSpec(ctx context.Context, p Pool) (s poolSpec, err error) {
	c, revision, err := a.Catalogs.CatalogAt(ctx, p.Tenant, 0)
	if err != nil {
		return s, err
	}
	s.catalog = revision
	spec := c.Providers[p.Provider]
	if spec == nil {
		return s, &app.Error{Code: app.EInvalid, Field: "provider", Message: fmt.Sprintf("Provider %.60q doesn't exist in the catalog.", p.Provider), Hint: "To list the providers: muster catalog providers."}
	}
	h := c.Hardware[p.Hardware]
	if h == nil {
		return s, &app.Error{Code: app.EInvalid, Field: "hardware", Message: fmt.Sprintf("Hardware %.60q doesn't exist in the catalog.", p.Hardware)}
	}
	flavor, ok := h.Providers[p.Provider]
	if !ok {
		return s, &app.Error{Code: app.EInvalid, Field: "hardware", Message: fmt.Sprintf("Hardware %s isn't available from provider %s.", p.Hardware, p.Provider)}
	}
	i := c.Images[p.Image]
	if i == nil {
		return s, &app.Error{Code: app.EInvalid, Field: "image", Message: fmt.Sprintf("Image %.60q doesn't exist in the catalog.", p.Image)}
	}
	image, ok := i.Providers[p.Provider]
	if !ok {
		return s, &app.Error{Code: app.EInvalid, Field: "image", Message: fmt.Sprintf("Image %s isn't available from provider %s.", p.Image, p.Provider)}
	}
	if p.Zone != "" && !slices.Contains(spec.Zones, p.Zone) {
		e := &app.Error{Code: app.EInvalid, Field: "zone", Message: fmt.Sprintf("Provider %s has no zone %.60q.", p.Provider, p.Zone), Hint: "The catalog lists no zones for it."}
		if len(spec.Zones) > 0 {
			e.Hint = "Use " + humanize.And(spec.Zones) + "."
		}
		return s, e
	}
	if err := a.Preflight.CheckProvisioner(ctx, p.Tenant, spec); err != nil {
		return s, err
	}
	if err := a.Catalogs.CheckHost(c, p.Provider, nil, nil, map[string]template.Image{p.Image: image}, nil, nil); err != nil {
		return s, err
	}
	if err := a.Catalogs.CheckIsolation(ctx, spec); err != nil {
		return s, err
	}
	s.definition = cluster.Definition{Services: map[string]*template.Service{}, Hardware: map[string]template.Flavor{p.Hardware: flavor}, Images: map[string]template.Image{p.Image: image}}
	s.shape, s.price = cluster.MachineShape(p.Provider, flavor, image), flavor.CostPerHour
	return s, nil
}
