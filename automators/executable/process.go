package executable

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"muster/app"
	"muster/app/program"
	"muster/automators/internal/node"
)

// process is one life of a program. It does one thing at a time; only hear and close may be called beside ask.
type process struct {
	cmd   *exec.Cmd
	times times
	in    *os.File
	lines chan []byte   // what it writes; closed at the end
	stop  chan struct{} // closed when nobody reads lines any more
	ended chan struct{} // closed when it has ended, and all that read it
	once  sync.Once

	mu    sync.Mutex
	heard func(line string) // of its standard error
	why   error             // nothing more of it is read
	last  uint64
	bad   bool // it is not to be used again
}

// start begins a life. The caller ends it with close.
func start(path string, env []string, t times) (*process, error) {
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
	p := &process{cmd: cmd, times: t, in: stdin, lines: make(chan []byte), stop: make(chan struct{}), ended: make(chan struct{})}
	exited := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { p.read(stdout, exited) })
	readers.Go(func() { p.listen(stderr) })
	go func() {
		_ = cmd.Wait()
		program.KillGroup(cmd) // what it started and left behind
		close(exited)
		soon := time.Now().Add(time.Second) // somebody else may hold its output open
		_, _ = stdout.SetReadDeadline(soon), stderr.SetReadDeadline(soon)
		readers.Wait()
		_, _ = stdout.Close(), stderr.Close()
		close(p.ended)
	}()
	go func() {
		select {
		case <-p.stop:
		case <-exited:
			return
		}
		for _, s := range []struct {
			after time.Duration
			kill  func(*exec.Cmd)
		}{{t.eof, program.TermGroup}, {t.term, program.KillGroup}} {
			after := s.after
			if p.isBad() { // there is nothing that it could end well
				after = 0
			}
			timer := time.NewTimer(after)
			select {
			case <-exited:
				timer.Stop()
				return
			case <-timer.C:
				s.kill(cmd)
			}
		}
	}()
	return p, nil
}

func (p *process) read(from io.Reader, exited <-chan struct{}) {
	defer close(p.lines)
	scan := bufio.NewScanner(from)
	scan.Buffer(make([]byte, 64<<10), longestLine)
	for scan.Scan() {
		if len(scan.Bytes()) == 0 {
			continue
		}
		select {
		case p.lines <- append([]byte(nil), scan.Bytes()...):
		case <-p.stop:
			return
		}
	}
	why := errors.New("it closed its output")
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		why = fmt.Errorf("it wrote a line of more than %d MiB", longestLine>>20)
	} else {
		t := time.NewTimer(time.Second) // a pipe may tell of its end a little before
		defer t.Stop()
		select {
		case <-exited:
			why = fmt.Errorf("it ended (%s)", p.cmd.ProcessState)
		case <-t.C:
		}
	}
	p.mu.Lock()
	p.why = why
	p.mu.Unlock()
}

// listen hands on the program's own log.
func (p *process) listen(from io.Reader) {
	r := bufio.NewReaderSize(from, longestLog)
	for {
		text, more, err := r.ReadLine()
		if err != nil {
			return
		}
		p.mu.Lock()
		heard := p.heard
		p.mu.Unlock()
		if said := tidy(string(text), longestLog); said != "" && heard != nil {
			heard(said)
		}
		for more && err == nil {
			_, more, err = r.ReadLine()
		}
	}
}

// hear says who is told what the program logs from now on.
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
		close(p.stop)
		_ = p.in.Close()
	})
	<-p.ended
}

func (p *process) write(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_ = p.in.SetWriteDeadline(time.Now().Add(p.times.write))
	_, err = p.in.Write(append(text, '\n'))
	return err
}

// gone is the error of a program that did not answer. Whether it had an effect is unclear.
func gone(why error) error {
	return &app.Error{Code: app.ETransient, Reason: "unclear", Message: fmt.Sprintf("the automator's program did not answer: %v", why), Hint: "What the program logs stands in the step's log, or in Muster's."}
}

// ask sends one request and carries out what the program asks for until it answers. Nil do refuses everything. After an error that is not the program's own answer
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
		return nil, app.Errorf(app.EInvalid, "What the program is to be told cannot be written as JSON: %w", err)
	}
	p.last++
	id := p.last
	if err := p.write(message{ID: id, Verb: verb, Params: raw}); err != nil {
		return nil, gone(p.fate(err))
	}
	for asks := 0; ; {
		select {
		case <-ctx.Done():
			return nil, endOf(ctx)
		case line, ok := <-p.lines:
			if !ok {
				return nil, gone(p.fate(nil))
			}
			m, err := readMessage(line)
			if err == nil && m.Verb == "" && m.ID != id {
				err = errors.New("an answer to what it was not asked")
			}
			if asks++; err == nil && asks > mostAsks {
				err = fmt.Errorf("more than %d requests for one action", mostAsks)
			}
			if err != nil {
				return nil, gone(fmt.Errorf("it wrote %w", err))
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
	var err error = &app.Error{Code: app.EInvalid, Message: "There is no node now: only bootstrap, run and dry_run have one."}
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
		return gone(p.fate(err))
	}
	return nil
}

// fate says how the process ended, where that is known.
func (p *process) fate(otherwise error) error {
	if otherwise != nil { // it may have ended because of that, and be heard of in a moment
		t := time.NewTimer(time.Second)
		defer t.Stop()
	wait:
		for {
			select {
			case _, ok := <-p.lines:
				if !ok {
					break wait
				}
			case <-t.C:
				return errors.New("it does not read what it is asked")
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// endOf is the error of a context that has ended.
func endOf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &app.Error{Code: app.ETimeout, Message: "the action took too long, and the automator's program was ended"}
	}
	return &app.Error{Code: app.ECancelled, Message: "the action was stopped, and the automator's program was ended"}
}
