package remote

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
)

var _ family.Shell = (*Conn)(nil)

// Conn is an open connection to one machine. Its methods may be called from several goroutines; each Run and Put has
// a session of its own. While it is open the machine is asked every 15 seconds whether it is still there; when it does
// not answer, the connection ends and whatever runs on it returns ETransient.
type Conn struct {
	target  Target
	conn    ssh.Conn
	hostKey string
	set     settings

	plainShell atomic.Bool            // the login shell is known to be an sh
	hosts      atomic.Pointer[string] // what SetHosts and AddHosts have seen to over this connection

	residence residence

	ending atomic.Bool   // Close has begun
	gone   chan struct{} // closed when the connection has ended, for whatever reason
	once   sync.Once
	closed error
	work   sync.WaitGroup

	mu   sync.Mutex
	beat *time.Timer // nil once the connection is being closed
}

func newConn(t Target, g greeted, set settings) *Conn {
	c := &Conn{
		target:  t,
		conn:    g.conn,
		hostKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(g.seen))),
		set:     set,
		gone:    make(chan struct{}),
	}
	c.mu.Lock()
	c.beat = time.AfterFunc(set.keepalive, c.stayAlive)
	c.mu.Unlock()
	c.work.Go(func() { c.refuse(g.chans, g.reqs) })
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
		c.ending.Store(true)
		c.stopBeat()
		select {
		case <-c.gone: // it ended by itself; the socket is still ours to close
			_ = c.conn.Close()
		default:
			c.closed = c.conn.Close()
		}
	})
	c.work.Wait()
	return c.closed
}

// open opens a session. The SSH library never comes back from that where the connection has just ended, so a caller that waits for it
// has to look at gone as well.
func (c *Conn) open() (ssh.Channel, <-chan *ssh.Request, error) {
	select {
	case <-c.gone:
		return nil, nil, net.ErrClosed
	default:
	}
	if c.ending.Load() {
		return nil, nil, net.ErrClosed
	}
	return c.conn.OpenChannel("session", nil)
}

// refuse answers what the machine asks of us, which is nothing that we do, until the connection ends.
func (c *Conn) refuse(chans <-chan ssh.NewChannel, reqs <-chan *ssh.Request) {
	for chans != nil || reqs != nil {
		select {
		case nc, ok := <-chans:
			if !ok {
				chans = nil
				continue
			}
			_ = nc.Reject(ssh.UnknownChannelType, "unsupported channel type")
		case r, ok := <-reqs:
			if !ok {
				reqs = nil
				continue
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	}
	c.stopBeat()
	close(c.gone)
}

// stayAlive is called by a timer, so that a connection that only waits costs no goroutine.
func (c *Conn) stayAlive() {
	c.mu.Lock()
	if c.beat == nil {
		c.mu.Unlock()
		return
	}
	c.work.Add(1)
	c.mu.Unlock()
	defer c.work.Done()
	if !c.ping(c.set.keepalive) {
		_ = c.conn.Close()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.beat != nil {
		c.beat.Reset(c.set.keepalive)
	}
}

func (c *Conn) stopBeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.beat != nil {
		c.beat.Stop()
		c.beat = nil
	}
}

// ping asks the other side for any answer at all, "no such request" being the usual one.
func (c *Conn) ping(limit time.Duration) bool {
	answer := make(chan error, 1)
	// It ends with the connection, which a caller that got no answer closes.
	go func() {
		_, _, err := c.conn.SendRequest("keepalive@openssh.com", true, nil)
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

func (c *Conn) knownHosts() *atomic.Pointer[string] { return &c.hosts }

// Run carries out family.Shell. Of both outputs together 8 MiB are passed on, and once 1 MiB has been said, no more than
// 256 KiB a second; a note says where something was left out. Lines over 64 KiB come in pieces; bytes that are not UTF-8
// come as U+FFFD. A command that a signal ended has exit code 128+n. When the command has ended but a process that it left
// running holds its outputs open, Run returns after two seconds of silence; such processes should have their outputs sent
// elsewhere.
//
// Without Stdin the command reads nothing. Line is visible to everyone on the node: secrets belong on Stdin. Without a
// Claim (see Under) a command that asks for Once is run like any other.
func (c *Conn) Run(ctx context.Context, cmd family.Command, out family.Output) (int, error) {
	return c.run(ctx, cmd, out, nil)
}
