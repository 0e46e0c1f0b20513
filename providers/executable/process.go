package executable

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"muster/app"
	"muster/app/program"
)

// times are how long a program may take where nobody else says so.
type times struct {
	describe time.Duration // to say what it is, from its start
	open     time.Duration // to take the settings
	write    time.Duration // to read a line of ours
	eof      time.Duration // to end by itself once its input has ended
	term     time.Duration // to end after SIGTERM
	steady   time.Duration // of a life after which a crash counts as the first one again
	backoff  time.Duration // between the second crash and the start after it; doubled for each one more
	longest  time.Duration // of those
}

var usualTimes = times{describe: 10 * time.Second, open: 30 * time.Second, write: 30 * time.Second, eof: 3 * time.Second, term: 2 * time.Second, steady: time.Minute, backoff: time.Second, longest: time.Minute}

// process is one life of a program.
type process struct {
	cmd    *exec.Cmd
	times  times
	log    *slog.Logger
	hidden *secrets
	born   time.Time

	lines  chan line     // to write
	dead   chan struct{} // closed when nothing is answered any more
	ending chan struct{} // closed when its input shall end
	exited chan struct{} // closed when the process itself has ended
	ended  chan struct{} // closed when all that read it have ended as well
	end    sync.Once

	mu      sync.Mutex
	how     string // it ended, such as "exit status 1"
	last    uint64
	pending map[uint64]chan answer
	odd     bool  // an answer came that nobody had asked for
	why     error // it is dead
}

type line struct {
	id   uint64 // 0: whether anybody waits for an answer does not matter
	text []byte
}

// start begins a life. The caller ends it with close.
func start(path string, env []string, t times, log *slog.Logger, hidden *secrets) (*process, error) {
	cmd := exec.Command(path)
	cmd.Env, cmd.Dir = env, "/"
	program.Apart(cmd)
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	stdout, out, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		return nil, err
	}
	defer out.Close()
	stderr, errs, err := os.Pipe()
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, err
	}
	defer errs.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	if err := cmd.Start(); err != nil {
		_, _, _ = stdin.Close(), stdout.Close(), stderr.Close()
		return nil, err
	}
	p := &process{cmd: cmd, times: t, log: log.With("pid", cmd.Process.Pid), hidden: hidden, born: time.Now(), lines: make(chan line, 64), dead: make(chan struct{}), ending: make(chan struct{}),
		exited: make(chan struct{}), ended: make(chan struct{}), pending: map[uint64]chan answer{}}
	var readers sync.WaitGroup
	readers.Go(func() { p.read(stdout) })
	readers.Go(func() { p.listen(stderr) })
	wrote := make(chan struct{})
	go func() { defer close(wrote); p.write(stdin) }()
	go func() {
		_ = cmd.Wait()
		program.KillGroup(cmd) // what it started and left behind
		p.mu.Lock()
		p.how = cmd.ProcessState.String()
		p.mu.Unlock()
		close(p.exited)
		p.log.Debug("the provider's program ended", "how", p.how)
		soon := time.Now().Add(time.Second) // somebody else may hold its output open
		_, _ = stdout.SetReadDeadline(soon), stderr.SetReadDeadline(soon)
		readers.Wait()
		_, _ = stdout.Close(), stderr.Close()
		<-wrote
		close(p.ended)
	}()
	go p.shutdown()
	return p, nil
}

// shutdown ends the process once it shall: by the end of its input, then by signals to it and all that it started.
func (p *process) shutdown() {
	select {
	case <-p.ending:
	case <-p.dead: // it does not keep to the protocol, or has closed its output: there is nothing to wait for
		program.KillGroup(p.cmd)
		return
	case <-p.exited:
		return
	}
	for _, s := range []struct {
		after time.Duration
		kill  func(*exec.Cmd)
	}{{p.times.eof, program.TermGroup}, {p.times.term, program.KillGroup}} {
		t := time.NewTimer(s.after)
		select {
		case <-p.exited:
			t.Stop()
			return
		case <-t.C:
			s.kill(p.cmd)
		}
	}
}

// close ends the process, and returns when it has ended.
func (p *process) close() {
	p.end.Do(func() { close(p.ending) })
	<-p.ended
}

// die ends all calls that wait, and every later one.
func (p *process) die(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = why
		close(p.dead)
	}
}

