package terminal_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"muster/app"
	"muster/app/family"
)

// node is a machine on which shells run. With tmux it keeps them when their connection is lost.
type node struct {
	mu      sync.Mutex
	tmux    bool
	broken  bool // it takes no connections
	flaky   bool // connections are lost at their first command
	kept    map[string]bool
	on      map[string]*shell // by session: who is attached
	shells  []*shell
	conns   []*conn
	targets []family.NodeTarget
	tidied  int           // how often it was asked to end sessions that were left
	killing func()        // called before a session is ended
	slow    chan struct{} // what connects waits for it; nil: at once
}

func newNode(tmux bool) *node {
	return &node{tmux: tmux, kept: map[string]bool{}, on: map[string]*shell{}}
}

func (n *node) connect(ctx context.Context, t family.NodeTarget) (family.NodeConnection, error) {
	n.mu.Lock()
	slow := n.slow
	n.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.targets = append(n.targets, t)
	if n.broken {
		return nil, app.Errorf(app.ETransient, "The node isn't responding.")
	}
	c := &conn{n: n, gone: make(chan struct{})}
	n.conns = append(n.conns, c)
	return c, nil
}

// last is the shell that was started last.
func (n *node) last() *shell {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.shells[len(n.shells)-1]
}

// cut ends all connections.
func (n *node) cut() {
	n.mu.Lock()
	all := n.conns
	n.conns = nil
	n.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

func (n *node) keeps(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept["muster-"+id]
}

type conn struct {
	n      *node
	once   sync.Once
	gone   chan struct{}
	shells []*shell
}

func (c *conn) Done() <-chan struct{} { return c.gone }

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.gone)
		c.n.mu.Lock()
		defer c.n.mu.Unlock()
		for _, s := range c.shells {
			s.detach(errors.New("the connection was lost"))
		}
	})
	return nil
}

func (c *conn) Put(context.Context, string, fs.FileMode, io.Reader) error { return nil }

var (
	session = regexp.MustCompile(`muster-[a-z0-9]+`)
	place   = regexp.MustCompile(`place=\S+; `)
)

func (c *conn) Run(_ context.Context, cmd family.Command, _ family.Output) (int, error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	name := session.FindString(place.ReplaceAllString(cmd.Line, ""))
	yes := map[bool]int{true: 0, false: 1}
	switch {
	case c.n.flaky:
		return 0, app.Errorf(app.ETransient, "The connection was lost.")
	case strings.Contains(cmd.Line, "has-session"):
		if !c.n.tmux {
			return 3, nil
		}
		return yes[c.n.kept[name]], nil
	case strings.Contains(cmd.Line, "command -v tmux"):
		if strings.Contains(cmd.Line, "kill-session") {
			c.n.tidied++
		}
		return yes[c.n.tmux], nil
	case strings.Contains(cmd.Line, "kill-session"):
		if c.n.killing != nil {
			c.n.killing()
		}
		delete(c.n.kept, name)
		if s := c.n.on[name]; s != nil {
			s.detach(io.EOF)
		}
	}
	return 0, nil
}

func (c *conn) Terminal(_ context.Context, o family.TerminalOptions) (family.Terminal, error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	s := &shell{c: c, size: o.Size}
	s.r, s.w = io.Pipe()
	if strings.Contains(o.Line, "new-session -A -D") {
		s.name = session.FindString(o.Line[strings.Index(o.Line, "new-session"):])
		if before := c.n.on[s.name]; before != nil {
			before.detach(io.EOF)
		}
		c.n.on[s.name], c.n.kept[s.name] = s, true
	}
	c.shells, c.n.shells = append(c.shells, s), append(c.n.shells, s)
	return s, nil
}

// shell is a program on a terminal.
type shell struct {
	c    *conn
	name string // of its session; "": none
	r    *io.PipeReader
	w    *io.PipeWriter

	mu    sync.Mutex
	size  family.TerminalSize
	typed []byte
}

// detach ends what reads the shell. The node's lock is held.
func (s *shell) detach(err error) {
	if s.name != "" && s.c.n.on[s.name] == s {
		delete(s.c.n.on, s.name)
	}
	_ = s.w.CloseWithError(err)
}

// show is what its program writes.
func (s *shell) show(text string) { _, _ = s.w.Write([]byte(text)) }

// exit ends the program.
func (s *shell) exit() {
	s.c.n.mu.Lock()
	defer s.c.n.mu.Unlock()
	delete(s.c.n.kept, s.name)
	s.detach(io.EOF)
}

func (s *shell) Read(b []byte) (int, error) { return s.r.Read(b) }

func (s *shell) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.typed = append(s.typed, b...)
	return len(b), nil
}

func (s *shell) Resize(size family.TerminalSize) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = size
	return nil
}

func (s *shell) Close() error {
	s.c.n.mu.Lock()
	defer s.c.n.mu.Unlock()
	s.detach(io.EOF)
	return nil
}

func (s *shell) now() (typed string, size family.TerminalSize) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.typed), s.size
}
