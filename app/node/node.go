package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// States that a node may be filtered by: those of app.Node.State that a node of a list can have.
const (
	StatePlanned = string(app.NodePlanned)
	StateCreated = string(app.NodeCreated)
	StateReady   = string(app.NodeReady)
	StateLost    = "lost"
)

// States are all states, in the order of a node's life.
var States = []string{StatePlanned, StateCreated, StateReady, StateLost}

// Bounds of a list of nodes.
const (
	PageSize = 200 // where no limit is given
	MaxLimit = 1000
	maxText  = 100
	maxName  = 255
)

// Filter narrows a list of nodes. Empty fields let all through.
type Filter struct {
	Text     string // part of the host name, machine ID, an address, or the cluster's name, in any case
	State    string // one of States
	Cluster  string // ID or name
	Owner    string
	Template string
	Provider string
	Hardware string
	Image    string
	Zone     string
	Service  string // that is on the node
	// Reader is the one whose clusters are listed; the service sets it.
	Reader *app.ClusterReader
	Limit  int    // 0: PageSize
	After  string // Page.Next of the page before
}

// Check refuses what cannot be meant.
func (f Filter) Check() error {
	bad := func(field, hint, format string, args ...any) error {
		e := app.Errorf(app.EInvalid, format, args...)
		e.Field, e.Hint = field, hint
		return e
	}
	if f.State != "" && !slices.Contains(States, f.State) {
		return bad("state", "Use "+strings.Join(States[:len(States)-1], ", ")+" or "+States[len(States)-1]+".", "Unknown node state %.40q.", f.State)
	}
	if len(f.Text) > maxText {
		return bad("q", "Search for part of a name.", "The search text must be at most %d characters.", maxText)
	}
	for _, x := range [][2]string{{"cluster", f.Cluster}, {"owner", f.Owner}, {"template", f.Template}, {"provider", f.Provider}, {"hardware", f.Hardware},
		{"image", f.Image}, {"zone", f.Zone}, {"service", f.Service}, {"after", f.After}} {
		if len(x[1]) > maxName {
			return bad(x[0], "Check the name.", "The value must be at most %d characters.", maxName)
		}
	}
	if f.Limit < 0 || f.Limit > MaxLimit {
		return bad("limit", fmt.Sprintf("Omit it for %d.", PageSize), "The limit must be 1 to %d nodes, not %d.", MaxLimit, f.Limit)
	}
	if _, _, ok := f.Start(); !ok {
		return bad("after", "Start from the beginning: omit after.", "%.80q isn't the end of a page.", f.After)
	}
	return nil
}

// Start splits After into a cluster's ID and the number of a node; "" and 0 for the beginning. It isn't ok where After is neither.
func (f Filter) Start() (id string, number int, ok bool) {
	if f.After == "" {
		return "", 0, true
	}
	id, name, found := strings.Cut(f.After, "/")
	number = app.NodeNumber(name)
	return id, number, found && id != "" && number > 0
}

// Listed is one node, with what is said of its cluster.
type Listed struct {
	Cluster     string            `json:"cluster"` // ID
	ClusterName string            `json:"cluster_name"`
	Name        string            `json:"name"` // n1, n2, …
	Hostname    string            `json:"hostname"`
	State       string            `json:"state"` // one of States
	Owner       string            `json:"owner"`
	Template    string            `json:"template"`
	Provider    string            `json:"provider"`
	Hardware    string            `json:"hardware"`
	Image       string            `json:"image"`
	Zone        string            `json:"zone,omitempty"`
	Services    []string          `json:"services"`
	MachineID   string            `json:"machine_id,omitempty"` // the provider's own
	Addresses   map[string]string `json:"addresses,omitempty"`
	Leaving     bool              `json:"leaving,omitempty"` // an operation is deleting it
	LostAt      time.Time         `json:"lost_at,omitzero"`
	LeavesAt    time.Time         `json:"leaves_at,omitzero"` // when its provider takes the machine away, as announced
}

// Page is a part of a list of nodes: those of the newest cluster first, and of each cluster in the order of their numbers.
type Page struct {
	Nodes []Listed `json:"nodes"`
	Next  string   `json:"next,omitempty"` // for Filter.After; "" where this is the last page
}

// Store is what Service needs of the database.
type Store interface {
	// ListNodes returns the nodes of a tenant's clusters that a filter lets through, at most f.Limit. Deleted nodes, and those of pools, are left out.
	// It is ENotFound where f.After names a cluster that the reader doesn't see.
	ListNodes(ctx context.Context, tenant string, f Filter) ([]Listed, error)
}

// Config is what Service is created from.
type Config struct {
	Store    Store
	Clusters *cluster.Finder
}

// Service lists nodes.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// Nodes returns a page of the nodes in clusters that the actor may see.
func (s *Service) Nodes(ctx context.Context, actor app.Actor, f Filter) (p Page, err error) {
	if err := actor.Authorize("Nodes"); err != nil {
		return p, err
	}
	if err := f.Check(); err != nil {
		return p, err
	}
	if f.Limit == 0 {
		f.Limit = PageSize
	}
	limit := f.Limit
	f.Limit++
	if f.Reader, err = s.Clusters.ReaderOf(ctx, actor); err != nil {
		return p, err
	}
	p.Nodes, err = s.Store.ListNodes(ctx, actor.Tenant, f)
	if app.CodeOf(err) == app.ENotFound {
		e := app.Errorf(app.EInvalid, "The cluster in parameter after, %.80q, doesn't exist.", f.After)
		e.Field, e.Hint = "after", "Start from the beginning: omit after."
		return p, e
	}
	if err == nil && len(p.Nodes) > limit {
		p.Nodes = p.Nodes[:limit]
		last := p.Nodes[limit-1]
		p.Next = last.Cluster + "/" + last.Name
	}
	return p, err
}
