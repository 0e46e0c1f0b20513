package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
)

const (
	// killAfter is how long a command that was asked to end is waited for.
	killAfter = 7 * time.Second
	// maxAlone bounds how long a command that runs once may run without a connection.
	maxAlone = 24 * time.Hour
)

var errRefused = errors.New("the machine refused to run a command")

// run runs a command, under a claim if there is one.
func (c *Conn) run(ctx context.Context, cmd family.Command, out family.Output, claim *Claim) (int, error) {
	cmd.Once = cmd.Once && claim != nil
	in, err := inputOf(cmd)
	if err != nil {
		return 0, fmt.Errorf("reading the standard input: %w", err)
	}
	v := invocation{line: cmd.Line, sudo: cmd.Sudo && c.target.user() != "root", once: cmd.Once, fork: cmd.Fork, variable: cmd.Once && cmd.Text}
	if claim != nil {
		if v.claim, err = claim.settings(cmd, in); err != nil {
			return 0, err
		}
		v.alone = alone(ctx)
	}
	sink := newSink(out, c.set)
	defer sink.shut()
	v.full = in.stream != nil // which can be sent once only
	for tries := 0; ; tries++ {
		exit, err := c.session(ctx, v, in, sink, claim)
		if again := errors.Is(err, errMore) || errors.Is(err, errAloneOnly) || errors.Is(err, errNoResident); !again || tries == 4 {
			return exit, err
		}
		v.full = v.full || !errors.Is(err, errNoResident)
	}
}

// These ask for another session. An attempt that was waited for may end without telling how.
var (
	errNoResident = &app.Error{Code: app.ETransient, Message: "The machine has no bash for a long-running session"}
	errMore       = &app.Error{Code: app.ETransient, Message: "Earlier attempts on the machine must be checked first"}
	errAloneOnly  = &app.Error{Code: app.ETransient, Message: "The earlier attempt ended without a result"}
)

// alone is how many seconds are left of ctx.
func alone(ctx context.Context) int {
	left := maxAlone
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	return int(math.Ceil(max(left, 0).Seconds()))
}

// session carries out one session, or what the resident does instead of one.
func (c *Conn) session(ctx context.Context, v invocation, in input, sink *sink, claim *Claim) (int, error) {
	if ctx.Err() != nil {
		return 0, ended(ctx, "the command")
	}
	v.token = newToken()
	var resident *resident
	if c.set.resident && v.fitsResident(in) {
		resident = c.residence.borrow(v.once)
	}
	r := &running{
		conn: c, token: v.token, sudo: v.sudo, once: v.once, lifeline: true, claim: claim, sink: sink, resident: resident,
		opened: make(chan error, 1), started: make(chan struct{}), written: make(chan struct{}), drained: make(chan struct{}),
		code: -1,
	}
	r.result.Store(-1)
	r.readers.Store(2)
	if in.stream != nil {
		r.broken = make(chan error, 1)
	}
	if resident != nil {
		r.ends = r.drained
		go r.talkTo(resident, resident.ask(v, in))
	} else {
		var data []byte
		v.input, data = in.sent(v.token)
		r.lifeline = v.input != inputStream
		request, err := v.request(c.plainShell.Load())
		if err != nil {
			return 0, err
		}
		go r.talk(request, data, in.stream)
	}
	var err error
	select {
	case err = <-r.opened:
	case <-c.gone:
		if r.abandoned.CompareAndSwap(false, true) {
			r.giveBack()
			return 0, c.lost(nil)
		}
		err = <-r.opened
	case <-ctx.Done():
		if r.abandoned.CompareAndSwap(false, true) {
			r.giveBack()
			return 0, ended(ctx, "the command") // a session opened too late is closed by its opener
		}
		err = <-r.opened
	}
	if err != nil {
		r.giveBack()
		return 0, c.openError(ctx, err)
	}
	defer r.leave()
	return r.wait(ctx)
}

func (c *Conn) openError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, "the command")
	}
	var open *ssh.OpenChannelError
	if errors.Is(err, errRefused) || errors.As(err, &open) {
		return &app.Error{Code: app.ETransient, Reason: "no_session", Message: "The machine at " + c.target.endpoint() + " refused to open a session", Err: err}
	}
	return c.lost(err)
}

