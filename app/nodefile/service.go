package nodefile

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/sshaccess"
	"muster/app/terminal"
)

// Store is what the service needs of the database.
type Store interface {
	AddAuditEntry(ctx context.Context, d app.AuditEntry) error
	// TerminalSettings says whether people re-authenticate before they use nodes.
	TerminalSettings(ctx context.Context, tenant string) (terminal.Settings, error)
}

// Config is what a service is created from.
type Config struct {
	Store Store
	Now   func() time.Time
	Nodes *sshaccess.Nodes
}

// Service copies files from and to nodes.
type Service struct {
	Config
	set limits

	mu     sync.Mutex
	copies map[owner]int
	all    int
}

// New returns the service.
func New(c Config) *Service {
	return &Service{Config: c, copies: map[owner]int{}, set: limits{stall: stallTime, check: checkEvery, size: MaxUpload}}
}

// Bounds.
const (
	// MaxUpload is how large a file may be that is uploaded, in bytes.
	MaxUpload = 1 << 30
	// MaxShown is how many files of a folder are listed.
	MaxShown = 1000
	// maxPath is the longest path, in bytes, and maxName the longest name of a new file.
	maxPath = 4096
	maxName = 255
	// mostOfUser and mostCopies are how many files a user, and all users of this server, copy at once; and how many folders they list.
	mostOfUser = 6
	mostCopies = 300
	// openTime is how long it may take until a node lists a folder, or begins with a file.
	openTime = 25 * time.Second
	// stallTime is how long a copy may wait for the next bytes.
	stallTime = time.Minute
	// checkEvery is how soon a copy ends that its user may no longer make.
	checkEvery = 10 * time.Second
	// tidyTime is how long removing what is left of an upload may take.
	tidyTime = 30 * time.Second
)

// limits are those that tests turn.
type limits struct {
	stall, check time.Duration
	size         int64
}

// owner is who copies files, or lists them.
type owner struct{ tenant, user, kind string }

// Errors of copies.
var (
	errStalled = &app.Error{Code: app.ETimeout, Reason: family.FileStalled, Message: "The copy stopped: nothing was received for 1 min.",
		Hint: "Check the connections of the browser and the node, then try again."}
	errTooMany = &app.Error{Code: app.ERateLimit, Reason: family.FileTransfer, RetryAfter: 10 * time.Second,
		Message: "Too many of your files are being copied or listed.",
		Hint:    "Wait until one of them has finished."}
	errBusy = &app.Error{Code: app.ERateLimit, Reason: family.FileTransfer, RetryAfter: time.Minute,
		Message: "Too many files are being copied or listed by this server.",
		Hint:    "Try again in a few minutes."}
)

// At is a file or folder of a node. Path "" is the home folder of its login user, and other paths that don't begin with "/" are below it.
type At struct {
	Cluster, Node, Path string
}

// find returns the node, to those who may use it now.
func (s *Service) find(ctx context.Context, actor app.Actor, useCase string, at At) (sshaccess.Node, error) {
	n, err := s.Nodes.Find(ctx, actor, useCase, at.Cluster, at.Node)
	if err != nil {
		return n, err
	}
	set, err := s.Store.TerminalSettings(ctx, actor.Tenant)
	if err != nil {
		return n, err
	}
	if set.StepUp {
		if err := actor.MustStepUp(); err != nil {
			return n, err
		}
	}
	if len(at.Path) > maxPath || strings.ContainsRune(at.Path, 0) {
		return n, &app.Error{Code: app.EInvalid, Field: "path", Message: "This isn't a valid path.", Hint: "Enter a path such as /var/log."}
	}
	return n, nil
}

// link is a connection to a node with a session for files.
type link struct {
	family.Files
	conn family.NodeConnection
}

// Close ends both.
func (l link) Close() {
	_ = l.Files.Close()
	_ = l.conn.Close()
}

// connect signs in to a node. The session ends with ctx.
func (s *Service) connect(ctx context.Context, actor app.Actor, n sshaccess.Node) (l link, err error) {
	dial, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if l.conn, err = s.Nodes.Connect(dial, actor, n); err != nil {
		return l, err
	}
	opener, ok := l.conn.(family.FileOpener)
	if !ok {
		_ = l.conn.Close()
		return l, app.Errorf(app.EInternal, "the connection to %s can't carry files", n.Node.Name)
	}
	stop := context.AfterFunc(dial, func() { _ = l.conn.Close() })
	l.Files, err = opener.OpenFiles(ctx)
	if !stop() && err == nil {
		err = context.Cause(dial)
		_ = l.Files.Close()
	}
	if err != nil {
		_ = l.conn.Close()
	}
	return l, err
}

// absolute returns the path from the root.
func (l link) absolute(ctx context.Context, p string) (string, error) {
	if path.IsAbs(p) {
		return path.Clean(p), nil
	}
	home, err := l.Home(ctx)
	return path.Join("/", home, p), err
}

// room counts what someone does of a kind, a copy or a list, until done is called.
func (s *Service) room(actor app.Actor, kind string) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := owner{actor.Tenant, actor.Name(), kind}
	switch {
	case s.copies[who] >= mostOfUser:
		return nil, errTooMany
	case s.all >= mostCopies:
		return nil, errBusy
	}
	s.copies[who]++
	s.all++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.copies[who]--; s.copies[who] == 0 {
			delete(s.copies, who)
		}
	}, nil
}

// watch ends a copy that stalls, or that its user may no longer make. Moved is called for each piece.
func (s *Service) watch(ctx context.Context, actor app.Actor, useCase string, at At) (watched context.Context, moved func(), stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	stalls := time.AfterFunc(s.set.stall, func() { cancel(errStalled) })
	go func() {
		tick := time.NewTicker(s.set.check)
		defer tick.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
			}
			look, done := context.WithTimeout(watched, checkEvery)
			why := s.Nodes.StillMay(look, actor, useCase, at.Cluster, at.Node)
			done()
			if why != nil && watched.Err() == nil {
				cancel(why)
			}
		}
	}()
	return watched, func() { stalls.Reset(s.set.stall) }, func() { stalls.Stop(); cancel(nil) }
}

// cause is why a copy ended: because it was ended, or by its own error.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); err != nil && c != nil && !errors.Is(c, context.Canceled) {
		return c
	}
	return err
}

// audit notes a copy.
func (s *Service) audit(ctx context.Context, actor app.Actor, action string, n sshaccess.Node, p string) error {
	return s.Store.AddAuditEntry(ctx, actor.AuditEntry(s.Now(), action, n.Cluster.ID, n.Node.Name+":"+humanize.FileName(p)))
}
