package static

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"muster/providers/providertest"
)

// box is a static machine: an SSH server in this process whose commands are run by this host's sh, with directories of its own. It accepts any user
// in its
// authorized_keys.
type box struct {
	name, home, root, bin string
	host                  ssh.Signer
	listener              net.Listener
	work                  sync.WaitGroup

	silent     atomic.Bool // it accepts connections and says nothing
	refuse     atomic.Bool // it lets no one in
	handshakes *counter
	runs       atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
	cmds  map[int]bool
}

// counted tells when the other side speaks first, which it does in its handshake.
type counted struct {
	net.Conn
	once  sync.Once
	first func()
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.once.Do(c.first)
	}
	return n, err
}

// counter knows how many were there at once.
type counter struct{ now, most atomic.Int64 }

func (c *counter) in() {
	n := c.now.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
}

func newKey(t testing.TB) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s, string(pem.EncodeToMemory(block))
}

// Programs that must not be this host's own: they would change its name, or wait for its disks.
var shims = map[string]string{
	"hostname":    `if [ $# = 0 ]; then cat "$MUSTER_STATIC_ROOT/name"; else printf '%s\n' "$1" >"$MUSTER_STATIC_ROOT/name"; fi`,
	"hostnamectl": "exit 1",
	"sysctl":      "exit 1",
	"sync":        "exit 0",
}

func newBox(t testing.TB, name string, admin ssh.PublicKey, handshakes *counter) *box {
	t.Helper()
	dir := t.TempDir()
	b := &box{name: name, home: filepath.Join(dir, "home"), root: filepath.Join(dir, "root"), bin: filepath.Join(dir, "bin"), handshakes: handshakes, conns: map[net.Conn]bool{}, cmds: map[int]bool{}}
	for _, d := range []string{b.home + "/.ssh", b.root + "/etc", b.bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for n, text := range shims {
		b.shim(t, n, text)
	}
	b.write(t, b.root+"/name", name+"\n")
	b.write(t, b.root+"/etc/hostname", name+"\n")
	b.write(t, b.home+"/.ssh/authorized_keys", providertest.AuthorizedKey(admin)+" the admin\n")
	b.host, _ = newKey(t)
	b.start(t, "127.0.0.1:0")
	t.Cleanup(b.stop)
	return b
}

func (b *box) shim(t testing.TB, name, text string) {
	t.Helper()
	// Beside and moved, since a program that is being written cannot be run.
	b.write(t, b.bin+"/.new", "#!/bin/sh\n"+text+"\n")
	if err := errors.Join(os.Chmod(b.bin+"/.new", 0o755), os.Rename(b.bin+"/.new", b.bin+"/"+name)); err != nil {
		t.Fatal(err)
	}
}

func (b *box) write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (b *box) read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

func (b *box) record() string { return b.read(b.root + "/var/lib/muster/checkout/record") }

func (b *box) start(t testing.TB, address string) {
	t.Helper()
	var err error
	if b.listener, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	b.work.Go(func() { b.accept(b.listener) })
}

// stop ends the machine; start with address has it again.
func (b *box) stop() {
	_ = b.listener.Close()
	b.cut()
	b.mu.Lock()
	for pid := range b.cmds {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	b.mu.Unlock()
	b.work.Wait()
}

// cut ends all connections.
func (b *box) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		_ = c.Close()
	}
}

// key is what the machine proves itself with; show changes it.
func (b *box) key() ssh.Signer { b.mu.Lock(); defer b.mu.Unlock(); return b.host }

func (b *box) show(key ssh.Signer) { b.mu.Lock(); defer b.mu.Unlock(); b.host = key }

func (b *box) address() string { return b.listener.Addr().String() }

// line is the machine's line of an inventory.
func (b *box) line(shellwords string) string {
	_, port, _ := net.SplitHostPort(b.address())
	return fmt.Sprintf("%s 127.0.0.1 port=%s host_key=%q %s\n", b.name, port, providertest.AuthorizedKey(b.host.PublicKey()), shellwords)
}

func (b *box) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b.mu.Lock()
		b.conns[c] = true
		b.mu.Unlock()
		b.work.Go(func() {
			b.serve(c)
			_ = c.Close()
			b.mu.Lock()
			delete(b.conns, c)
			b.mu.Unlock()
		})
	}
}