// running is one running command. Beside the caller it takes two goroutines, which read one output each.
type running struct {
	conn  *Conn
	token string
	sudo  bool
	once  bool
	// lifeline tells that the end of the session's standard input ends the command.
	lifeline bool
	claim    *Claim
	sink     *sink
	last     tail

	opened    chan error // gets nil once the session is there
	abandoned atomic.Bool
	ch        ssh.Channel         // once opened
	reqs      <-chan *ssh.Request // once opened; nil when it has ended

	pid     atomic.Int64           // of the process group; 0 until the wrapper reports it
	started chan struct{}          // closed when pid is known
	noInput atomic.Bool            // the wrapper could not take the standard input
	said    atomic.Pointer[string] // what the wrapper had to say against it
	fed     atomic.Bool            // all of the standard input has been sent
	written chan struct{}          // closed when no more of the standard input is being sent, whether all was or not
	broken  chan error             // reading the standard input failed

	code    int // -1 is unknown
	readers atomic.Int32
	drained chan struct{} // closed when both outputs have ended

	resident *resident     // that carries it out; nil where it has a session of its own
	ends     chan struct{} // drained, where that tells that it may have ended, else nil
	result   atomic.Int32  // the exit code that the resident has reported, -1 where it has not
	keep     bool          // the resident can carry out others
}

// talk opens the session, says what is to be run, sends the input and reads the output.
func (r *running) talk(request, data []byte, stream io.Reader) {
	ch, reqs, err := r.conn.open()
	if err != nil {
		r.opened <- err
		return
	}
	// From here on the caller waits for us: once the request is on its way the command may have begun, and who is cancelled then has
	// to end it.
	if !r.abandoned.CompareAndSwap(false, true) {
		_ = ch.Close()
		ssh.DiscardRequests(reqs)
		return
	}
	// Its answer is not waited for, which saves a round trip: a machine that refuses closes the session without a word.
	if _, err = ch.SendRequest("exec", false, request); err != nil {
		r.opened <- err
		_ = ch.Close()
		ssh.DiscardRequests(reqs)
		return
	}
	r.ch, r.reqs = ch, reqs
	r.opened <- nil
	go func() {
		r.sink.read(family.StreamErr, ch.Stderr(), r.hello)
		r.silent()
	}()
	if stream != nil {
		go r.feed(stream)
	} else {
		r.write(data) // OpenSSH opens its window for it once the command runs
	}
	r.sink.read(family.StreamOut, ch, nil)
	r.silent()
}

// talkTo has the resident carry it out, and begins one where there is none.
func (r *running) talkTo(s *resident, message []byte) {
	if s.ch == nil {
		ch, reqs, err := r.conn.open()
		if err == nil {
			if _, err = ch.SendRequest("exec", false, s.request()); err != nil {
				_ = ch.Close()
				go ssh.DiscardRequests(reqs)
			}
		}
		if err != nil {
			r.opened <- err
			return
		}
		if r.abandoned.Load() {
			_ = ch.Close()
			ssh.DiscardRequests(reqs)
			return
		}
		s.ch, s.reqs = ch, reqs
		s.serve(r)
		go s.read(family.StreamOut, ch)
		go s.read(family.StreamErr, ch.Stderr())
	} else {
		s.serve(r)
	}
	ch, reqs := s.ch, s.reqs
	if !r.abandoned.CompareAndSwap(false, true) {
		_ = ch.Close()
		ssh.DiscardRequests(reqs)
		return
	}
	r.ch, r.reqs = ch, reqs
	r.opened <- nil
	r.write(message)
}

// write sends all of the standard input that is not a stream.
func (r *running) write(data []byte) {
	defer close(r.written)
	var err error
	if len(data) > 0 {
		_, err = r.ch.Write(data)
	}
	r.fed.Store(err == nil)
}

// giveBack returns the resident, if one was borrowed.
func (r *running) giveBack() {
	if r.resident != nil {
		r.conn.residence.giveBack(r.keep)
	}
}

// silent counts the outputs that have ended.
func (r *running) silent() {
	if r.readers.Add(-1) == 0 {
		close(r.drained)
	}
}

// feed writes the standard input. Only a stream is ended; otherwise the open end is the lifeline. An input that breaks off
// is not ended either: the command must not take it for all there is.
func (r *running) feed(stdin io.Reader) {
	defer close(r.written)
	_, err := io.Copy(r.ch, onlyReader{stdin})
	// Writing fails with io.EOF when the command has ended without reading all of it, which it is free to do.
	if err != nil && !errors.Is(err, io.EOF) {
		r.broken <- err
		return
	}
	if !r.lifeline {
		_ = r.ch.CloseWrite()
	}
	r.fed.Store(true)
}

// onlyReader hides WriteTo, by which a bytes.Reader would hand over everything in one write.
type onlyReader struct{ io.Reader }
