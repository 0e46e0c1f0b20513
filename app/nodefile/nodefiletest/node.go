package nodefiletest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"muster/app"
	"muster/app/family"
)

// Node is a node whose home folder is Home.
type Node struct {
	Home string

	mu      sync.Mutex
	down    bool
	conns   map[*conn]bool
	session <-chan struct{}
	Targets []family.NodeTarget
}

// New returns a node.
func New(home string) *Node { return &Node{Home: home, conns: map[*conn]bool{}} }

// Connect is a family.Connector.
func (n *Node) Connect(_ context.Context, t family.NodeTarget) (family.NodeConnection, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, app.Errorf(app.ETransient, "The node isn't responding.")
	}
	c := &conn{n: n, gone: make(chan struct{})}
	n.conns[c] = true
	n.Targets = append(n.Targets, t)
	return c, nil
}

// Down lets the node take no connections, or take them again.
func (n *Node) Down(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
}

// Cut ends all connections.
func (n *Node) Cut() {
	n.mu.Lock()
	all := n.conns
	n.conns = map[*conn]bool{}
	n.mu.Unlock()
	for c := range all {
		_ = c.Close()
	}
}

// Open is how many connections are open.
func (n *Node) Open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// Ended is closed when the session that was started last is ended from outside.
func (n *Node) Ended() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.session
}

type conn struct {
	n    *Node
	once sync.Once
	gone chan struct{}
}

var errLost = &app.Error{Code: app.ETransient, Reason: "connection_lost", Message: "The connection to the node was lost."}

func (c *conn) Run(context.Context, family.Command, family.Output) (int, error) { return 1, nil }
func (c *conn) Put(context.Context, string, fs.FileMode, io.Reader) error       { return errLost }
func (c *conn) Done() <-chan struct{}                                           { return c.gone }
func (c *conn) Terminal(context.Context, family.TerminalOptions) (family.Terminal, error) {
	return nil, errLost
}

func (c *conn) Close() error {
	c.once.Do(func() { close(c.gone) })
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	delete(c.n.conns, c)
	return nil
}

// OpenFiles implements family.FileOpener.
func (c *conn) OpenFiles(ctx context.Context) (family.Files, error) {
	c.n.mu.Lock()
	c.n.session = ctx.Done()
	c.n.mu.Unlock()
	f := files{c, ctx}
	return f, f.alive()
}

type files struct {
	c    *conn
	used context.Context // the session ends with it
}

func (f files) alive() error {
	select {
	case <-f.c.gone:
		return errLost
	default:
		return context.Cause(f.used)
	}
}

func (f files) Home(context.Context) (string, error) { return f.c.n.Home, f.alive() }

func (f files) Close() error { return nil }

func (f files) fail(err error) error {
	switch gone := f.alive(); {
	case gone != nil:
		return gone
	case errors.Is(err, fs.ErrNotExist):
		return &app.Error{Code: app.ENotFound, Reason: family.FileMissing, Message: "There is no such file.", Hint: "Check the path."}
	case errors.Is(err, fs.ErrPermission):
		return &app.Error{Code: app.EForbidden, Reason: family.FileDenied, Message: "Permission denied.", Hint: "Choose another folder."}
	}
	return err
}

func fileOf(i fs.FileInfo) family.File {
	return family.File{Name: i.Name(), Mode: i.Mode(), Size: i.Size(), Modified: i.ModTime()}
}

func (f files) Stat(_ context.Context, p string) (family.File, error) {
	i, err := os.Lstat(p)
	if err = f.fail(err); err != nil {
		return family.File{}, err
	}
	return fileOf(i), nil
}

func (f files) List(_ context.Context, p string) (all []family.File, whole bool, err error) {
	entries, err := os.ReadDir(p)
	for _, e := range entries {
		if i, err := e.Info(); err == nil {
			all = append(all, fileOf(i))
		}
	}
	return all, true, f.fail(err)
}

func (f files) Resolve(_ context.Context, folder string, links []*family.File) {
	for _, l := range links {
		at := filepath.Join(folder, l.Name)
		l.Target, _ = os.Readlink(at)
		if i, err := os.Stat(at); err == nil {
			l.Leads = i.IsDir()
		}
	}
}

func (f files) Read(_ context.Context, p string, begin func(family.File) (io.Writer, error)) error {
	in, err := os.Open(p)
	if err = f.fail(err); err != nil {
		return err
	}
	defer in.Close()
	i, err := in.Stat()
	if err != nil {
		return err
	}
	w, err := begin(fileOf(i))
	if err == nil {
		_, err = io.Copy(w, io.TeeReader(in, f))
	}
	return f.fail(err)
}

// Write fails once the connection is lost.
func (f files) Write(p []byte) (int, error) { return len(p), f.alive() }

func (f files) Create(_ context.Context, p string, mode fs.FileMode, in io.Reader) (int64, error) {
	if mode == 0 {
		mode = 0o644
	}
	out, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err = f.fail(err); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.MultiWriter(f, out), in)
	return n, f.fail(errors.Join(err, out.Close()))
}

func (f files) Move(_ context.Context, from, to string, replace bool) error {
	if _, err := os.Lstat(to); err == nil && !replace {
		return &app.Error{Code: app.EConflict, Reason: family.FileExists, Message: "It already exists."}
	}
	return f.fail(os.Rename(from, to))
}

func (f files) Remove(_ context.Context, p string) error {
	if err := f.alive(); err != nil {
		return err
	}
	return f.fail(os.Remove(p))
}
