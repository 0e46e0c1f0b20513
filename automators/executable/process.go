package executable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"muster/app"
	"muster/app/program"
	"muster/automators/internal/node"
)

// process is one life of a program. It does one thing at a time; only hear and close may be called beside ask.
type process struct {
	life  *program.Process
	lines chan []byte   // what it writes; closed at the end
	stop  chan struct{} // closed when no one reads lines any more
	once  sync.Once

	mu    sync.Mutex
	heard func(line string) // of its standard error
	why   error             // nothing more of it is read
	last  uint64
	bad   bool // it is not to be used again
}

// start begins a life. The caller ends it with close.
func start(path string, env []string, t times) (*process, error) {
	p := &process{lines: make(chan []byte), stop: make(chan struct{})}
	_, err := program.Start(path, env, program.Times{Write: t.write, EOF: t.eof, Term: t.term}, func(life *program.Process) program.Handler {
		p.life = life
		return program.Handler{Line: p.read, Over: p.over, Log: p.listen}
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

var errStopped = errors.New("no longer read")

func (p *process) read(line []byte) error {
	select {
	case p.lines <- bytes.Clone(line):
		return nil
	case <-p.stop:
		return errStopped
	}
}

func (p *process) over(why error) {
	p.mu.Lock()
	p.why = why
	p.mu.Unlock()
	close(p.lines)
}

// listen hands on the program's own log.
func (p *process) listen(text string) {
	p.mu.Lock()
	heard := p.heard
	p.mu.Unlock()
	if said := program.Tidy(text, program.LongestLog); said != "" && heard != nil {
		heard(said)
	}
}

// hear sets who gets what the program logs from now on.
func (p *process) hear(heard func(line string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = heard
}

func (p *process) isBad() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bad
}

// close ends the process, and returns when it has ended. More than once does no harm.
func (p *process) close() {
	p.once.Do(func() {
		if p.isBad() { // there is nothing that it could end well
			p.life.Kill()
		} else {
			p.life.End()
		}
		close(p.stop)
	})
	<-p.life.Ended()
}

func (p *process) write(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return p.life.Write(append(text, '\n'))
}

// gone is the error of a program that did not answer. Whether it had an effect is unclear.
func gone(why error) error {
	return &app.Error{Code: app.ETransient, Reason: "unclear", Message: fmt.Sprintf("the automator's program didn't respond: %v", why), Hint: "Its output is in the step's log, or in Muster's."}
}

// ask sends one request and carries out what the program asks for until it answers. Nil do refuses everything. After an error that is not the
// program's own answer
// the process is bad: it cannot be used again. Last is the last line of errors that a command said.
func (p *process) ask(ctx context.Context, what, verb string, params any, do func(ctx context.Context, m message) (any, error), last *node.LastLine) (result json.RawMessage, err error) {
	answered := false
	defer func() {
		if !answered {
			p.mu.Lock()
			p.bad = true
			p.mu.Unlock()
		}
	}()
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "Can't encode the program's input as JSON: %w", err)
	}
	p.last++
	id := p.last
	if err := p.write(message{ID: id, Verb: verb, Params: raw}); err != nil {
		return nil, gone(p.unread())
	}
	for asks := 0; ; {
		select {
		case <-ctx.Done():
			return nil, endOf(ctx)
		case line, ok := <-p.lines:
			if !ok {
				return nil, gone(p.ending())
			}
			m, err := readMessage(line)
			if err == nil && m.Verb == "" && m.ID != id {
				err = errors.New("a response to an unknown request")
			}
			if asks++; err == nil && asks > maxAsks {
				err = fmt.Errorf("more than %d requests for one action", maxAsks)
			}
			if err != nil {
				return nil, gone(fmt.Errorf("it sent %w", err))
			}
			if m.Verb == "" {
				answered = true
				if m.Error != nil {
					return nil, m.Error.err(what, last)
				}
				return m.Result, nil
			}
			if err := p.serve(ctx, m, do); err != nil {
				return nil, err
			}
		}
	}
}

// serve carries out one request of the program, and answers it.
func (p *process) serve(ctx context.Context, m message, do func(ctx context.Context, m message) (any, error)) error {
	var result any
	var err error = &app.Error{Code: app.EInvalid, Message: "No node is available here; only bootstrap, run and dry_run have one."}
	if do != nil {
		result, err = do(ctx, m)
	}
	if ctx.Err() != nil {
		return endOf(ctx)
	}
	if m.Verb == askSay {
		return nil
	}
	answer := message{ID: m.ID}
	if err != nil {
		e := app.AsError(err)
		answer.Error = &failure{Code: e.Code, Message: e.Message, Hint: e.Hint, Reason: e.Reason, Field: e.Field}
	} else if answer.Result, err = json.Marshal(result); err != nil {
		return err
	}
	if err := p.write(answer); err != nil {
		return gone(p.unread())
	}
	return nil
}

// ending says why nothing more is read.
func (p *process) ending() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// unread says why what was written was not taken.
func (p *process) unread() error { return p.life.Fate("it doesn't read its input") }

// endOf is the error of a context that has ended.
func endOf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &app.Error{Code: app.ETimeout, Message: "the action timed out, and its automator's program was stopped"}
	}
	return &app.Error{Code: app.ECancelled, Message: "the action was cancelled, and its automator's program was stopped"}
}
