package executable

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"muster/app"
	"muster/app/program"
)

// times are how long a program may take where no one else says so.
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

// process is one life of a program, which is asked many things at the same time.
type process struct {
	life   *program.Process
	times  times
	log    *slog.Logger
	hidden *secrets
	born   time.Time

	lines  chan line     // to write
	dead   chan struct{} // closed when nothing is answered any more
	ending chan struct{} // closed when nothing more is to be written
	wrote  chan struct{} // closed when nothing more is written
	end    sync.Once

	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan answer
	odd     bool  // an answer came that no one had asked for
	why     error // it is dead
}

type line struct {
	id   uint64 // 0: whether anybody waits for an answer does not matter
	text []byte
}

// start begins a life. The caller ends it with close.
func start(path string, env []string, t times, log *slog.Logger, hidden *secrets) (*process, error) {
	p := &process{times: t, hidden: hidden, born: time.Now(), lines: make(chan line, 64), dead: make(chan struct{}), ending: make(chan struct{}), wrote: make(chan struct{}),
		pending: map[uint64]chan answer{}}
	_, err := program.Start(path, env, program.Times{Write: t.write, EOF: t.eof, Term: t.term}, func(life *program.Process) program.Handler {
		p.life, p.log = life, log.With("pid", life.PID)
		return program.Handler{Line: p.read, Over: p.over, Log: p.listen}
	})
	if err != nil {
		return nil, err
	}
	go p.write()
	return p, nil
}

// close ends the process, and returns when it has ended.
func (p *process) close() {
	p.end.Do(func() { close(p.ending); p.life.End() })
	<-p.life.Ended()
	<-p.wrote
}

// die ends the process at once, and with it all calls that wait, and every later one.
func (p *process) die(why error) {
	p.mu.Lock()
	if p.why == nil {
		p.why = why
		close(p.dead)
	}
	p.mu.Unlock()
	p.life.Kill()
}

func (p *process) over(why error) {
	p.log.Debug("no longer reading the provider's program", "why", why)
	p.die(why)
}

func (p *process) read(line []byte) error {
	a, err := readAnswer(line)
	if err != nil {
		p.log.Error("stopping the provider's program: protocol violation", "wrote", err.Error())
		return fmt.Errorf("it sent %w", err)
	}
	p.take(a)
	return nil
}

// take hands an answer to who waits for it. One that comes too late is no one's any more; one that no one asked for is a mistake.
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
		p.log.Warn("the provider's program responded to an unknown request", "id", a.ID)
	}
}

func (p *process) write() {
	defer close(p.wrote)
	for {
		select {
		case l := <-p.lines:
			if l.id != 0 && !p.waited(l.id) {
				continue // given up before it was sent
			}
			if err := p.life.Write(l.text); err != nil {
				p.unread()
				return
			}
		case <-p.ending:
			return
		case <-p.dead:
			return
		}
	}
}

// unread is how the process dies that does not take what is written, unless it was to end anyway.
func (p *process) unread() {
	select {
	case <-p.ending:
	default:
		p.die(p.life.Fate("it doesn't read its input"))
	}
}

func (p *process) waited(id uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.pending[id]
	return ok
}

// listen writes the program's own log into ours.
func (p *process) listen(text string) {
	if said := p.hidden.tidy(text, program.LongestLog); said != "" {
		p.log.Info("output of the provider's program", "line", said)
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
		return app.Errorf(app.EInternal, "can't encode the request: %w", err)
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
		return &app.Error{Code: app.ETransient, Reason: reasonUnclear, Message: fmt.Sprintf("the provider's program didn't respond: %v. Whether the call had an effect is unknown", why),
			Hint: "See the program's output in Muster's log at that time."}
	}
	return &app.Error{Code: app.ETransient, Reason: reasonEnded, Message: fmt.Sprintf("the provider's program isn't running: %v. Nothing was sent", why)}
}

func (p *process) understand(a answer, result any) error {
	if a.Error != nil {
		return a.Error.err(p.hidden)
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return app.Errorf(app.EInternal, "the provider's program returned an invalid result (%s)", p.hidden.tidy(err.Error(), 200))
	}
	return nil
}

func (p *process) forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, id)
}

// cancel tells the program that no one waits any more. Where it does not read, that is not waited for either.
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
