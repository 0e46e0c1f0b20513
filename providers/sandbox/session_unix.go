//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"muster/app"
)

// session is one session channel: at most one command, shell or subsystem.
type session struct {
	server *server
	client string // as OpenSSH has it in SSH_CLIENT: the client's address and port, and the machine's port
	ch     ssh.Channel
	env    []string
	term   string
	size   window

	cmd      *exec.Cmd
	terminal *os.File // our end of the pseudo-terminal, nil without one
	done     chan struct{}
}

// window is the size of a terminal in characters.
type window struct{ columns, rows uint32 }

// grace is what a cancelled command gets between SIGTERM and SIGKILL.
const grace = time.Second

// nodeVariable marks every process of a machine, which is how Delete finds them.
const nodeVariable = "MUSTER_SANDBOX_NODE"

// stateVariable tells automators where to keep what they keep on a machine: in its folder, since the machines of this
// mode share the host's file system even where root makes them.
const stateVariable = "MUSTER_STATE_ROOT"

func newSession(s *server, ch ssh.Channel, client string) *session {
	return &session{server: s, client: client, ch: ch, done: make(chan struct{})}
}

// serve answers the channel's requests until the channel is closed or ctx is done. A command that runs by then
// is ended with its process group.
func (s *session) serve(ctx context.Context, requests <-chan *ssh.Request) {
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	started := false
	for {
		select {
		case <-ctx.Done():
			_ = s.ch.Close()
			// The requests end now, since the channel is closed.
			for r := range requests {
				reply(r, false)
			}
			return
		case r, open := <-requests:
			if !open {
				_ = s.ch.Close()
				return
			}
			switch r.Type {
			case "exec", "shell", "subsystem":
				run := s.prepare(r)
				ok := run != nil && !started
				reply(r, ok)
				if ok {
					started = true
					work.Go(func() { run(ctx) })
				}
			default:
				reply(r, s.request(r, started))
			}
		}
	}
}

func reply(r *ssh.Request, ok bool) {
	if r.WantReply {
		_ = r.Reply(ok, nil)
	}
}

// request answers all but the three that start something.
func (s *session) request(r *ssh.Request, started bool) bool {
	switch r.Type {
	case "env":
		var kv struct{ Name, Value string }
		if ssh.Unmarshal(r.Payload, &kv) != nil || started || kv.Name != "LANG" && !strings.HasPrefix(kv.Name, "LC_") {
			return false
		}
		s.env = append(s.env, kv.Name+"="+kv.Value)
		return true
	case "pty-req":
		var p struct {
			Term                         string
			Columns, Rows, Width, Height uint32
			Modes                        string
		}
		if ssh.Unmarshal(r.Payload, &p) != nil || started || !haveTerminals {
			return false
		}
		s.term, s.size = p.Term, window{p.Columns, p.Rows}
		return true
	case "window-change":
		var w struct{ Columns, Rows, Width, Height uint32 }
		if ssh.Unmarshal(r.Payload, &w) != nil {
			return false
		}
		s.resize(window{w.Columns, w.Rows})
		return true
	case "signal":
		var sig struct{ Name string }
		return ssh.Unmarshal(r.Payload, &sig) == nil && s.signal(signals[ssh.Signal(sig.Name)])
	}
	return false
}

// prepare returns what is to run for a request, nil if it is malformed or asks for something unknown.
func (s *session) prepare(r *ssh.Request) func(context.Context) {
	var p struct{ Text string }
	if r.Type != "shell" && ssh.Unmarshal(r.Payload, &p) != nil {
		return nil
	}
	switch {
	case r.Type == "exec":
		return s.start(exec.Command("/bin/sh", "-c", p.Text))
	case r.Type == "shell":
		shell := exec.Command("/bin/sh")
		shell.Args[0] = "-sh"
		return s.start(shell)
	case p.Text == "sftp":
		return func(context.Context) {
			s.exit(serveFiles(s.ch, s.server.files.file(s.server.id, "home")))
		}
	}
	return nil
}

