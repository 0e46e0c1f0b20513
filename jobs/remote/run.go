package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// killAfter is how long a command that was told to end is waited for.
const killAfter = 6 * time.Second

var errRefused = errors.New("the machine refused to run a command")

// Run carries out app.Shell. Of both outputs together 8 MiB are passed on, lines over 64 KiB come in pieces; bytes that
// are not UTF-8 come as U+FFFD. A command that a signal ended has exit code 128+n. When the command has ended
// but a process that it left running holds its outputs open, Run returns after two seconds of silence; such processes
// should have their outputs sent elsewhere.
//
// Without Stdin the command reads nothing. Line is visible to everyone on the node: secrets belong on Stdin.
func (c *Conn) Run(ctx context.Context, cmd app.Command, out app.Output) (int, error) {
	if ctx.Err() != nil {
		return 0, ended(ctx, "the command")
	}
	token, input := newToken(), inputOf(cmd)
	sudo := cmd.Sudo && c.target.user() != "root"
	line, err := wrapped(cmd, token, input, sudo)
	if err != nil {
		return 0, err
	}
	ch, reqs, err := c.open(ctx, line)
	if err != nil {
		return 0, c.openError(ctx, err)
	}
	r := &running{
		conn: c, ch: ch, token: token, sudo: sudo,
		lifeline: input != inputStream, sink: newSink(out, c.set.outputMax),
		broken: make(chan error, 1), started: make(chan struct{}), exited: make(chan struct{}), drained: make(chan struct{}),
	}
	defer r.sink.shut()
	defer ch.Close()
	r.start(reqs, cmd.Stdin)
	return r.wait(ctx)
}

func (c *Conn) openError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, "the command")
	}
	var open *ssh.OpenChannelError
	if errors.Is(err, errRefused) || errors.As(err, &open) {
		return &app.Error{Code: app.ETransient, Reason: "no_session", Message: "The machine at " + c.target.endpoint() + " opens no session", Err: err}
	}
	return c.lost(err)
}

// running is one command under way.
type running struct {
	conn  *Conn
	ch    ssh.Channel
	token string
	sudo  bool
	// lifeline tells that the end of the session's standard input ends the command.
	lifeline bool
	sink     *sink
	last     tail

	pid     atomic.Int64  // of the process group; 0 until the wrapper has told
	started chan struct{} // closed when pid is known
	noInput atomic.Bool   // the wrapper could not take the standard input
	broken  chan error    // reading the standard input failed

	exited  chan struct{} // closed when the exit code is known or will never be
	code    int           // with exited closed; -1 is unknown
	drained chan struct{} // closed when both outputs have ended
}

func (r *running) start(reqs <-chan *ssh.Request, stdin io.Reader) {
	go r.requests(reqs)
	var outputs sync.WaitGroup
	outputs.Go(func() { r.sink.read(app.StreamOut, r.ch, nil) })
	outputs.Go(func() { r.sink.read(app.StreamErr, r.ch.Stderr(), r.hello) })
	go func() {
		outputs.Wait()
		close(r.drained)
	}()
	if stdin != nil {
		go r.feed(stdin)
	}
}

// requests waits for the exit code.
func (r *running) requests(reqs <-chan *ssh.Request) {
	r.code = -1
	told := false
	tell := func(code int) {
		if !told {
			told, r.code = true, code
			close(r.exited)
		}
	}
	for req := range reqs {
		switch req.Type {
		case "exit-status":
			var m struct{ Status uint32 }
			if ssh.Unmarshal(req.Payload, &m) == nil {
				tell(int(m.Status))
			}
		case "exit-signal":
			var m struct {
				Signal     string
				CoreDumped bool
				Error      string
				Lang       string
			}
			if ssh.Unmarshal(req.Payload, &m) == nil {
				tell(128 + signalNumber(m.Signal))
			}
		}
		if req.WantReply {
			_ = req.Reply(false, nil)
		}
	}
	tell(-1)
}

// hello picks the wrapper's own lines out of the standard error. Something may stand before them on the same line.
func (r *running) hello(line []byte) (rest []byte, mine bool) {
	before, after, found := bytes.Cut(line, []byte(r.token+" "))
	if found {
		pid, err := strconv.Atoi(string(after))
		switch {
		case r.pid.Load() == 0 && err == nil && pid > 0:
			r.pid.Store(int64(pid))
			close(r.started)
			return before, true
		case string(after) == "stdin":
			r.noInput.Store(true)
			return before, true
		}
	}
	r.last.set(clean(line))
	return line, false
}

