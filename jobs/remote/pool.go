package remote

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
)

// PoolOptions tune a Pool. The zero value is right for a worker.
type PoolOptions struct {
	TTL     time.Duration   // how long an idle connection is kept; 0 means 30 seconds
	MaxIdle int             // how many idle connections are kept, the youngest ones; 0 means 256
	Dialed  func(err error) // called after each attempt to connect by Get; nil: no one is
}

// Pool keeps connections, so that the steps of a node share one. Targets are the same when address, port, user, private
// key and host key are. Its methods may be called from several goroutines.
type Pool struct {
	opt PoolOptions
	set settings

	mu     sync.Mutex
	closed bool
	kept   map[string]*kept
	idle   []*kept // oldest first
	all    map[*Conn]struct{}
}

// kept is one connection of the pool. Its fields are guarded by the pool's mutex, except those that ready guards.
type kept struct {
	id    string
	users int
	since time.Time   // idle since
	timer *time.Timer // runs while idle
	stale bool        // not to be given out again: close it when the last user is gone

	ready chan struct{} // closed when the dial has ended
	conn  *Conn
	err   error
}

const (
	poolTTL     = 30 * time.Second
	poolMaxIdle = 256
	trustIdle   = 5 * time.Second // an idle connection is asked for a sign of life only after this
	pingLimit   = 3 * time.Second
)

// NewPool returns an empty pool. Close it.
func NewPool(opt PoolOptions) *Pool {
	return newPool(opt, defaults())
}

func newPool(opt PoolOptions, set settings) *Pool {
	if opt.TTL == 0 {
		opt.TTL = poolTTL
	}
	if opt.MaxIdle == 0 {
		opt.MaxIdle = poolMaxIdle
	}
	return &Pool{opt: opt, set: set, kept: make(map[string]*kept), all: make(map[*Conn]struct{})}
}

// Get returns a shell on the machine, over the connection that is kept or a new one; errors are those of Dial. Call
// release when done, with healthy false when the connection is not to be used again, which is the case after ETransient;
// calling it twice does no harm. Closing the shell does nothing. Two callers that ask for the same machine at the same
// time share one connection.
func (p *Pool) Get(ctx context.Context, t Target) (sh family.Shell, release func(healthy bool), err error) {
	for {
		k, dialing, err := p.take(t)
		if err != nil {
			return nil, nil, err
		}
		if dialing {
			p.dial(ctx, k, t)
		}
		select {
		case <-k.ready:
		case <-ctx.Done():
			p.release(k, true)
			return nil, nil, ended(ctx, "connecting to "+t.endpoint())
		}
		if k.err != nil {
			p.release(k, false)
			// The dialling caller may have been stopped; that is no answer for those who waited along.
			if code := app.CodeOf(k.err); !dialing && (code == app.ECancelled || code == app.ETimeout) {
				continue
			}
			return nil, nil, k.err
		}
		if !p.alive(k) {
			p.release(k, false)
			continue
		}
		var once sync.Once
		return pooled{k.conn}, func(healthy bool) { once.Do(func() { p.release(k, healthy) }) }, nil
	}
}

// Adopt hands over a connection that was made otherwise, by Wait, as if Get had made it for t with the host key that the
// connection has seen. The caller does not use or close c any more. It comes in place of one that was kept: where a machine was made
// again with the same address and key, the old connection leads nowhere.
func (p *Pool) Adopt(t Target, c *Conn) {
	t.HostKey = c.HostKey()
	k := &kept{id: t.identity(), users: 1, ready: make(chan struct{}), conn: c}
	close(k.ready)

	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		_ = c.Close()
		return
	}
	var drop []*Conn
	if old := p.kept[k.id]; old != nil {
		p.retire(old)
		if old.users == 0 {
			drop = p.forget(old)
		}
	}
	p.kept[k.id] = k
	p.all[c] = struct{}{}
	p.mu.Unlock()
	p.release(k, true)
	for _, c := range drop {
		_ = c.Close()
	}
}

// Close closes all connections, those in use too. Afterwards Get is ECancelled.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	var conns []*Conn
	for c := range p.all {
		conns = append(conns, c)
	}
	for _, k := range p.idle {
		k.timer.Stop()
	}
	p.idle, p.kept, p.all = nil, make(map[string]*kept), make(map[*Conn]struct{})
	p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
	return nil
}

