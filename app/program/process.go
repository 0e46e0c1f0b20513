package program

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/app/humanize"
)

// Limits of what a program may write.
const (
	longestLine = 16 << 20 // of standard output
	LongestLog  = 4 << 10  // of standard error; the rest of the line is left out
)

// Times are how long a program may take.
type Times struct {
	Write time.Duration // to read a line of ours
	EOF   time.Duration // to end by itself once its input has ended
	Term  time.Duration // to end after SIGTERM
}

// Handler receives what a program writes. Line and Over are called by one goroutine, one after the other; Log by another. None may be nil.
type Handler struct {
	// Line is one line of standard output that is not empty. It is valid during the call only. After an error nothing more is read.
	Line func(line []byte) error
	// Over is called once, when nothing more is read: because of an error of Line, or of what the process did.
	Over func(why error)
	// Log is one line of standard error.
	Log func(line string)
}

// Process is one life of a program: lines go in and out until it ends, with all that it has started.
type Process struct {
	PID int

	path    string
	pin     string // that the program had when it was started
	cmd     *exec.Cmd
	times   Times
	writing sync.Mutex
	in      *os.File
	ending  chan struct{} // closed when its input should end
	killed  chan struct{} // closed when there is nothing to wait for
	exited  chan struct{} // closed when the process itself has ended
	ended   chan struct{} // closed when all that read it have ended as well
	end     sync.Once
	kill    sync.Once
}

// Start begins a life. End or Kill ends it. The handler is asked for before anything is read. Errors of a program that a pin refuses are as IsRefused says.
func Start(path string, env []string, t Times, handler func(*Process) Handler) (*Process, error) {
	pin, changed := pinOf(path)
	if err := checkPin(path); err != nil { // once more: pins may have changed since it was looked at
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Env, cmd.Dir = env, "/"
	Apart(cmd)
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
	p := &Process{PID: cmd.Process.Pid, path: path, pin: pin, cmd: cmd, times: t, in: stdin,
		ending: make(chan struct{}), killed: make(chan struct{}), exited: make(chan struct{}), ended: make(chan struct{})}
	h := handler(p)
	var all sync.WaitGroup
	all.Go(func() {
		defer p.Kill() // there is nothing to wait for
		p.read(stdout, h)
	})
	all.Go(func() { listen(stderr, h.Log) })
	all.Go(p.closeInput)
	go func() {
		_ = cmd.Wait()
		KillGroup(cmd) // what it started and left behind
		close(p.exited)
		soon := time.Now().Add(time.Second) // what left its group may hold its output open
		_, _ = stdout.SetReadDeadline(soon), stderr.SetReadDeadline(soon)
		all.Wait()
		_, _ = stdout.Close(), stderr.Close()
		close(p.ended)
	}()
	go p.shutdown()
	go p.obey(changed)
	return p, nil
}

// Ended is closed when the process has ended, and nothing more is read of it.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// End ends the input, and the process with all that it started by signals where it does not end by itself then. It does not wait for that.
func (p *Process) End() { p.end.Do(func() { close(p.ending) }) }

// Kill ends the process at once, with all that it started, unless it is ending already.
func (p *Process) Kill() { p.kill.Do(func() { close(p.killed) }) }

// Outdated reports whether the program was removed, or has another pin than when the process was started: it isn't to be used any more.
func (p *Process) Outdated() bool {
	pin, _ := pinOf(p.path)
	return pin == Removed || pin != p.pin
}

// obey ends the process when its program is removed. With another pin, what it was asked for comes to its end.
func (p *Process) obey(changed <-chan struct{}) {
	for {
		select {
		case <-p.exited:
			return
		case <-changed:
		}
		var now string
		if now, changed = pinOf(p.path); now == Removed {
			p.Kill()
			return
		}
	}
}

func (p *Process) closeInput() {
	select {
	case <-p.ending:
	case <-p.killed:
	case <-p.exited:
	}
	p.writing.Lock() // a line is not cut
	defer p.writing.Unlock()
	_ = p.in.Close()
}

func (p *Process) shutdown() {
	select {
	case <-p.ending:
	case <-p.killed:
		KillGroup(p.cmd)
		return
	case <-p.exited:
		return
	}
	for _, s := range []struct {
		after time.Duration
		kill  func(*exec.Cmd)
	}{{p.times.EOF, TermGroup}, {p.times.Term, KillGroup}} {
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

// Write writes a line, which ends with a line break.
func (p *Process) Write(line []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_ = p.in.SetWriteDeadline(time.Now().Add(p.times.Write))
	_, err := p.in.Write(line)
	return err
}

// Fate says how the process ended, which a pipe may tell of a little before, or else what is wrong with it.
func (p *Process) Fate(otherwise string) error {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-p.exited:
		return fmt.Errorf("the program exited (%s)", p.cmd.ProcessState)
	case <-t.C:
		return errors.New(otherwise)
	}
}

func (p *Process) read(from io.Reader, h Handler) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := h.Line(lines.Bytes()); err != nil {
			h.Over(err)
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		h.Over(fmt.Errorf("the program wrote a line longer than %s", humanize.Bytes(longestLine)))
		return
	}
	h.Over(p.Fate("the program closed its output"))
}

func listen(from io.Reader, log func(string)) {
	r := bufio.NewReaderSize(from, LongestLog)
	for {
		text, more, err := r.ReadLine()
		if err != nil {
			return
		}
		log(string(text))
		for more && err == nil {
			_, more, err = r.ReadLine()
		}
	}
}

// Tidy takes control characters out of a text that a program wrote, and cuts it.
func Tidy(text string, most int) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text))
	if len(text) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return text
}