func (p *process) read(from *os.File) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		a, err := readAnswer(lines.Bytes())
		if err != nil {
			p.log.Error("the provider's program does not keep to the protocol, and is ended", "wrote", err.Error())
			p.die(fmt.Errorf("it wrote %w", err))
			return
		}
		p.take(a)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		p.die(fmt.Errorf("it wrote a line of more than %d MiB", longestLine>>20))
		return
	}
	p.die(p.fate("it closed its output"))
}

// fate says how the process ended, which may be told by a pipe a little before, or else what is wrong with it.
func (p *process) fate(otherwise string) error {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-p.exited:
		p.mu.Lock()
		defer p.mu.Unlock()
		return fmt.Errorf("it ended (%s)", p.how)
	case <-t.C:
		return errors.New(otherwise)
	}
}

// take hands an answer to who waits for it. One that comes too late is nobody's any more; one that nobody asked for is a mistake.
func (p *process) take(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if waits, ok := p.pending[a.ID]; ok {
		delete(p.pending, a.ID)
		waits <- a
		return
	}
	if a.ID > p.last && !p.odd {
		p.odd = true
		p.log.Warn("the provider's program answers what it was not asked", "id", a.ID)
	}
}

func (p *process) write(to *os.File) {
	defer to.Close()
	for {
		select {
		case l := <-p.lines:
			if l.id != 0 && !p.waited(l.id) {
				continue // given up before it was sent
			}
			_ = to.SetWriteDeadline(time.Now().Add(p.times.write))
			if _, err := to.Write(l.text); err != nil {
				p.die(p.fate("it does not read what it is asked"))
				return
			}
		case <-p.ending:
			return
		case <-p.dead:
			return
		}
	}
}

func (p *process) waited(id uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.pending[id]
	return ok
}

// listen writes the program's own log into ours.
func (p *process) listen(from *os.File) {
	r := bufio.NewReaderSize(from, longestLog)
	for {
		text, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if said := p.hidden.tidy(string(text), longestLog); said != "" {
			p.log.Info("the provider's program says", "line", said)
		}
		for more && err == nil {
			_, more, err = r.ReadLine()
		}
	}
}

// ask sends one request and waits for its answer. It never sends twice.
func (p *process) ask(ctx context.Context, verb string, params any, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	waits := make(chan answer, 1)
	p.mu.Lock()
	if p.why != nil {
		defer p.mu.Unlock()
		return gone(p.why, false)
	}
	p.last++
	id := p.last
	p.pending[id] = waits
	p.mu.Unlock()
	defer p.forget(id)
	text, err := json.Marshal(request{ID: id, Verb: verb, Params: params})
	if err != nil {
		return app.Errorf(app.EInternal, "the request cannot be written: %w", err)
	}
	select {
	case p.lines <- line{id, append(text, '\n')}:
	case <-p.dead:
		return p.lost(waits, result, false)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case a := <-waits:
		return p.understand(a, result)
	case <-p.dead:
		return p.lost(waits, result, true)
	case <-ctx.Done():
		p.cancel(id)
		return ctx.Err()
	}
}

// lost is how a call ends with the process, unless its answer came just before.
func (p *process) lost(waits <-chan answer, result any, sent bool) error {
	select {
	case a := <-waits:
		return p.understand(a, result)
	default:
		return gone(p.why, sent) // it is set before dead is closed
	}
}

// The reasons of calls that a process did not answer: it may have had an effect, or it was never sent.
const (
	reasonUnclear = "unclear"
	reasonEnded   = "ended"
)

// gone says whether a call that was not answered may have had an effect.
func gone(why error, sent bool) error {
	if sent {
		return &app.Error{Code: app.ETransient, Reason: reasonUnclear, Message: fmt.Sprintf("the provider's program did not answer: %v. Whether the call had an effect is unclear", why),
			Hint: "The program's own log is in Muster's, at the same time."}
	}
	return &app.Error{Code: app.ETransient, Reason: reasonEnded, Message: fmt.Sprintf("the provider's program is not there to be asked: %v. Nothing was sent", why)}
}

func (p *process) understand(a answer, result any) error {
	if a.Error != nil {
		return a.Error.err(p.hidden)
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return app.Errorf(app.EInternal, "the provider's program gave a result that is not what the protocol wants (%s)", p.hidden.tidy(err.Error(), 200))
	}
	return nil
}

func (p *process) forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, id)
}

// cancel tells the program that nobody waits any more. Where it does not read, that is not waited for either.
func (p *process) cancel(id uint64) {
	text, err := json.Marshal(request{Verb: verbCancel, Params: cancelParams{id}})
	if err != nil {
		return
	}
	select {
	case p.lines <- line{0, append(text, '\n')}:
	default:
	}
}