// take finds the connection for t and counts one more user, or enters a new one that the caller has to dial.
func (p *Pool) take(t Target) (k *kept, dial bool, err error) {
	id := t.identity()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, stopping()
	}
	k, ok := p.kept[id]
	if !ok {
		k = &kept{id: id, ready: make(chan struct{})}
		p.kept[id] = k
	}
	p.wake(k)
	k.users++
	return k, !ok, nil
}

// dial fills in k. A connection whose host key was not known before is kept under the key that it has shown, since that is
// what later steps ask for.
func (p *Pool) dial(ctx context.Context, k *kept, t Target) {
	conn, err := dial(ctx, t, p.set)
	if p.opt.Dialed != nil {
		p.opt.Dialed(err)
	}
	p.mu.Lock()
	refuse := err == nil && p.closed
	switch {
	case refuse:
		err = stopping()
	case err == nil:
		k.conn = conn
		p.all[conn] = struct{}{}
		p.refile(k, t)
	}
	k.err = err
	if err != nil {
		p.retire(k)
	}
	p.mu.Unlock()
	close(k.ready)
	if refuse {
		_ = conn.Close()
	}
}

func (p *Pool) refile(k *kept, t Target) {
	if bareKey(t.HostKey) != "" {
		return
	}
	t.HostKey = k.conn.HostKey()
	id := t.identity()
	if _, taken := p.kept[id]; taken {
		return
	}
	delete(p.kept, k.id)
	k.id = id
	p.kept[id] = k
}

func stopping() *app.Error {
	return &app.Error{Code: app.ECancelled, Message: "This worker is shutting down."}
}

// alive reports whether k can be given out. What was idle for a while is asked first: where a machine has vanished without
// a word, a question costs a round trip and a step would cost half a minute.
func (p *Pool) alive(k *kept) bool {
	select {
	case <-k.conn.gone:
		return false
	default:
	}
	p.mu.Lock()
	since := k.since
	k.since = time.Time{}
	p.mu.Unlock()
	return since.IsZero() || time.Since(since) < trustIdle || k.conn.ping(pingLimit)
}

// release counts one user less.
func (p *Pool) release(k *kept, healthy bool) {
	p.mu.Lock()
	k.users--
	if !healthy {
		p.retire(k)
	}
	var drop []*Conn
	if k.users == 0 {
		if k.stale || p.closed {
			drop = append(drop, p.forget(k)...)
		} else {
			drop = append(drop, p.rest(k)...)
		}
	}
	p.mu.Unlock()
	for _, c := range drop {
		_ = c.Close()
	}
}

// The following are called with the mutex held. They give the connections to close once it is not.

// retire takes k out of what Get finds.
func (p *Pool) retire(k *kept) {
	k.stale = true
	if p.kept[k.id] == k {
		delete(p.kept, k.id)
	}
}

func (p *Pool) forget(k *kept) []*Conn {
	p.retire(k)
	p.wake(k)
	select {
	case <-k.ready:
	default:
		return nil // its dial is running and ends with an error, since the one who dials is the last user
	}
	if k.conn == nil {
		return nil
	}
	delete(p.all, k.conn)
	return []*Conn{k.conn}
}

// rest puts k among the idle ones.
func (p *Pool) rest(k *kept) (drop []*Conn) {
	k.since = time.Now()
	k.timer = time.AfterFunc(p.opt.TTL, func() { p.expire(k) })
	p.idle = append(p.idle, k)
	for len(p.idle) > p.opt.MaxIdle {
		drop = append(drop, p.forget(p.idle[0])...)
	}
	return drop
}

// wake takes k out of the idle ones, if it is there.
func (p *Pool) wake(k *kept) {
	for i, other := range p.idle {
		if other == k {
			k.timer.Stop()
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return
		}
	}
}

// expire closes k unless someone took it meanwhile, or it was taken and came back.
func (p *Pool) expire(k *kept) {
	p.mu.Lock()
	var drop []*Conn
	if k.users == 0 && time.Since(k.since) >= p.opt.TTL {
		drop = p.forget(k)
	}
	p.mu.Unlock()
	for _, c := range drop {
		_ = c.Close()
	}
}

// pooled is a connection that its borrower cannot close.
type pooled struct{ *Conn }

var _ claimable = pooled{}

func (s pooled) Close() error { return nil }