func (b *box) serve(raw net.Conn) {
	if b.silent.Load() {
		_, _ = io.Copy(io.Discard, raw)
		return
	}
	var over sync.Once
	var began atomic.Bool
	done := func() {
		if began.Load() {
			over.Do(func() { b.handshakes.now.Add(-1) })
		}
	}
	conf := &ssh.ServerConfig{PublicKeyCallback: func(m ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if !b.refuse.Load() && m.User() != "daemon" {
			for _, line := range strings.Split(b.read(b.home+"/.ssh/authorized_keys"), "\n") {
				if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err == nil && bytes.Equal(key.Marshal(), k.Marshal()) {
					done() // here, since the client may continue before our side has returned
					return nil, nil
				}
			}
		}
		return nil, errors.New("refused")
	}}
	conf.AddHostKey(b.key())
	defer done()
	conn, channels, requests, err := ssh.NewServerConn(&counted{Conn: raw, first: func() { began.Store(true); b.handshakes.in() }}, conf)
	if err != nil {
		return
	}
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { ssh.DiscardRequests(requests) })
	for n := range channels {
		ch, reqs, err := n.Accept()
		if err != nil {
			continue
		}
		work.Go(func() { b.session(ch, reqs) })
	}
	_ = conn.Close()
}

func (b *box) session(ch ssh.Channel, requests <-chan *ssh.Request) {
	var work sync.WaitGroup
	defer work.Wait()
	for r := range requests {
		var p struct{ Command string }
		ok := r.Type == "exec" && ssh.Unmarshal(r.Payload, &p) == nil
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
		if ok {
			b.runs.Add(1)
			work.Go(func() { b.run(ch, p.Command) })
		}
	}
}

func (b *box) run(ch ssh.Channel, command string) {
	defer func() { _ = ch.Close() }()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir = b.home
	cmd.Env = []string{"HOME=" + b.home, "PATH=" + b.bin + ":/usr/sbin:/usr/bin:/sbin:/bin", "MUSTER_STATIC_ROOT=" + b.root, "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	b.mu.Lock()
	b.cmds[cmd.Process.Pid] = true
	b.mu.Unlock()
	go func() { // ends with the channel
		_, _ = io.Copy(in, ch)
		_ = in.Close()
	}()
	_ = cmd.Wait()
	b.mu.Lock()
	delete(b.cmds, cmd.Process.Pid)
	b.mu.Unlock()
	_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(max(cmd.ProcessState.ExitCode(), 0))}))
}

// farm is some machines and the key that opens them.
type farm struct {
	t          testing.TB
	boxes      []*box
	admin      ssh.PublicKey
	pem        string
	handshakes counter
}

func newFarm(t testing.TB, n int) *farm {
	t.Helper()
	f := &farm{t: t}
	admin, text := newKey(t)
	f.admin, f.pem = admin.PublicKey(), text
	for i := range n {
		f.boxes = append(f.boxes, newBox(t, fmt.Sprintf("m%d", i+1), f.admin, &f.handshakes))
	}
	return f
}

// settings are an account's with all machines in it; more are pairs of names and values.
func (f *farm) settings(shellwords string, more ...string) map[string]any {
	var b strings.Builder
	for _, m := range f.boxes {
		b.WriteString(m.line(shellwords))
	}
	s := map[string]any{"machines": b.String(), "ssh_key": f.pem}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	return s
}

func (f *farm) open(t testing.TB, settings map[string]any, dir string) *provider {
	t.Helper()
	p, err := open(settings, Env{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// left is what machines keep of those who had them.
func (f *farm) left() []string {
	var out []string
	for _, b := range f.boxes {
		if b.record() != "" {
			out = append(out, b.name+" has a record")
		}
		if n := strings.Count(b.read(b.home+"/.ssh/authorized_keys"), "\n"); n != 1 {
			out = append(out, fmt.Sprintf("%s lets in %d keys", b.name, n))
		}
		if had := strings.TrimSpace(b.read(b.root + "/name")); had != b.name {
			out = append(out, b.name+" is called "+had)
		}
		entries, _ := os.ReadDir(b.home)
		for _, e := range entries {
			if e.Name() != ".ssh" {
				out = append(out, b.name+" keeps "+e.Name())
			}
		}
		entries, _ = os.ReadDir(b.root + "/var/lib/muster/checkout")
		for _, e := range entries {
			if e.Name() != "lock" && e.Name() != "had" && e.Name() != "record" {
				out = append(out, b.name+" keeps "+e.Name()+" in its state")
			}
		}
	}
	return out
}
