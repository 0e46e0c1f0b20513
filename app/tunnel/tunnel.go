package tunnel

import (
	"context"
	"crypto/rand"
	"net"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Request asks for a connection to a node's SSH port.
type Request struct {
	ID      string            `json:"id"`
	Tenant  string            `json:"tenant"`
	Address string            `json:"address"` // host:port
	Needs   map[string]string `json:"needs,omitempty"`
	// Guarded says that a tenant decides the address, so that it's reached only where tenants may reach.
	Guarded bool      `json:"guarded,omitempty"`
	At      time.Time `json:"at"`
}

// fits reports whether a provisioner may be asked.
func (r Request) fits(p app.Provisioner) bool {
	return p.State == app.ProvisionerActive && p.May(r.Tenant) && app.HasTags(p.Tags, r.Needs)
}

// Failure is why there is no connection.
type Failure struct {
	Code    app.Code `json:"code"`
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}

// Store keeps requests for provisioners elsewhere, for as long as they wait.
type Store interface {
	// AddTunnel adds a request, wakes app.TunnelsTopic, and removes those from before old.
	AddTunnel(ctx context.Context, r Request, old time.Time) error
	// Tunnels returns the requests since then that no provisioner has taken, oldest first.
	Tunnels(ctx context.Context, since time.Time) ([]Request, error)
	// TakeTunnel reports whether the provisioner is the one that takes a request.
	TakeTunnel(ctx context.Context, id, provisioner string) (bool, error)
	// TunnelTaker returns the provisioner that took a request; ENotFound where there is no such request.
	TunnelTaker(ctx context.Context, id string) (string, error)
	DeleteTunnel(ctx context.Context, id string) error
	// FailTunnel keeps why a provisioner that took a request couldn't connect, and wakes app.TunnelsTopic; ENotFound where it didn't take it.
	FailTunnel(ctx context.Context, id, provisioner string, f Failure) error
	// TunnelFailure returns that; nil where there is none.
	TunnelFailure(ctx context.Context, id string) (*Failure, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// Local is the provisioner inside this server.
type Local struct {
	Tags map[string]string
	Dial func(ctx context.Context, r Request) (net.Conn, error)
}

// Config is what a service is created from.
type Config struct {
	Store Store
	Now   func() time.Time
}

// Service opens connections to nodes.
type Service struct {
	Config

	mu    sync.Mutex
	local *Local
	waits map[string]chan answer // by request
}

type answer struct {
	conn net.Conn
	err  error
}

// New returns the service.
func New(c Config) *Service { return &Service{Config: c, waits: map[string]chan answer{}} }

const (
	// DialTime is how long a connection may take, with the wait for a provisioner.
	DialTime = 15 * time.Second
	// kept is how long requests of servers that ended are kept.
	kept = time.Minute
)

// SetLocal says how nodes are reached from this server; nil: not at all.
func (s *Service) SetLocal(l *Local) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local = l
}

// Dial connects to a node; close the connection. ETransient where no provisioner answers or the node doesn't.
func (s *Service) Dial(ctx context.Context, r Request) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, DialTime)
	defer cancel()
	s.mu.Lock()
	local := s.local
	s.mu.Unlock()
	if local != nil && app.HasTags(local.Tags, r.Needs) {
		return local.Dial(ctx, r)
	}
	now := s.Now()
	r.ID, r.At = strings.ToLower(rand.Text()), now
	wait := make(chan answer, 1)
	s.mu.Lock()
	s.waits[r.ID] = wait
	s.mu.Unlock()
	defer s.forget(ctx, r.ID, wait)
	changed, stop := s.Store.Watch(app.TunnelsTopic())
	defer func() { stop() }()
	if err := s.Store.AddTunnel(ctx, r, now.Add(-kept)); err != nil {
		return nil, err
	}
	for {
		select {
		case a := <-wait:
			return a.conn, a.err
		case <-ctx.Done():
			return nil, noProvisioner(r)
		case <-changed:
		}
		stop()
		changed, stop = s.Store.Watch(app.TunnelsTopic())
		if f, err := s.Store.TunnelFailure(ctx, r.ID); err == nil && f != nil {
			return nil, &app.Error{Code: f.Code, Reason: f.Reason, Message: f.Message, Hint: f.Hint}
		}
	}
}

// Fail says why a provisioner couldn't connect, to whichever server waits.
func (s *Service) Fail(ctx context.Context, provisioner, id string, failure *app.Error) error {
	return s.Store.FailTunnel(ctx, id, provisioner, Failure{failure.Code, humanize.CutText(failure.Reason, maxFailure),
		humanize.CutText(failure.ForPeople(), maxFailure),
		humanize.CutText(failure.Hint, maxFailure)})
}

// maxFailure bounds each text of a failure, in bytes.
const maxFailure = 1000

// forget removes a request. A connection that came too late is closed.
func (s *Service) forget(ctx context.Context, id string, wait chan answer) {
	s.mu.Lock()
	delete(s.waits, id)
	s.mu.Unlock()
	select {
	case a := <-wait:
		if a.conn != nil {
			_ = a.conn.Close()
		}
	default:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), DialTime)
	defer cancel()
	_ = s.Store.DeleteTunnel(ctx, id) // else the next request removes it
}

func noProvisioner(r Request) error {
	e := &app.Error{Code: app.ETransient, Reason: "no_provisioner", Message: "No connected provisioner reaches this node.",
		Hint: "Check that one of this server's version is running: muster provisioner list"}
	if len(r.Needs) > 0 {
		e.Message = "No connected provisioner with " + app.TagText(r.Needs) + " reaches this node."
	}
	return e
}

// Await waits for a request that a provisioner may take, and takes it; nil when none came until ctx ended. Find returns the provisioner as it
// is now.
func (s *Service) Await(ctx context.Context, find func(context.Context) (app.Provisioner, error)) (*Request, error) {
	for {
		changed, stop := s.Store.Watch(app.TunnelsTopic())
		r, err := s.take(ctx, find)
		if r == nil && err == nil {
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
		stop()
		if ctx.Err() != nil && r == nil {
			return nil, nil
		}
		if r != nil || err != nil {
			return r, err
		}
	}
}

func (s *Service) take(ctx context.Context, find func(context.Context) (app.Provisioner, error)) (*Request, error) {
	p, err := find(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.Store.Tunnels(ctx, s.Now().Add(-DialTime))
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if !r.fits(p) {
			continue
		}
		if mine, err := s.Store.TakeTunnel(ctx, r.ID, p.ID); mine || err != nil {
			return &r, err
		}
	}
	return nil, nil
}

// Check reports whether a provisioner may answer a request on this server: ENotFound where it wasn't asked, EStale, reason "elsewhere", where the
// request is another server's, so that the provisioner looks for that one.
func (s *Service) Check(ctx context.Context, provisioner, id string) error {
	taker, err := s.Store.TunnelTaker(ctx, id)
	if err != nil {
		return err
	}
	if taker != provisioner {
		return app.Errorf(app.ENotFound, "This connection wasn't requested from this provisioner, or it has ended.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits[id] == nil {
		return &app.Error{Code: app.EStale, Reason: Elsewhere, Message: "Another server waits for this connection."}
	}
	return nil
}

// Elsewhere is the reason of the error for an answer that another server waits for.
const Elsewhere = "elsewhere"

// Answer hands over a connection that Check allowed. It reports whether someone still waits: if not, the caller closes the connection.
func (s *Service) Answer(id string, conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := s.waits[id]
	if wait == nil {
		return false
	}
	delete(s.waits, id)
	wait <- answer{conn: conn}
	return true
}
