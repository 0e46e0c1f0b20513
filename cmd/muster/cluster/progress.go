package cluster

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/cmd/muster/cli"
)

// progress shows an operation's progress: on a terminal as one line redrawn in place, elsewhere as one plain line per change. Its methods
// are safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	live  bool // draw in place
	color bool
	width func() int
	now   func() time.Time

	name     string
	op       int64
	began    time.Time
	expected time.Duration // of the whole operation; 0 if unknown
	done     int
	total    int
	running  []string // ids of running steps, oldest first
}

// newProgress returns the progress of an operation on a stream. Terminals that can't move their cursor get lines.
func newProgress(c *cli.Context, w io.Writer, name string, op app.Operation) *progress {
	live := cli.Moves(w)
	return &progress{
		w: w, live: live, color: live && c.Colours(w), width: func() int { return cli.TerminalWidth(w) },
		now: time.Now, began: time.Now(),
		name: cli.InLine(name), op: op.ID, expected: op.Expected, done: op.Done, total: op.Total,
	}
}

// event applies an event. Events of other operations are ignored.
func (p *progress) event(e app.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Operation != p.op {
		return
	}
	if e.Total > 0 {
		p.done, p.total = max(p.done, e.Done), e.Total
	}
	if e.Kind == app.EventStep && e.Step != "" && e.Node != "" {
		p.step(e)
	}
	p.draw()
}

// maxOutput is the longest message of a step beside the progress.
const maxOutput = 120

func (p *progress) step(e app.Event) {
	state := app.StepState(e.Status)
	at := slices.Index(p.running, cli.InLine(e.Step))
	switch {
	case state == app.StepRunning && at < 0:
		p.running = append(p.running, cli.InLine(e.Step))
	case state != app.StepRunning && at >= 0:
		p.running = slices.Delete(p.running, at, at+1)
	}
	text := e.Step + " " + e.Status
	if e.Message != "" {
		text += ": " + shorten(e.Message, maxOutput) // final failures are explained in full
	}
	switch {
	case state == app.StepFailed:
		p.print(text)
	case p.live: // the bar shows the rest
	case state == app.StepRunning, state == app.StepSucceeded, state == app.StepDropped:
		p.print(text)
	case at >= 0: // it was running and has to run again
		p.print(text)
	}
}

// refresh applies the operation's current state.
func (p *progress) refresh(op app.Operation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = max(p.done, op.Done), op.Total
	p.draw()
}

// note prints a line beside the progress.
func (p *progress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(text)
	p.draw()
}

// tick redraws, so that the clock advances while nothing happens.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw()
}

// end wipes the bar. Nothing may be called after it.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		fmt.Fprint(p.w, cli.Control(p.w, "\r\x1b[K"))
	}
}

// print writes a line of its own, above the bar where there is one.
func (p *progress) print(text string) {
	if p.live {
		fmt.Fprint(p.w, cli.Control(p.w, "\r\x1b[K"))
	}
	digits := len(fmt.Sprint(p.total))
	fmt.Fprintf(p.w, "[%*d/%d %s] %s\n", digits, p.done, p.total, cli.Clock(p.now().Sub(p.began)), text)
}

func (p *progress) draw() {
	if p.live {
		fmt.Fprint(p.w, cli.Control(p.w, "\r")+p.line(p.width())+cli.Control(p.w, "\x1b[K"))
	}
}

// line returns the bar in at most width-1 cells: with the cursor in the last one, some terminals break the line.
func (p *progress) line(width int) string {
	elapsed := p.now().Sub(p.began)
	facts := fmt.Sprintf("%d/%d  %s", p.done, p.total, cli.Clock(elapsed))
	if left, ok := p.left(elapsed); ok {
		facts += ", about " + cli.Clock(left) + " left"
	}
	room := width - 1 - utf8.RuneCountInString(p.name) - utf8.RuneCountInString(facts) - 4
	cells := min(24, room)
	if cells < 6 { // too narrow for a bar
		return shorten(p.name+"  "+facts, width-1)
	}
	line := p.name + "  " + p.bar(cells) + "  " + facts
	if room -= cells + 2; room > 8 && len(p.running) > 0 {
		line += "  " + runningWords(p.running, room)
	}
	return line
}

// bar draws n cells with eight fill levels each.
func (p *progress) bar(n int) string {
	share := 0.0
	if p.total > 0 {
		share = min(float64(p.done)/float64(p.total), 1)
	}
	eighths := int(share * float64(n) * 8)
	full := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		full += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	empty := strings.Repeat("░", n-utf8.RuneCountInString(full))
	if !p.color {
		return full + empty
	}
	return cli.Control(p.w, "\x1b[36m") + full + cli.Control(p.w, "\x1b[2m") + empty + cli.Control(p.w, "\x1b[0m")
}

// left estimates the remaining time: first from the planner's estimate, later more and more from the time taken so far.
func (p *progress) left(elapsed time.Duration) (time.Duration, bool) {
	if p.total == 0 || p.done >= p.total {
		return 0, false
	}
	share := float64(p.done) / float64(p.total)
	if p.expected <= 0 {
		if p.done == 0 {
			return 0, false
		}
		return time.Duration(float64(elapsed) * (1 - share) / share), true
	}
	planned := float64(max(p.expected-elapsed, 0))
	if p.done == 0 {
		return time.Duration(planned), planned > 0
	}
	measured := float64(elapsed) * (1 - share) / share
	return time.Duration((1-share)*planned + share*measured), true
}

// runningWords names running steps in at most room cells: those that fit, then how many more.
func runningWords(ids []string, room int) string {
	text := ""
	for i, id := range ids {
		longer := id
		if i > 0 {
			longer = text + ", " + id
		}
		more := ""
		if rest := len(ids) - i - 1; rest > 0 {
			more = fmt.Sprintf(" +%d", rest)
		}
		if utf8.RuneCountInString(longer+more) > room {
			if i == 0 {
				return shorten(id, room)
			}
			return shorten(text+fmt.Sprintf(" +%d", len(ids)-i), room)
		}
		text = longer
	}
	return text
}

// shorten cuts a text to n cells and marks the cut.
func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	if n < 1 {
		return ""
	}
	return string(runes[:n-1]) + "…"
}
