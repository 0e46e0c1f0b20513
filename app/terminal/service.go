package terminal

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/sshaccess"
)

// Terminal is a terminal that someone has opened on a node.
type Terminal struct {
	ID       string    `json:"id"`
	Tenant   string    `json:"-"`
	Cluster  string    `json:"cluster"`
	Node     string    `json:"node"`
	User     string    `json:"user"`
	Recorded bool      `json:"recorded"`
	OpenedAt time.Time `json:"opened_at"`
	EndedAt  time.Time `json:"ended_at,omitzero"`
	EndedBy  string    `json:"ended_by,omitempty"` // a user; "" where it ended by itself

	Size    family.TerminalSize `json:"-"`                 // at the start
	Seconds int64               `json:"seconds,omitempty"` // of the recording
	Bytes   int64               `json:"bytes,omitempty"`
}

// Open reports whether it hasn't ended.
func (t Terminal) Open() bool { return t.EndedAt.IsZero() }

// Store keeps terminals.
type Store interface {
	// AddTerminal keeps a terminal, with an entry in the audit log.
	AddTerminal(ctx context.Context, who app.Actor, t Terminal) error
	// Terminal returns one of a tenant; ENotFound.
	Terminal(ctx context.Context, tenant, id string) (Terminal, error)
	// Terminals returns those of a tenant, the newest first.
	Terminals(ctx context.Context, tenant string, f Filter) ([]Terminal, error)
	// EndTerminal ends one that is open, with an entry in the audit log; by is "" where it ended by itself. Ending one twice does nothing.
	EndTerminal(ctx context.Context, who app.Actor, id, by string, now time.Time) error
}

// Filter chooses terminals.
type Filter struct {
	Cluster string // id; "" for all
	User    string // "" for everyone's
	Open    bool   // only those that haven't ended
	Limit   int
}

// Config is what a service is created from.
type Config struct {
	Store Store
	// Recordings is the same database.
	Recordings RecordingStore
	Now        func() time.Time
	Clusters   *cluster.Finder
	Nodes      *sshaccess.Nodes
}

// Service opens terminals.
type Service struct {
	Config

	mu       sync.Mutex
	open     map[string]*session
	opening  map[owner]int            // how many are being opened
	starting map[string]chan struct{} // terminals that are being continued; closed then
	forgets  chan struct{}            // has one for each shell that is being ended on its node
}

// New returns the service.
func New(c Config) *Service {
	return &Service{Config: c, open: map[string]*session{}, opening: map[owner]int{}, starting: map[string]chan struct{}{},
		forgets: make(chan struct{}, mostForgotten)}
}

// Bounds.
const (
	MostColumns = 1000
	MostRows    = 500
	// mostOfUser and mostOpen are how many terminals a user, and all users of this server, have open.
	mostOfUser = 20
	mostOpen   = 2000
	// mostClients is in how many windows a terminal is open.
	mostClients = 10
	// mostForgotten is how many nodes are connected to at once to end shells that no server has.
	mostForgotten = 4
	// openTime is how long opening one may take.
	openTime = 25 * time.Second
)

// checkSize fits a size into the bounds; a missing one is that of a classic terminal.
func checkSize(s family.TerminalSize) family.TerminalSize {
	if s.Columns < 1 || s.Rows < 1 {
		return family.TerminalSize{Columns: 80, Rows: 24}
	}
	return family.TerminalSize{Columns: min(s.Columns, MostColumns), Rows: min(s.Rows, MostRows)}
}
