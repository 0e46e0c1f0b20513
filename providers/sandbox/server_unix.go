//go:build unix

package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// server is one process machine: a listener, its connections and their sessions.
type server struct {
	id       string
	files    layout
	usage    *usage
	user     string
	config   *ssh.ServerConfig
	listener net.Listener
	unlock   func() // of the lock that is held as long as we serve
	log      *slog.Logger

	beforeStart func() // in tests, what happens just before a command is started

	ctx    context.Context // done when the server is to stop; sessions end with it
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

const (
	handshakeTime  = 30 * time.Second
	maxSessions    = 100
	maxConnections = 1000
)

func newServer(l layout, r *record, listener net.Listener, u *usage, log *slog.Logger) (*server, error) {
	config, err := serverConfig(l, r.ID, r.User)
	if err != nil {
		return nil, err
	}
	// Someone who only looks holds the lock for a moment.
	soon, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	unlock, err := lockFile(soon, l.file(r.ID, "serving"))
	if err != nil {
		return nil, fmt.Errorf("another process is serving it: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &server{
		id: r.ID, files: l, usage: u, user: r.User, config: config, listener: listener, unlock: sync.OnceFunc(unlock), log: log,
		beforeStart: func() {}, ctx: ctx, cancel: cancel, conns: make(map[net.Conn]struct{}),
	}, nil
}

func (s *server) begin() { s.work.Go(s.accept) }

// serving says whether the server still answers.
func (s *server) serving() bool { return s.ctx.Err() == nil }

// close ends all sessions and returns when nothing of the server runs any more. What a session has put into a session
// of its own (setsid) stays. Closing twice is harmless.
func (s *server) close() error {
	s.shut()
	s.work.Wait()
	return nil
}

// shut tells everything to end. The lock goes too, so that the machine is no one's from here on.
func (s *server) shut() {
	s.cancel()
	_ = s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.unlock()
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if s.ctx.Err() != nil {
			if c != nil {
				_ = c.Close()
			}
			return
		}
		if err != nil {
			// Out of file descriptors, most likely: some will be free again.
			s.log.Warn("sandbox machine can't accept a connection", "machine", s.id, "error", err)
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		if s.dismissed() {
			_ = c.Close()
			s.shut()
			return
		}
		if !s.track(c) {
			_ = c.Close()
			continue
		}
		s.work.Go(func() {
			defer s.untrack(c)
			s.connection(c)
		})
	}
}

// dismissed says whether another process has deleted the machine.
func (s *server) dismissed() bool {
	if _, err := os.Stat(s.files.recordFile(s.id)); err != nil {
		return true
	}
	_, err := os.Stat(s.files.file(s.id, goneFile))
	return err == nil
}

func (s *server) track(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || len(s.conns) >= maxConnections {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *server) untrack(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// connection serves one connection until it ends, and then waits for its sessions to end too.
func (s *server) connection(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(handshakeTime))
	conn, channels, requests, err := ssh.NewServerConn(c, s.config)
	if err != nil {
		return // a port scan, a stranger, or someone who only looked whether we are there
	}
	_ = c.SetDeadline(time.Time{})
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(s.ctx)
	var sessions sync.WaitGroup
	defer sessions.Wait()
	defer cancel()
	sessions.Go(func() { ssh.DiscardRequests(requests) })
	slots := make(chan struct{}, maxSessions)
	for n := range channels {
		if kind := n.ChannelType(); kind != "session" && kind != "direct-tcpip" {
			_ = n.Reject(ssh.UnknownChannelType, "only sessions and connections to ports are supported")
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = n.Reject(ssh.ResourceShortage, "too many sessions")
			continue
		}
		if n.ChannelType() == "direct-tcpip" {
			sessions.Go(func() {
				defer func() { <-slots }()
				forward(ctx, n)
			})
			continue
		}
		ch, reqs, err := n.Accept()
		if err != nil {
			<-slots
			continue
		}
		sessions.Go(func() {
			defer func() { <-slots }()
			newSession(s, ch, clientOf(c)).serve(ctx, reqs)
		})
	}
}

// clientOf says who is at the other end of a connection, by which a node tells Muster's connections from people's. SSH_CONNECTION isn't set:
// by that, Muster knows servers that leave a command alone whose connection is cut.
func clientOf(c net.Conn) string {
	from, ok := c.RemoteAddr().(*net.TCPAddr)
	at, is := c.LocalAddr().(*net.TCPAddr)
	if !ok || !is {
		return ""
	}
	return fmt.Sprintf("%s %d %d", from.IP, from.Port, at.Port)
}
