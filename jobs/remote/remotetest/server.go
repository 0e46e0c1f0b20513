package remotetest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"muster/jobs/remote"
)

// Options make a server behave in another way than OpenSSH does.
type Options struct {
	User      string                   // who may come in; "" means root
	Env       []string                 // added to the environment of commands; PATH=x:$PATH works as one would think
	HostKey   ssh.Signer               // nil means a new ed25519 key
	NoSignals bool                     // "signal" requests are ignored
	NoSession bool                     // commands do not lead a session of their own
	Line      func(line string) string // changes a command before the login shell gets it
}

// Node is a machine for tests. Home, Temp and State are directories of its own: HOME, TMPDIR and the root of what
// automators keep (MUSTER_STATE_ROOT).
type Node struct {
	Home  string
	Temp  string
	State string

	target remote.Target
}

// Target is how to reach the node, with its host key pinned.
func (n *Node) Target() remote.Target { return n.target }

// Server is an SSH server in this process.
type Server struct {
	Node
	opt      Options
	allowed  ssh.PublicKey
	listener net.Listener
	loops    sync.WaitGroup

	dials  atomic.Int64
	execs  atomic.Int64
	refuse atomic.Bool
	frozen atomic.Bool

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	groups map[int]struct{}
}

// Start starts a server on 127.0.0.1. It stops when the test ends, together with all commands that still run.
func Start(t testing.TB, opt Options) *Server {
	t.Helper()
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: what runs on the node would ignore it as well
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	s := &Server{Node: newNode(t), opt: opt, conns: make(map[net.Conn]struct{}), groups: make(map[int]struct{})}
	key, pemKey := NewKey(t)
	s.allowed = key.PublicKey()
	if s.opt.HostKey == nil {
		s.opt.HostKey, _ = NewKey(t)
	}
	if s.opt.User == "" {
		s.opt.User = "root"
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.target = remote.Target{
		Address: "127.0.0.1", Port: s.listener.Addr().(*net.TCPAddr).Port, User: s.opt.User,
		HostKey: AuthorizedKey(s.opt.HostKey), PrivateKey: pemKey,
	}
	s.loops.Go(s.accept)
	t.Cleanup(s.Stop)
	return s
}

// Stop ends everything; a second time does nothing.
func (s *Server) Stop() {
	_ = s.listener.Close()
	s.Drop()
	s.mu.Lock()
	for pid := range s.groups {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	s.mu.Unlock()
	s.loops.Wait()
}

// Drop cuts all connections, as a network does that goes away.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

// Dials counts the connections that got in, Execs the commands.
func (s *Server) Dials() int { return int(s.dials.Load()) }

// Execs counts the commands that were run.
func (s *Server) Execs() int { return int(s.execs.Load()) }

// Refuse makes the server refuse every key, or accept the right one again.
func (s *Server) Refuse(yes bool) { s.refuse.Store(yes) }

// Freeze makes the server stop answering anything but keep its connections, as a machine that hangs.
func (s *Server) Freeze(yes bool) { s.frozen.Store(yes) }

// NewKey makes an ed25519 key, as a signer and as OpenSSH PEM.
func NewKey(t testing.TB) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

// AuthorizedKey returns the public part as one line without a line break.
func AuthorizedKey(s ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

func newNode(t testing.TB) Node {
	dir := t.TempDir()
	n := Node{Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "tmp"), State: filepath.Join(dir, "state")}
	for _, d := range []string{n.Home, n.Temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.loops.Go(func() {
			s.serve(c)
			_ = c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
	}
}

func (s *Server) serve(raw net.Conn) {
	conf := &ssh.ServerConfig{PublicKeyCallback: func(m ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if s.refuse.Load() || m.User() != s.opt.User || string(k.Marshal()) != string(s.allowed.Marshal()) {
			return nil, errors.New("refused")
		}
		s.dials.Add(1) // here, since the client may continue before the handshake has returned
		return nil, nil
	}}
	conf.AddHostKey(s.opt.HostKey)
	conn, chans, reqs, err := ssh.NewServerConn(raw, conf)
	if err != nil {
		return
	}
	var work sync.WaitGroup
	work.Go(func() {
		for r := range reqs {
			if r.WantReply && !s.frozen.Load() {
				_ = r.Reply(false, nil)
			}
		}
	})
	for nc := range chans {
		if nc.ChannelType() != "session" {
			_ = nc.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		ch, chReqs, err := nc.Accept()
		if err != nil {
			continue
		}
		work.Go(func() { s.session(ch, chReqs) })
	}
	_ = conn.Close()
	work.Wait()
}

// session runs one command the way sshd does: the exit status is sent as soon as the command has ended, the channel is
// closed when no one holds its outputs any more, and a command whose client has gone is left to itself.
func (s *Server) session(ch ssh.Channel, reqs <-chan *ssh.Request) {
	var cmd *exec.Cmd
	var work sync.WaitGroup
	for r := range reqs {
		ok := false
		switch {
		case r.Type == "exec" && cmd == nil:
			var m struct{ Command string }
			if ssh.Unmarshal(r.Payload, &m) == nil {
				s.execs.Add(1)
				_ = r.Reply(true, nil) // before anything that the command may send
				r.WantReply = false
				cmd = s.run(m.Command, ch, &work)
			}
		case r.Type == "signal" && cmd != nil && !s.opt.NoSignals:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		}
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
	}
	_ = ch.Close()
	work.Wait()
}

func (s *Server) run(line string, ch ssh.Channel, work *sync.WaitGroup) *exec.Cmd {
	if s.opt.Line != nil {
		line = s.opt.Line(line)
	}
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Env, cmd.Dir = s.environ(), s.Home
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: !s.opt.NoSession}
	inR, inW, outR, outW, errR, errW := pipes()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	err := cmd.Start()
	_, _, _ = inR.Close(), outW.Close(), errW.Close()
	if err != nil {
		panic(err)
	}
	if !s.opt.NoSession {
		s.mu.Lock()
		s.groups[cmd.Process.Pid] = struct{}{}
		s.mu.Unlock()
	}

	work.Go(func() {
		_, _ = io.Copy(inW, ch)
		_ = inW.Close()
	})
	var outputs sync.WaitGroup
	// A reading end that is closed breaks the pipe of a writer.
	outputs.Go(func() { _, _ = io.Copy(ch, outR); _ = outR.Close() })
	outputs.Go(func() { _, _ = io.Copy(ch.Stderr(), errR); _ = errR.Close() })
	work.Go(func() {
		_ = cmd.Wait()
		s.mu.Lock()
		delete(s.groups, cmd.Process.Pid)
		s.mu.Unlock()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if status.Signaled() {
			name := map[syscall.Signal]string{syscall.SIGKILL: "KILL", syscall.SIGTERM: "TERM", syscall.SIGHUP: "HUP"}[status.Signal()]
			_, _ = ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
				Signal string
				Core   bool
				Msg    string
				Lang   string
			}{Signal: name}))
		} else {
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status.ExitStatus())}))
		}
		outputs.Wait()
		_ = ch.Close()
	})
	return cmd
}

func pipes() (inR, inW, outR, outW, errR, errW *os.File) {
	files := make([]*os.File, 0, 6)
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		files = append(files, r, w)
	}
	return files[0], files[1], files[2], files[3], files[4], files[5]
}

func (s *Server) environ() []string {
	env := append(os.Environ(),
		"HOME="+s.Home, "TMPDIR="+s.Temp, "MUSTER_STATE_ROOT="+s.State, "USER="+s.opt.User)
	for _, kv := range s.opt.Env {
		env = append(env, strings.ReplaceAll(kv, "$PATH", os.Getenv("PATH")))
	}
	return env
}