// start starts a command at once, so that signals that follow find it, and returns what waits for it. Nil if it cannot
// be started.
func (s *session) start(cmd *exec.Cmd) func(context.Context) {
	if s.cmd != nil || s.server.dismissed() {
		return nil
	}
	if err := s.server.usage.roomForProcess(); err != nil {
		return func(context.Context) {
			e := app.AsError(err)
			_, _ = fmt.Fprintf(s.ch.Stderr(), "muster: command not started: %s\n%s\n", e.Message, e.Hint)
			s.exit(status{code: 1})
		}
	}
	home := s.server.files.file(s.server.id, "home")
	cmd.Dir = home
	cmd.Env = append([]string{
		"HOME=" + home, "TMPDIR=" + s.server.files.file(s.server.id, "tmp"), "PATH=" + processPath, "SHELL=/bin/sh",
		"USER=" + s.server.user, "LOGNAME=" + s.server.user, nodeVariable + "=" + s.server.id,
		stateVariable + "=" + home + "/.muster",
	}, s.env...)
	if s.client != "" {
		cmd.Env = append(cmd.Env, "SSH_CLIENT="+s.client)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var p *plumbing
	var err error
	if s.term != "" {
		cmd.Env = append(cmd.Env, "TERM="+s.term)
		p, err = s.openTerminal(cmd)
	} else {
		p, err = openPipes(cmd)
	}
	if err == nil {
		s.server.beforeStart()
		err = cmd.Start()
		p.closeTheirs()
		if err != nil {
			p.closeOurs()
		}
	}
	if err != nil {
		s.server.log.Warn("sandbox machine can't start a command", "machine", s.server.id, "error", err)
		return nil
	}
	s.cmd = cmd
	if s.server.dismissed() {
		// A concurrent delete may have looked for its processes before there was this one.
		s.ended()
		p.closeOurs()
		return nil
	}
	return func(ctx context.Context) { s.attend(ctx, p) }
}

const processPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// ended ends a command of a machine that is gone, and all that it has started.
func (s *session) ended() {
	_ = unix.Kill(-s.cmd.Process.Pid, unix.SIGKILL)
	_ = s.cmd.Wait()
	close(s.done)
	ctx, cancel := context.WithTimeout(context.Background(), goneTime)
	defer cancel()
	if err := killNode(ctx, s.server.id, s.server.files.node(s.server.id)); err != nil {
		s.server.log.Warn("a process on a deleted sandbox machine doesn't exit", "machine", s.server.id, "error", err)
	}
}

// goneTime is how long the processes of a machine that is gone may take to end.
const goneTime = 10 * time.Second

// attend carries data to and fro until the command has ended and all that it wrote is sent.
func (s *session) attend(ctx context.Context, p *plumbing) {
	var input, output sync.WaitGroup
	input.Go(func() {
		_, _ = io.Copy(p.in, s.ch)
		p.endInput()
	})
	for _, o := range p.out {
		output.Go(func() { drain(o.from, o.to(s.ch)) })
	}
	ended := make(chan struct{})
	go func() { // ends with the command, which ends at the latest when the context does
		_ = s.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s.end(ended)
	}
	close(s.done)
	// Whatever it left in the background may hold the pipes open forever; only what is in them by now is waited for.
	p.lastCall()
	output.Wait()
	s.exit(exitStatus(s.cmd.ProcessState))
	p.closeOurs()
	input.Wait()
}

// end ends the command's process group: politely, then surely.
func (s *session) end(ended <-chan struct{}) {
	s.signal(syscall.SIGTERM)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-ended:
		// Its children may have outlived it; the group exists until the last one is gone.
		_ = unix.Kill(-s.cmd.Process.Pid, unix.SIGKILL)
	case <-t.C:
		_ = unix.Kill(-s.cmd.Process.Pid, unix.SIGKILL)
		<-ended
	}
}

// signal sends a signal to the command's process group; false if there is none.
func (s *session) signal(sig syscall.Signal) bool {
	if s.cmd == nil || s.cmd.Process == nil || sig == 0 {
		return false
	}
	select {
	case <-s.done:
		return false // its number may be another's by now
	default:
	}
	return unix.Kill(-s.cmd.Process.Pid, sig) == nil
}

