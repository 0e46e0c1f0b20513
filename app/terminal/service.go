package terminal

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/tunnel"
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
	ClusterSecrets(ctx context.Context, tenant, cluster string) (cluster.Secrets, error)
	Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error)
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
	Store    Store
	// Recordings is the same database.
	Recordings RecordingStore
	Now      func() time.Time
	Keys     app.Keys
	Clusters *cluster.Finder
	Catalogs *catalog.Service
	Tunnels  *tunnel.Service
	// OwnAccount reports whether a cluster's machines are in an account of its users.
	OwnAccount func(ctx context.Context, tenant, cluster string) (bool, error)
	Connect    family.Connector
}

// Service opens terminals.
type Service struct {
	Config

	mu   sync.Mutex
	open map[string]*session
}

// New returns the service.
func New(c Config) *Service { return &Service{Config: c, open: map[string]*session{}} }

// Bounds.
const (
	MostColumns = 1000
	MostRows    = 500
	// mostOfUser and mostOpen are how many terminals a user, and all users of this server, have open.
	mostOfUser = 20
	mostOpen   = 2000
	// certificateTime is how long a terminal has to sign in.
	certificateTime = 5 * time.Minute
	certificateSkew = time.Minute
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

// place is a node on which an actor may have a terminal.
type place struct {
	cluster app.Cluster
	node    app.Node
}

// find returns the node, for those who may sign in to it.
func (s *Service) find(ctx context.Context, actor app.Actor, id, node string) (place, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, "OpenTerminal", id)
	if err != nil {
		return place{}, err
	}
	if err := actor.MayChange("OpenTerminal", c); err != nil {
		return place{}, err
	}
	nodes, err := s.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return place{}, err
	}
	for _, n := range nodes {
		if n.Name == node {
			return place{c, n}, reachable(c, n)
		}
	}
	return place{}, app.Errorf(app.ENotFound, "Cluster %q has no node %q.", c.Name, node)
}

// reachable refuses nodes without a machine that can be signed in to.
func reachable(c app.Cluster, n app.Node) error {
	switch {
	case n.Status == app.NodeDeleted:
		return &app.Error{Code: app.EConflict, Reason: "no_machine", Message: fmt.Sprintf("Node %s of cluster %q was deleted.", n.Name, c.Name)}
	case n.Lost():
		return &app.Error{Code: app.EConflict, Reason: "no_machine", Message: fmt.Sprintf("The machine of node %s is lost.", n.Name),
			Hint: "Repair the cluster: muster cluster repair " + c.Name}
	case n.Status != app.NodeReady && n.Status != app.NodeCreated || n.Address(app.AddressAccess) == "" || n.HostKey == "":
		return &app.Error{Code: app.EConflict, Reason: "no_machine", Message: fmt.Sprintf("Node %s of cluster %q has no machine to sign in to yet.", n.Name, c.Name),
			Hint: "Try again when its machine is running."}
	}
	return nil
}

// connect signs in to a node, with a key of its own and a certificate for minutes.
func (s *Service) connect(ctx context.Context, actor app.Actor, p place) (family.NodeConnection, error) {
	secrets, err := s.Store.ClusterSecrets(ctx, actor.Tenant, p.cluster.ID)
	if err != nil {
		return nil, err
	}
	if len(secrets.PrivateKey) == 0 {
		return nil, app.Errorf(app.EConflict, "Cluster %q was deleted, along with its SSH key.", p.cluster.Name)
	}
	private, public, err := s.Keys.NewKey("")
	if err != nil {
		return nil, err
	}
	user := p.node.SSHUser
	if user == "" {
		user = "root"
	}
	now := s.Now()
	signed, err := s.Keys.SignCertificate(secrets.PrivateKey, app.CertificateOrder{PublicKey: public, KeyID: "muster:" + actor.Tenant + "/" + actor.Name(),
		Principals: []string{user}, From: now.Add(-certificateSkew), Until: now.Add(certificateTime)})
	if err != nil {
		return nil, err
	}
	request, err := s.request(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.Connect(ctx, family.NodeTarget{Address: p.node.Address(app.AddressAccess), Port: p.node.SSHPort, User: user, HostKey: p.node.HostKey,
		PrivateKey: private, Certificate: signed.Line,
		Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
			request.Address = address
			return s.Tunnels.Dial(ctx, request)
		}})
}

// request says who reaches a node.
func (s *Service) request(ctx context.Context, p place) (tunnel.Request, error) {
	r := tunnel.Request{Tenant: p.cluster.Tenant, Address: net.JoinHostPort(p.node.Address(app.AddressAccess), strconv.Itoa(p.node.SSHPort))}
	c, err := s.Catalogs.CatalogOf(ctx, p.cluster.Tenant)
	if err != nil {
		return r, err
	}
	if spec := c.Providers[p.cluster.Provider]; spec != nil {
		r.Needs = spec.Provisioner
	}
	own, err := s.OwnAccount(ctx, p.cluster.Tenant, p.cluster.ID)
	if err != nil || own {
		r.Guarded = own
		return r, err
	}
	r.Guarded, err = s.Catalogs.Guards(ctx, p.cluster.Tenant, p.cluster.Provider)
	return r, err
}
