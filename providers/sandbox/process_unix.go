//go:build unix

package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// process makes machines that are SSH servers inside this process. A machine whose files are there but that no one
// serves is stopped; opening the provider serves it again.
type process struct {
	files layout
	usage *usage
	log   *slog.Logger

	mu      sync.Mutex
	servers map[string]*server
	closed  bool
}

var _ backend = (*process)(nil)

func newProcess(l layout, u *usage, log *slog.Logger) *process {
	return &process{files: l, usage: u, log: log, servers: make(map[string]*server)}
}

const (
	processPort = 2222
	// manyTaken is after how many taken addresses we believe that something holds the port on all of them.
	manyTaken = 300
)

// loopback is a part of 127.0.0.0/8 that hardly anyone else uses. On Linux all of it can be bound without further ado.
var loopback = netip.MustParsePrefix("127.64.0.0/10")

// home is where the addresses of this data directory begin. Another Muster on this host begins elsewhere: while this one is
// down nothing holds its machines' addresses, and they must still be free when it comes back.
func (l layout) home() netip.Addr {
	sum := sha256.Sum256([]byte(l.dir))
	return netip.AddrFrom4([4]byte{127, 64 + sum[0]%64, sum[1], 2})
}

func (p *process) possible(_ context.Context, image string) error {
	if image != HostImage {
		return app.Errorf(app.EInvalid, "a process machine has no file system of its own, so its image must be %q", HostImage)
	}
	return nil
}

func (p *process) start(ctx context.Context, r *record, k keys) error {
	for _, d := range []string{"home", "tmp"} {
		if err := os.MkdirAll(p.files.file(r.ID, d), 0o700); err != nil {
			return err
		}
	}
	if err := writeFile(p.files.file(r.ID, "host_key"), k.hostPEM, 0o600); err != nil {
		return err
	}
	if err := writeFile(p.files.file(r.ID, "authorized_key"), []byte(k.authorized+"\n"), 0o600); err != nil {
		return err
	}
	l, err := p.listen(ctx, r.ID)
	if err != nil {
		return err
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	r.Address, r.Port, r.User = at.Addr().Unmap().String(), int(at.Port()), userName()
	if err := p.files.save(r); err != nil {
		_ = l.Close()
		return err
	}
	return p.serve(r, l)
}

func userName() string {
	u, err := user.Current()
	if err != nil {
		return "root"
	}
	return u.Username
}

// listen finds an address where no one listens yet, be it another sandbox or something else.
func (p *process) listen(ctx context.Context, id string) (net.Listener, error) {
	var config net.ListenConfig
	if runtime.GOOS != "linux" {
		return config.Listen(ctx, "tcp4", "127.0.0.1:0")
	}
	var (
		l     net.Listener
		err   error
		taken int
	)
	_, claimErr := p.files.claim(ctx, id, loopback, p.files.home(), func(a netip.Addr) bool {
		port := processPort
		if taken >= manyTaken {
			port = 0 // the kernel finds one
		}
		l, err = config.Listen(ctx, "tcp4", netip.AddrPortFrom(a, uint16(port)).String())
		taken++
		return !errors.Is(err, syscall.EADDRINUSE) // stop also where no address could work
	})
	if claimErr != nil {
		return nil, claimErr
	}
	return l, err
}

// serve takes the machine's lock and lets the listener answer. The listener is closed on error.
func (p *process) serve(r *record, l net.Listener) error {
	s, err := newServer(p.files, r, l, p.usage, p.log)
	if err != nil {
		_ = l.Close()
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.Join(errors.New("the sandbox is closed"), s.close())
	}
	p.servers[r.ID] = s
	s.begin()
	return nil
}

func (p *process) resume(ctx context.Context, rs []*record) {
	for _, r := range rs {
		if !r.Ready || r.Asleep {
			continue
		}
		l, err := p.listenAgain(ctx, r)
		if err == nil {
			err = p.serve(r, l)
		}
		if err != nil && !p.servedElsewhere(r.ID) {
			p.log.Error("can't serve a sandbox machine again", "machine", r.ID, "address", r.Address, "error", err)
		}
	}
}

// listenAgain takes a machine's own address. A listener that was just closed may stay for a moment in the hands of a
// command that is being started.
func (p *process) listenAgain(ctx context.Context, r *record) (net.Listener, error) {
	var config net.ListenConfig
	for tries := 1; ; tries++ {
		l, err := config.Listen(ctx, "tcp4", net.JoinHostPort(r.Address, strconv.Itoa(r.Port)))
		if !errors.Is(err, syscall.EADDRINUSE) || tries == 5 || p.servedElsewhere(r.ID) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// servedElsewhere says whether another provider, in this process or another, serves the machine.
func (p *process) servedElsewhere(id string) bool {
	if _, err := os.Stat(p.files.node(id)); err != nil {
		return false
	}
	f, err := tryLock(p.files.file(id, "serving"))
	if f != nil {
		_ = f.Close()
	}
	return f == nil && err == nil
}

func (p *process) alive(r *record) (bool, string) {
	const note = "in-process SSH server, shares this host's file system"
	p.mu.Lock()
	s := p.servers[r.ID]
	p.mu.Unlock()
	if s != nil && s.serving() || p.servedElsewhere(r.ID) {
		return true, note
	}
	return false, note + "; not being served"
}

func (p *process) stop(ctx context.Context, r *record) error {
	p.mu.Lock()
	s := p.servers[r.ID]
	delete(p.servers, r.ID)
	p.mu.Unlock()
	if s != nil {
		if err := s.close(); err != nil {
			return err
		}
	} else if p.servedElsewhere(r.ID) {
		p.dismiss(ctx, r)
	}
	return killNode(ctx, r.ID, p.files.node(r.ID))
}

// goneFile, in a machine's directory, tells its server to stop at the next knock.
const goneFile = "gone"

// dismiss makes another process stop serving a machine.
func (p *process) dismiss(ctx context.Context, r *record) {
	if err := os.WriteFile(p.files.file(r.ID, goneFile), nil, 0o600); err != nil {
		return
	}
	var d net.Dialer
	if c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(r.Address, strconv.Itoa(r.Port))); err == nil {
		_ = c.Close()
	}
}

func (p *process) tidy(context.Context, bool) {}

func (p *process) close() error {
	p.mu.Lock()
	p.closed = true
	servers := p.servers
	p.servers = make(map[string]*server)
	p.mu.Unlock()
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// serverConfig lets in the one key, under any user name, and certificates that it has signed for the machine's user. It proves
// itself with the given host key.
func serverConfig(l layout, id, user string) (*ssh.ServerConfig, error) {
	private, err := os.ReadFile(l.file(id, "host_key"))
	if err != nil {
		return nil, err
	}
	host, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return nil, err
	}
	if _, err := l.authorized(id); err != nil {
		return nil, err
	}
	c := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-MusterSandbox",
		MaxAuthTries:  20,
		PublicKeyCallback: func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			// Read for every login, since another process may have given the machine to another node.
			authorized, err := l.authorized(id)
			if err != nil {
				return nil, err
			}
			return letIn(authorized, user)(c, k)
		},
	}
	c.AddHostKey(host)
	return c, nil
}

// authorized returns the one key that is let in.
func (l layout) authorized(id string) (ssh.PublicKey, error) {
	line, err := os.ReadFile(filepath.Join(l.node(id), "authorized_key"))
	if err != nil {
		return nil, err
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(line)
	return key, err
}
