package port

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/identity"
	"muster/app/sshaccess"
)

// Store is what the service needs of the database.
type Store interface {
	AddAuditEntry(ctx context.Context, d app.AuditEntry) error
	// UsePortTicket notes that a ticket was used, on whichever server; false if it was before. It forgets those that no longer matter.
	UsePortTicket(ctx context.Context, nonce string, until, now time.Time) (bool, error)
}

// Sessions finds who is signed in.
type Sessions interface {
	ActorOfSession(ctx context.Context, id int64, v identity.Visit) (app.Actor, error)
}

// Tenants lets superadmins act in other tenants.
type Tenants interface {
	ActIn(ctx context.Context, actor app.Actor, tenant string) (app.Actor, error)
}

// Config is what a service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Nodes    *sshaccess.Nodes
	Sessions Sessions
	Tenants  Tenants
	Key      func(ctx context.Context) ([]byte, error) // of the installation
}

// Service connects to ports of nodes.
type Service struct {
	Config

	mu      sync.Mutex
	links   map[linkKey]*link
	entered map[signedIn]entered
}

// signedIn is a sign-in that acts in a tenant.
type signedIn struct {
	session int64
	tenant  string
}

type entered struct {
	actor app.Actor
	at    time.Time
}

// New returns the service.
func New(c Config) *Service {
	return &Service{Config: c, links: map[linkKey]*link{}, entered: map[signedIn]entered{}}
}

const (
	mostEntered = 10_000
	mostLinks   = 1000 // of this server
	// idleTime is how long an SSH connection stays without a connection to a port.
	idleTime = 2 * time.Minute
	// checkEvery is how soon connections end that someone may no longer have.
	checkEvery = 10 * time.Second
	openTime   = 25 * time.Second
)

// linkKey is whose connection it is, and to which node.
type linkKey struct{ tenant, user, session, cluster, node string }

// link is an SSH connection to a node, which carries connections to its ports.
type link struct {
	ready chan struct{} // closed once conn or err is set
	conn  family.NodeConnection
	own   string // the node's own address
	err   error
	open  int
	left  time.Time // when the last connection ended
}

// DialPort connects to a port of a node as an actor: on the node's loopback, or where nothing listens there, on its own address.
func (s *Service) DialPort(ctx context.Context, actor app.Actor, a Address) (net.Conn, error) {
	key := linkKey{actor.Tenant, actor.Name(), actor.Session, a.Cluster, a.Node}
	l, err := s.link(ctx, actor, key)
	if err != nil {
		return nil, err
	}
	dialer, ok := l.conn.(family.PortDialer)
	if !ok {
		s.leave(l)
		return nil, app.Errorf(app.EInternal, "the connection to %s can't reach ports", a.Node)
	}
	text := strconv.Itoa(a.Port)
	conn, err := dialer.DialPort(ctx, net.JoinHostPort("127.0.0.1", text))
	if err != nil && app.AsError(err).Reason == family.PortClosed && l.own != "" {
		if c, e := dialer.DialPort(ctx, net.JoinHostPort(l.own, text)); e == nil {
			conn, err = c, nil
		}
	}
	if err != nil {
		s.leave(l)
		if app.AsError(err).Reason == family.PortClosed {
			err = &app.Error{Code: app.ETransient, Reason: family.PortClosed, Message: "Nothing listens on port " + text + " of node " + a.Node + ".",
				Hint: "Check that the service runs, then reload the page."}
		}
		return nil, err
	}
	return &counted{Conn: conn, left: func() { s.leave(l) }}, nil
}

// counted is a connection that says when it ends.
type counted struct {
	net.Conn
	once sync.Once
	left func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.left)
	return err
}

func (s *Service) leave(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.open--
	l.left = s.Now()
}

// link returns the SSH connection for a key, and counts one connection more on it.
func (s *Service) link(ctx context.Context, actor app.Actor, key linkKey) (*link, error) {
	s.mu.Lock()
	l := s.links[key]
	if l == nil {
		if len(s.links) >= mostLinks {
			s.mu.Unlock()
			return nil, &app.Error{Code: app.ERateLimit, RetryAfter: time.Minute, Message: "Too many ports of nodes are open on this server.",
				Hint: "Try again in a few minutes."}
		}
		l = &link{ready: make(chan struct{})}
		s.links[key] = l
		go s.connect(context.WithoutCancel(ctx), actor, key, l)
	}
	l.open++
	s.mu.Unlock()
	select {
	case <-l.ready:
	case <-ctx.Done():
		s.leave(l)
		return nil, ctx.Err()
	}
	if l.err != nil {
		return nil, l.err
	}
	return l, nil
}

func (s *Service) connect(ctx context.Context, actor app.Actor, key linkKey, l *link) {
	dial, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	n, err := s.Nodes.Find(dial, actor, "DialPort", key.cluster, key.node)
	if err == nil {
		l.own = n.Node.Address(app.AddressBind)
		l.conn, err = s.Nodes.Connect(dial, actor, n)
	}
	l.err = err
	if err != nil {
		s.drop(key, l)
	}
	close(l.ready)
	if err == nil {
		s.watch(ctx, actor, key, l)
	}
}

func (s *Service) drop(key linkKey, l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links[key] == l {
		delete(s.links, key)
	}
}

// watch ends a link that no one uses, or that its user may no longer have.
func (s *Service) watch(ctx context.Context, actor app.Actor, key linkKey, l *link) {
	defer func() {
		s.drop(key, l)
		_ = l.conn.Close()
	}()
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.conn.Done():
			return
		case <-tick.C:
		}
		if s.over(ctx, actor, key, l) {
			return
		}
	}
}

// over reports whether a link has to end. One that no one uses is taken by no one from here on.
func (s *Service) over(ctx context.Context, actor app.Actor, key linkKey, l *link) bool {
	s.mu.Lock()
	idle := l.open <= 0 && s.Now().Sub(l.left) > idleTime
	if idle && s.links[key] == l {
		delete(s.links, key)
	}
	s.mu.Unlock()
	return idle || !s.still(ctx, actor, key)
}

// still reports whether the sign-in and its access hold.
func (s *Service) still(ctx context.Context, actor app.Actor, key linkKey) bool {
	ctx, cancel := context.WithTimeout(ctx, checkEvery)
	defer cancel()
	if id, err := strconv.ParseInt(key.session, 10, 64); err == nil {
		now, err := s.actorOf(ctx, id, key.tenant, identity.Visit{Looking: true})
		if code := app.CodeOf(err); code == app.EUnauthorized || code == app.EForbidden || code == app.ENotFound {
			return false
		}
		if err == nil {
			actor = now // as of today
		}
	}
	return s.Nodes.StillMay(ctx, actor, "DialPort", key.cluster, key.node) == nil
}

// Close ends all connections: the server stops.
func (s *Service) Close() {
	s.mu.Lock()
	var all []*link
	for _, l := range s.links {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		select {
		case <-l.ready:
			if l.conn != nil {
				_ = l.conn.Close()
			}
		default:
		}
	}
}
