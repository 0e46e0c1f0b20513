package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app/family"
	"muster/providers/fake"
)

// fakeNodesVariable, when set, makes this program fake nodes of that kind: what they cost is not the engine's.
const fakeNodesVariable = "MUSTER_BENCH_FARM"

// The kinds of fake nodes.
const (
	fakeOpenSSH = "openssh" // sshd of OpenSSH answers at every address
	fakeQuiet   = "quiet"   // SSH servers in the process of the fake nodes that run nothing
)

// fakeNodesReady is what fake nodes report, as one line of JSON, once they are ready.
type fakeNodesReady struct {
	URL, Secret string
	Dir         string
	Addresses   []string // of OpenSSH, with ports
	HostKey     string   // in authorized_keys form
	Key         []byte   // PEM; opens every machine
}

// fakeNodes are a fake cloud in a process of its own, with machines that answer.
type fakeNodes struct {
	fakeNodesReady
	cmd  *exec.Cmd
	stop func()
}

func startFakeNodes(kind string) (*fakeNodes, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fakeNodesVariable+"="+kind)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &fakeNodes{cmd: cmd, stop: func() { _ = in.Close(); _ = cmd.Wait() }}
	line, err := bufio.NewReaderSize(out, 1<<20).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &f.fakeNodesReady)
	}
	if err != nil {
		f.stop()
		return nil, fmt.Errorf("fake nodes of kind %s didn't start: %w", kind, err)
	}
	return f, nil
}

// cloud is the fake nodes as a provider.
func (f *fakeNodes) cloud() (family.Provider, error) {
	return fake.Provider("cloud", map[string]any{"url": f.URL, "secret": f.Secret})
}

// ask returns a number that the fake nodes count: "connections" so far, commands that wait ("busy"), microseconds of CPU time that machines have
// "used" whose connections have ended. Asked to "open", it lets those that wait end.
func (f *fakeNodes) ask(what string) (n int, err error) {
	resp, err := http.Get(f.URL + "/" + what)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = fmt.Fscan(resp.Body, &n)
	return n, err
}

// used is the CPU time that the machines have used, once all connections have ended.
func (f *fakeNodes) used() (time.Duration, error) {
	n, err := f.ask("used")
	return time.Duration(n) * time.Microsecond, err
}

// runFakeNodes is the process of the fake nodes: it ends with its standard input.
func runFakeNodes(kind string) error {
	dir, err := os.MkdirTemp(memoryDir(), "muster-fake-nodes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	news := fakeNodesReady{Secret: rand.Text(), Dir: dir}
	cloud := fake.New("cloud")
	mux := http.NewServeMux()
	count := func(what string, f func() int) {
		mux.HandleFunc("GET /"+what, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, f()) })
	}
	switch kind {
	case fakeQuiet:
		q := newQuiet(dir)
		defer q.close()
		cloud.Bind(q.bind)
		count("busy", func() int { return int(q.waiting.Load()) })
		count("open", q.open)
	case fakeOpenSSH:
		children, err := adoptChildren()
		if err != nil {
			return err
		}
		s, err := newSSHD(dir)
		if err != nil {
			return err
		}
		defer s.close()
		cloud.Bind(s.bind)
		count("connections", func() int { return int(s.connections.Load()) })
		count("used", func() int { return int(children.used().Microseconds()) })
		news.Addresses, news.HostKey, news.Key = s.addresses, s.hostKey, s.key
	default:
		return fmt.Errorf("unknown kind of fake nodes: %q", kind)
	}
	mux.Handle("/", cloud.Serve(news.Secret))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	news.URL = "http://" + l.Addr().String()
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }()
	if err := json.NewEncoder(os.Stdout).Encode(news); err != nil {
		return err
	}
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return server.Shutdown(context.Background())
}

// memoryDir is where files of machines are: in memory, where this host has such a place. What all machines of a run have written is
// deleted at its end, and for minutes a file system such as ext4 looks at every place of a file that was deleted before it makes
// another one: then a run would pay for those before it.
func memoryDir() string {
	const shm = "/dev/shm"
	if f, err := os.Stat(shm); err != nil || !f.IsDir() {
		return ""
	}
	return shm
}

