//go:build unix

package fake

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// nodeVariable marks every process of a node: even one that has left its session ends with its machine.
const nodeVariable = "MUSTER_FAKE_NODE"

const nodePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// node is one machine: a listener, its connections and the commands that it runs.
type node struct {
	all      *Nodes
	dir      string
	config   *ssh.ServerConfig
	allowed  atomic.Pointer[ssh.PublicKey]
	listener net.Listener
	seen     bool // its machine has been there; under the lock of all

	mu     sync.Mutex
	gone   bool
	conns  map[net.Conn]struct{}
	groups map[int]struct{} // process groups of commands
}

func serverConfig(host ssh.Signer, allowed func() ssh.PublicKey) *ssh.ServerConfig {
	c := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-MusterFake",
		PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if bytes.Equal(k.Marshal(), allowed().Marshal()) {
				return &ssh.Permissions{}, nil
			}
			return nil, errors.New("this key isn't authorized")
		},
	}
	c.AddHostKey(host)
	return c
}

func (m *node) busy() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.groups)
}

func (m *node) drop() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.conns {
		_ = c.Close()
	}
	return len(m.conns) > 0
}

// stop ends the node as a host does that loses its power.
func (m *node) stop() {
	_ = m.listener.Close()
	m.mu.Lock()
	m.gone = true
	for pid := range m.groups {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	m.mu.Unlock()
	endMarked(nodeVariable + "=" + m.dir)
	m.drop()
}

func (m *node) accept() {
	for {
		c, err := m.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely
			time.Sleep(50 * time.Millisecond)
			continue
		}
		m.mu.Lock()
		if m.gone {
			m.mu.Unlock()
			_ = c.Close()
			return
		}
		m.conns[c] = struct{}{}
		m.mu.Unlock()
		m.all.work.Go(func() {
			m.serve(c)
			_ = c.Close()
			m.mu.Lock()
			delete(m.conns, c)
			m.mu.Unlock()
		})
	}
}

func (m *node) serve(raw net.Conn) {
	_ = raw.SetDeadline(time.Now().Add(30 * time.Second))
	conn, chans, reqs, err := ssh.NewServerConn(raw, m.config)
	if err != nil {
		return
	}
	_ = raw.SetDeadline(time.Time{})
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { ssh.DiscardRequests(reqs) })
	for nc := range chans {
		if nc.ChannelType() != "session" {
			_ = nc.Reject(ssh.UnknownChannelType, "only sessions are supported")
			continue
		}
		ch, chReqs, err := nc.Accept()
		if err == nil {
			work.Go(func() { m.session(conn, ch, chReqs) })
		}
	}
}

// session runs one command the way sshd does: the exit status is sent as soon as the command has ended, the channel is
// closed when no one holds its outputs any more, and a command whose client has gone is left to itself.
func (m *node) session(conn ssh.Conn, ch ssh.Channel, reqs <-chan *ssh.Request) {
	var cmd *exec.Cmd
	var work sync.WaitGroup
	for r := range reqs {
		ok := false
		switch {
		case r.Type == "exec" && cmd == nil:
			var line struct{ Command string }
			if ssh.Unmarshal(r.Payload, &line) != nil {
				break
			}
			if r.WantReply {
				_ = r.Reply(true, nil) // before anything that the command may send
				r.WantReply = false
			}
			if cmd = m.start(line.Command, conn, ch, &work); cmd == nil {
				_ = ch.Close()
			}
		case r.Type == "signal" && cmd != nil:
			var sig struct{ Name string }
			if ssh.Unmarshal(r.Payload, &sig) == nil && sig.Name == string(ssh.SIGTERM) {
				ok = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) == nil
			}
		}
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
	}
	_ = ch.Close()
	work.Wait()
}

// start returns nil where the command cannot be started.
func (m *node) start(line string, conn ssh.Conn, ch ssh.Channel, work *sync.WaitGroup) *exec.Cmd {
	home := filepath.Join(m.dir, "home")
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "TMPDIR=" + filepath.Join(m.dir, "tmp"), "PATH=" + strings.TrimPrefix(m.all.Path+":"+nodePath, ":"), "SHELL=/bin/sh", "USER=root", "LOGNAME=root",
		nodeVariable + "=" + m.dir, "MUSTER_STATE_ROOT=" + filepath.Join(home, ".muster")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, inErr := cmd.StdinPipe()
	outR, outW, outErr := os.Pipe()
	errR, errW, errErr := os.Pipe()
	if errors.Join(inErr, outErr, errErr) != nil {
		closeAll(outR, outW, errR, errW)
		return nil
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone || cmd.Start() != nil {
		closeAll(outR, outW, errR, errW)
		return nil
	}
	closeAll(outW, errW)
	m.all.count()
	m.groups[cmd.Process.Pid] = struct{}{}
	work.Go(func() {
		_, _ = io.Copy(in, ch)
		_ = in.Close()
	})
	var outputs sync.WaitGroup
	// A reading end that is closed breaks the pipe of a writer.
	outputs.Go(func() { _, _ = io.Copy(ch, outR); _ = outR.Close() })
	outputs.Go(func() { _, _ = io.Copy(ch.Stderr(), errR); _ = errR.Close() })
	work.Go(func() { m.attend(cmd, conn, ch, &outputs) })
	return cmd
}

// attend waits for a command, and tells how it ended unless that is to be lost.
func (m *node) attend(cmd *exec.Cmd, conn ssh.Conn, ch ssh.Channel, outputs *sync.WaitGroup) {
	_ = cmd.Wait() // the status is read from the state below
	m.mu.Lock()
	delete(m.groups, cmd.Process.Pid)
	m.mu.Unlock()
	if m.all.losesExit() {
		_ = conn.Close()
		outputs.Wait()
		return
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		name := map[syscall.Signal]ssh.Signal{syscall.SIGKILL: ssh.SIGKILL, syscall.SIGTERM: ssh.SIGTERM, syscall.SIGHUP: ssh.SIGHUP}[status.Signal()]
		_, _ = ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Signal   string
			Core     bool
			Message  string
			Language string
		}{Signal: string(name)}))
	} else {
		_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status.ExitStatus())}))
	}
	outputs.Wait()
	_ = ch.Close()
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
