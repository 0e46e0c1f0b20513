package remote

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

var _ app.Shell = (*Conn)(nil)

// Conn is an open connection to one machine. Its methods may be called from several goroutines; each Run and Put has
// a session of its own. While it is open the machine is asked every 15 seconds whether it is still there; when it does
// not answer, the connection ends and whatever runs on it returns ETransient.
type Conn struct {
	target  Target
	client  *ssh.Client
	hostKey string
	set     settings

	gone   chan struct{} // closed when the connection has ended, for whatever reason
	once   sync.Once
	closed error
	loops  sync.WaitGroup
}

func newConn(t Target, client *ssh.Client, seen ssh.PublicKey, set settings) *Conn {
	c := &Conn{
		target:  t,
		client:  client,
		hostKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(seen))),
		set:     set,
		gone:    make(chan struct{}),
	}
	c.loops.Go(func() {
		_ = client.Wait()
		close(c.gone)
	})
	c.loops.Go(c.stayAlive)
	return c
}

// HostKey is the key that the machine proved itself with, as an authorized_keys line without a comment. Where the target
// had none, pin this one.
func (c *Conn) HostKey() string { return c.hostKey }

// Done is closed once the connection has ended, whether by Close or by itself.
func (c *Conn) Done() <-chan struct{} { return c.gone }

// Close ends the connection and everything that runs on it. Closing twice does no harm.
func (c *Conn) Close() error {
	c.once.Do(func() {
		select {
		case <-c.gone: // it ended by itself; the socket is still ours to close
			_ = c.client.Close()
		default:
			c.closed = c.client.Close()
		}
	})
	c.loops.Wait()
	return c.closed
}

func (c *Conn) stayAlive() {
	tick := time.NewTicker(c.set.keepalive)
	defer tick.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-tick.C:
			if !c.ping(c.set.keepalive) {
				_ = c.client.Close()
				return
			}
		}
	}
}

// ping asks the other side for any answer at all, "no such request" being the usual one.
func (c *Conn) ping(limit time.Duration) bool {
	answer := make(chan error, 1)
	// It ends with the connection, which a caller that got no answer closes.
	go func() {
		_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
		answer <- err
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case err := <-answer:
		return err == nil
	case <-c.gone:
		return false
	case <-late.C:
		return false
	}
}

// lost says that the connection ended under a command.
func (c *Conn) lost(err error) *app.Error {
	return &app.Error{
		Code: app.ETransient, Reason: "connection_lost",
		Message: "The connection to " + c.target.endpoint() + " was lost", Err: err,
	}
}

// open gives a new session, unless ctx or the connection ends first.
func (c *Conn) open(ctx context.Context, line string) (ssh.Channel, <-chan *ssh.Request, error) {
	type opened struct {
		ch   ssh.Channel
		reqs <-chan *ssh.Request
		err  error
	}
	got := make(chan opened, 1)
	go func() {
		var o opened
		o.ch, o.reqs, o.err = c.client.OpenChannel("session", nil)
		if o.err == nil {
			var ok bool
			ok, o.err = o.ch.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{line}))
			if o.err == nil && !ok {
				o.err = errRefused
			}
			if o.err != nil {
				_ = o.ch.Close()
				go ssh.DiscardRequests(o.reqs)
			}
		}
		got <- o
	}()
	select {
	case o := <-got:
		return o.ch, o.reqs, o.err
	case <-ctx.Done():
		// Whoever opens a door that nobody wants any more closes it.
		go func() {
			if o := <-got; o.err == nil {
				go ssh.DiscardRequests(o.reqs)
				_ = o.ch.Close()
			}
		}()
		return nil, nil, ctx.Err()
	}
}
