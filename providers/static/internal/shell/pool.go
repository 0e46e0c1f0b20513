package shell

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

const (
	dialLimit = 8 * time.Second  // from the first packet to a connection
	openLimit = 5 * time.Second  // for a session on a connection that is kept; one that takes longer is dead
	idleLimit = 90 * time.Second // how long a connection is kept that no one uses
	sessions  = 4                // at once on one connection; sshd takes ten by default
	maxSaid   = 1 << 20          // of what a script writes
)

// Pool keeps connections, one for each address. All methods may be called at the same time.
type Pool struct {
	key   Key
	slots chan struct{} // running handshakes
	limit time.Duration
	via   Dialer // nil: as the host does

	mu     sync.Mutex
	closed bool
	kept   map[string]*kept // by address, user and host key
}

// kept is a machine's connection, or none.
type kept struct {
	turn chan struct{} // held while one dials
	use  chan struct{} // sessions

	mu     sync.Mutex
	client *ssh.Client
	users  int
	idle   *time.Timer
}

// NewPool makes a pool for machines that key opens. Handshakes is how many may run at once.
func NewPool(key Key, handshakes int) *Pool {
	return &Pool{key: key, slots: make(chan struct{}, handshakes), limit: dialLimit, kept: map[string]*kept{}}
}

// Via has connections made by a dialer. It is called before the first one.
func (p *Pool) Via(d Dialer) { p.via = d }

// Patience says how long a machine may take until there is a connection.
func (p *Pool) Patience(d time.Duration) { p.limit = d }

// Close ends all connections; a second time does nothing. Scripts that run are cut off.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, k := range p.kept {
		k.drop(nil)
	}
	return nil
}

func (p *Pool) of(t Target) *kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := t.User + "@" + t.Address + " " + t.HostKey
	k := p.kept[at]
	if k == nil {
		k = &kept{turn: make(chan struct{}, 1), use: make(chan struct{}, sessions)}
		p.kept[at] = k
	}
	return k
}

// drop forgets a connection and ends it; nil is whichever there is.
func (k *kept) drop(c *ssh.Client) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.client == nil || c != nil && k.client != c {
		return
	}
	_ = k.client.Close()
	k.client = nil
	if k.idle != nil {
		k.idle.Stop()
	}
}

// take counts a user of the connection that is kept, nil where there is none.
func (k *kept) take() *ssh.Client {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.client == nil {
		return nil
	}
	k.users++
	return k.client
}

func (k *kept) leave(c *ssh.Client) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.users--
	if k.client != c || k.users > 0 {
		return
	}
	if k.idle == nil {
		k.idle = time.AfterFunc(idleLimit, func() {
			k.mu.Lock()
			unused := k.users == 0
			k.mu.Unlock()
			if unused {
				k.drop(nil)
			}
		})
		return
	}
	k.idle.Reset(idleLimit)
}

// client returns the connection that is kept, or a new one.
func (p *Pool) client(ctx context.Context, t Target, k *kept) (c *ssh.Client, fresh bool, err error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if c := k.take(); c != nil {
		return c, false, nil
	}
	c, err = dial(ctx, p.via, t, p.key, p.limit, p.slots)
	if err != nil {
		return nil, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return nil, false, app.Errorf(app.ECancelled, "the account is closed")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.client = c
	k.users++
	return c, true, nil
}

// Result is how a script ended.
type Result struct {
	Exit   int
	Out    []byte
	Errors []byte
}

// Run has command read script from its standard input. An error says that it did not run to its end as far as is known: ETransient with reason
// noAnswer, EHostKey,
// ECredentials, or that of ctx. One that ended with another exit code than 0 is no error.
func (p *Pool) Run(ctx context.Context, t Target, command, script string) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	k := p.of(t)
	select {
	case k.use <- struct{}{}:
		defer func() { <-k.use }()
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	for {
		c, fresh, err := p.client(ctx, t, k)
		if err != nil {
			return Result{}, err
		}
		s, err := open(ctx, c)
		if err == nil {
			r, err := run(ctx, t, s, command, script)
			if err != nil && ctx.Err() == nil {
				k.drop(c) // others that run over it are left alone where one of them was merely given up
			}
			k.leave(c)
			return r, err
		}
		k.drop(c)
		k.leave(c)
		// One that was kept may have died meanwhile; nothing was sent over it yet.
		if fresh || ctx.Err() != nil {
			return Result{}, unreachable(ctx, t, err)
		}
	}
}

func open(ctx context.Context, c *ssh.Client) (*ssh.Session, error) {
	limited, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = c.Close() })
	s, err := c.NewSession()
	if !stop() && err == nil {
		_ = s.Close()
		err = errors.New("timed out")
	}
	return s, err
}

func run(ctx context.Context, t Target, s *ssh.Session, command, script string) (Result, error) {
	defer func() { _ = s.Close() }()
	var out, said bounded
	s.Stdin, s.Stdout, s.Stderr = bytes.NewReader([]byte(script)), &out, &said
	done := make(chan error, 1)
	if err := s.Start(command); err != nil {
		return Result{}, unreachable(ctx, t, err)
	}
	go func() { done <- s.Wait() }() // ends with the session, or at the latest with the connection
	select {
	case err := <-done:
		r := Result{Out: out.bytes(), Errors: said.bytes()}
		var exit *ssh.ExitError
		switch {
		case err == nil:
			return r, nil
		case errors.As(err, &exit):
			r.Exit = exit.ExitStatus()
			if exit.Signal() != "" {
				r.Exit = 255
			}
			return r, nil
		}
		return r, unreachable(ctx, t, err)
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// bounded keeps the end of what is written.
type bounded struct {
	mu sync.Mutex
	b  []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = append(b.b, p...)
	if over := len(b.b) - maxSaid; over > 0 {
		b.b = append(b.b[:0], b.b[over:]...)
	}
	return len(p), nil
}

func (b *bounded) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.b)
}