// feed writes the standard input. Only a stream is ended; otherwise the open end is the lifeline. An input that breaks off
// is not ended either: the command must not take it for all there is.
func (r *running) feed(stdin io.Reader) {
	_, err := io.Copy(r.ch, onlyReader{stdin})
	// Writing fails with io.EOF when the command has ended without reading all of it, which it is free to do.
	if err != nil && !errors.Is(err, io.EOF) {
		r.broken <- err
		return
	}
	if !r.lifeline {
		_ = r.ch.CloseWrite()
	}
}

// onlyReader hides WriteTo, by which a bytes.Reader would hand over everything in one write.
type onlyReader struct{ io.Reader }

func (r *running) wait(ctx context.Context) (int, error) {
	select {
	case <-r.exited:
	case <-ctx.Done():
		r.kill(ctx)
		return 0, ended(ctx, "the command")
	case err := <-r.broken:
		r.kill(ctx)
		return 0, fmt.Errorf("reading the standard input: %w", err)
	}
	if r.code < 0 {
		if ctx.Err() != nil {
			return 0, ended(ctx, "the command")
		}
		return 0, r.conn.lost(nil)
	}
	r.drain(ctx)
	if r.noInput.Load() {
		return 0, &app.Error{
			Code: app.ECapacity, Reason: "stdin",
			Message: because("The machine at "+r.conn.target.endpoint()+" could not take the command's input", r.last.String()),
			Hint:    "Its temporary directory must be writable and have room.",
		}
	}
	if r.pid.Load() == 0 {
		return 0, r.neverStarted()
	}
	return r.code, nil
}

// drain waits for what the command said before it ended.
func (r *running) drain(ctx context.Context) {
	r.sink.last.Store(time.Now().UnixNano())
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.drained:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			if r.sink.quiet(r.conn.set.drain) {
				r.sink.say(app.StreamSystem, "a process that the command left running holds its output open; what it says is not kept")
				return
			}
		}
	}
}

// kill makes sure that nothing of the command goes on, as far as the machine can still be reached: a signal where the
// server passes those on, the end of the lifeline, and last a second session.
func (r *running) kill(ctx context.Context) {
	_, _ = r.ch.SendRequest("signal", false, ssh.Marshal(struct{ Signal string }{"TERM"}))
	grace := 200 * time.Millisecond
	if r.lifeline {
		_ = r.ch.CloseWrite()
		grace = r.conn.set.killAfter
	}
	if r.over(grace) {
		return
	}
	late := time.NewTimer(r.conn.set.killAfter)
	defer late.Stop()
	select {
	case <-r.started:
	case <-r.exited:
		return
	case <-late.C:
		return // it never started, and its standard input ends now
	}
	fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.conn.set.killAfter)
	defer cancel()
	_, _ = r.conn.Run(fresh, app.Command{Line: killer(int(r.pid.Load())), Sudo: r.sudo}, nil)
	r.over(time.Second)
}

// over waits a little for the command to end.
func (r *running) over(limit time.Duration) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-r.exited:
		return true
	case <-r.conn.gone:
		return true
	case <-late.C:
		return false
	}
}

// neverStarted explains an exit code that came from something before the command: sudo, or the login shell.
func (r *running) neverStarted() error {
	user, where, last := r.conn.target.user(), r.conn.target.endpoint(), r.last.String()
	if !r.sudo {
		return &app.Error{
			Code: app.ECredentials, Reason: "no_shell",
			Message: because(fmt.Sprintf("User %s may not run commands on %s (exit code %d)", user, where, r.code), last),
			Hint:    "The account needs a login shell, and the machine needs sh.",
		}
	}
	if r.code == 127 || strings.Contains(last, "not found") {
		return &app.Error{
			Code: app.ECredentials, Reason: "no_sudo",
			Message: because(fmt.Sprintf("User %s has no root rights on %s, because sudo is missing", user, where), last),
			Hint:    "Install sudo in the image, or let the image's SSH user be root.",
		}
	}
	return &app.Error{
		Code: app.ECredentials, Reason: "no_sudo",
		Message: because(fmt.Sprintf("User %s has no root rights on %s without a password", user, where), last),
		Hint:    fmt.Sprintf("Let sudo work without a password or a terminal there: %s ALL=(ALL) NOPASSWD: ALL in /etc/sudoers.d.", user),
	}
}

// signalNumber gives the number that POSIX and Linux give to a signal name of RFC 4254; 0 for any other.
func signalNumber(name string) int {
	switch name {
	case "HUP":
		return 1
	case "INT":
		return 2
	case "QUIT":
		return 3
	case "ILL":
		return 4
	case "ABRT":
		return 6
	case "FPE":
		return 8
	case "KILL":
		return 9
	case "USR1":
		return 10
	case "SEGV":
		return 11
	case "USR2":
		return 12
	case "PIPE":
		return 13
	case "ALRM":
		return 14
	case "TERM":
		return 15
	}
	return 0
}
