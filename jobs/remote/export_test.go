package remote

import (
	"context"
	"io"
	"io/fs"
	"time"

	"muster/app/family"
)

// Limits are what tests make shorter; zero keeps the real one.
type Limits struct {
	Dial, Keepalive, AuthGrace, KillAfter, Drain time.Duration
	Output, Rate, Burst                          int
}

func (l Limits) settings() settings {
	s := defaults()
	set := func(to *time.Duration, d time.Duration) {
		if d != 0 {
			*to = d
		}
	}
	set(&s.dialLimit, l.Dial)
	set(&s.keepalive, l.Keepalive)
	set(&s.authGrace, l.AuthGrace)
	set(&s.killAfter, l.KillAfter)
	set(&s.drain, l.Drain)
	if l.Output != 0 {
		s.outputMax = l.Output
	}
	if l.Rate != 0 {
		s.rate, s.burst = l.Rate, l.Burst
	}
	return s
}

func (l Limits) DialTo(ctx context.Context, t Target) (*Conn, error) {
	return dial(ctx, t, l.settings())
}
func (l Limits) WaitFor(ctx context.Context, t Target) (*Conn, error) {
	return wait(ctx, t, l.settings())
}
func (l Limits) Pool(o PoolOptions) *Pool { return newPool(o, l.settings()) }

func (c *Conn) PutWith(ctx context.Context, name string, mode fs.FileMode, r io.Reader, atOnce, limit int64) error {
	return c.putWith(ctx, name, mode, r, nil, atOnce, limit)
}

func SetHostsIn(ctx context.Context, sh family.Shell, file string, e []family.HostEntry) error {
	return writeHosts(ctx, sh, hostsWrite{file: file, entries: e})
}

func RewriteHostsIn(ctx context.Context, sh family.Shell, file string, e []family.HostEntry) error {
	return writeHosts(ctx, sh, hostsWrite{file: file, entries: e, ask: true})
}

func AddHostsIn(ctx context.Context, sh family.Shell, file string, e []family.HostEntry) error {
	return writeHosts(ctx, sh, hostsWrite{file: file, entries: e, add: true})
}

func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

func WrapperFor(input string) string { return invocation{input: input}.wrapper() }

// ExitWithoutHello is what a command's end is reported as when the exit code arrives without any of the wrapper's own lines.
func (c *Conn) ExitWithoutHello(code int) error {
	r := &running{conn: c, code: code, sink: newSink(nil, c.set), drained: make(chan struct{})}
	close(r.drained)
	_, err := r.wait(context.Background())
	return err
}

// OpenFilesWith is OpenFiles for lists of so many bytes.
func (c *Conn) OpenFilesWith(ctx context.Context, listMax int64) (family.Files, error) {
	return c.openFiles(ctx, listMax)
}

// IsHostName is isHostName.
func IsHostName(name string) bool { return isHostName(name) }