// status is how something ended: a number, or the name of the signal that ended it.
type status struct {
	code   uint32
	signal string
}

func exitStatus(p *os.ProcessState) status {
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		for name, sig := range signals {
			if sig == w.Signal() {
				return status{signal: string(name)}
			}
		}
		return status{code: 128 + uint32(w.Signal())}
	}
	return status{code: uint32(p.ExitCode())}
}

// exit tells the client how it ended and closes the channel.
func (s *session) exit(st status) {
	_ = s.ch.CloseWrite()
	if st.signal != "" {
		_, _ = s.ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Signal   string
			Core     bool
			Message  string
			Language string
		}{Signal: st.signal}))
	} else {
		_, _ = s.ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{st.code}))
	}
	_ = s.ch.Close()
}

var signals = map[ssh.Signal]syscall.Signal{
	ssh.SIGABRT: syscall.SIGABRT, ssh.SIGALRM: syscall.SIGALRM, ssh.SIGFPE: syscall.SIGFPE, ssh.SIGHUP: syscall.SIGHUP,
	ssh.SIGILL: syscall.SIGILL, ssh.SIGINT: syscall.SIGINT, ssh.SIGKILL: syscall.SIGKILL, ssh.SIGPIPE: syscall.SIGPIPE,
	ssh.SIGQUIT: syscall.SIGQUIT, ssh.SIGSEGV: syscall.SIGSEGV, ssh.SIGTERM: syscall.SIGTERM, ssh.SIGUSR1: syscall.SIGUSR1,
	ssh.SIGUSR2: syscall.SIGUSR2,
}

// plumbing connects a command with the channel.
type plumbing struct {
	in       *os.File
	out      []outlet
	theirs   []*os.File
	terminal bool
}

// outlet is one stream from the command to the client.
type outlet struct {
	from *os.File
	to   func(ssh.Channel) io.Writer
}

func toOutput(ch ssh.Channel) io.Writer { return ch }
func toError(ch ssh.Channel) io.Writer  { return ch.Stderr() }

func openPipes(cmd *exec.Cmd) (*plumbing, error) {
	p := &plumbing{}
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.in, cmd.Stdin = ours, in
	p.theirs = append(p.theirs, in)
	for _, o := range []struct {
		set func(*os.File)
		to  func(ssh.Channel) io.Writer
	}{
		{func(f *os.File) { cmd.Stdout = f }, toOutput},
		{func(f *os.File) { cmd.Stderr = f }, toError},
	} {
		from, theirs, err := os.Pipe()
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
			return nil, err
		}
		o.set(theirs)
		p.theirs = append(p.theirs, theirs)
		p.out = append(p.out, outlet{from, o.to})
	}
	return p, nil
}

// endInput tells the command that nothing more comes. A terminal has no such end: there one types it.
func (p *plumbing) endInput() {
	if !p.terminal {
		_ = p.in.Close()
	}
}

func (p *plumbing) closeTheirs() {
	if p == nil {
		return
	}
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

func (p *plumbing) closeOurs() {
	if p == nil {
		return
	}
	_ = p.in.Close()
	for _, o := range p.out {
		_ = o.from.Close()
	}
}

// lastCall makes reads that would have to wait fail.
func (p *plumbing) lastCall() {
	for _, o := range p.out {
		_ = o.from.SetReadDeadline(time.Now())
	}
}

// drain copies until the end, or, after the last call, until there is nothing to read just now.
func drain(from *os.File, to io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = readNow(from, buffer)
		}
		if n > 0 {
			if _, werr := to.Write(buffer[:n]); werr != nil {
				return
			}
		}
		if err != nil || n == 0 {
			return
		}
	}
}

// readNow reads what is there without waiting.
func readNow(f *os.File, buffer []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	// Control, unlike Read, does not mind the deadline; pipes and terminals of Go's do not block.
	cerr := raw.Control(func(fd uintptr) { n, err = unix.Read(int(fd), buffer) })
	return max(n, 0), errors.Join(err, cerr)
}