// sshd answers at many addresses of this host with the sshd of OpenSSH, one process for each connection, as sshd does by
// itself.
type sshd struct {
	dir, config string
	binary      string
	addresses   []string
	hostKey     string
	key         []byte
	listeners   []net.Listener
	connections atomic.Int64
	work        sync.WaitGroup

	mu    sync.Mutex
	known map[string]bool // keys let in
	next  int
}

func newSSHD(dir string) (*sshd, error) {
	binary, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		return nil, fmt.Errorf("sshd (apt-get install openssh-server): %w", err)
	}
	_ = os.MkdirAll("/run/sshd", 0o755) // asked for by some builds of sshd when it runs as root
	s := &sshd{dir: dir, binary: binary, config: filepath.Join(dir, "sshd_config"), known: map[string]bool{}}
	host, hostLine, err := newKey()
	if err != nil {
		return nil, err
	}
	s.hostKey = hostLine
	var line string
	if s.key, line, err = newKey(); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "host"), host, 0o600); err != nil {
		return nil, err
	}
	// A home of its own: what this user's shell does at its start is no cost of ours. What machines remember of claims must not be this host's.
	config := fmt.Sprintf("SetEnv HOME=%s MUSTER_STATE_ROOT=%s/state\nHostKey %s/host\nAuthorizedKeysFile %s/keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"+
		"PermitRootLogin prohibit-password\nMaxSessions 64\nLogLevel QUIET\nPidFile none\n", dir, dir, dir, dir)
	if err := os.WriteFile(s.config, []byte(config), 0o600); err != nil {
		return nil, err
	}
	if err := s.allow(line); err != nil {
		return nil, err
	}
	port := "0"
	for i := range machines {
		l, err := net.Listen("tcp4", net.JoinHostPort(fmt.Sprintf("127.66.%d.%d", i/250, i%250+1), port))
		if err != nil {
			s.close()
			return nil, err
		}
		_, port, _ = net.SplitHostPort(l.Addr().String())
		s.listeners = append(s.listeners, l)
		s.addresses = append(s.addresses, l.Addr().String())
		s.work.Go(func() { s.accept(l) })
	}
	return s, nil
}

func newKey() (private []byte, public string, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, "", err
	}
	block, err := ssh.MarshalPrivateKey(key, "bench")
	if err != nil {
		return nil, "", err
	}
	line, err := ssh.NewPublicKey(pub)
	if err != nil {
		return nil, "", err
	}
	return pem.EncodeToMemory(block), string(ssh.MarshalAuthorizedKey(line)), nil
}

func (s *sshd) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.connections.Add(1)
		s.work.Go(func() { s.serve(c.(*net.TCPConn)) })
	}
}

func (s *sshd) serve(c *net.TCPConn) {
	f, err := c.File()
	_ = c.Close()
	if err != nil {
		return
	}
	cmd := exec.Command(s.binary, "-i", "-f", s.config)
	cmd.Stdin, cmd.Stdout = f, f
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if cmd.Start() == nil { // reap sees its end
		_ = cmd.Process.Release()
	}
	_ = f.Close()
}

// allow lets a key in.
func (s *sshd) allow(line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[line] {
		return nil
	}
	s.known[line] = true
	f, err := os.OpenFile(filepath.Join(s.dir, "keys"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// bind binds a machine to the next address.
func (s *sshd) bind(spec family.MachineSpec) fake.Endpoint {
	nowhere := fake.Endpoint{Address: "127.0.0.1", Port: 1}
	if s.allow(spec.AuthorizedKey) != nil {
		return nowhere
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= len(s.listeners) {
		return nowhere
	}
	at := s.listeners[s.next].Addr().(*net.TCPAddr)
	s.next++
	return fake.Endpoint{Address: at.IP.String(), Port: at.Port, User: os.Getenv("USER"), HostKey: s.hostKey}
}

func (s *sshd) close() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
}
