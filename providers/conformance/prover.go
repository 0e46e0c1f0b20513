package conformance

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Result is how one check went. Notes are what it said, in order: of one that failed, why.
type Result struct {
	Name     string        `json:"check"`
	OK       bool          `json:"ok"`
	Skipped  bool          `json:"skipped,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

// Prove runs the suite outside of a test, one check after the other, and tells how each went. Where ctx is done, what is left is skipped, and what was
// made is still removed.
func Prove(ctx context.Context, h Harness[*Prover], report func(Result)) (ok bool) {
	p := &Prover{ctx: ctx, report: report}
	Run(p, h)
	return !p.isFailed() && ctx.Err() == nil
}

// Check runs checks of another family outside of a test: as Prove does, with all that they run within themselves.
func Check(ctx context.Context, checks func(*Prover), report func(Result)) (ok bool) {
	p := &Prover{ctx: ctx, report: report}
	checks(p)
	return !p.isFailed() && ctx.Err() == nil
}

// Prover is who runs checks for Prove.
type Prover struct {
	name   string
	ctx    context.Context
	report func(Result) // of the checks below this one

	mu              sync.Mutex
	failed, skipped bool
	notes           []string
	cleanups        []func()
}

var _ T[*Prover] = (*Prover)(nil)

// Run carries out a check within this one, and returns when it has ended.
func (p *Prover) Run(name string, check func(*Prover)) bool {
	ctx, cancel := context.WithCancel(p.ctx)
	c := &Prover{name: strings.TrimPrefix(p.name+": "+name, ": "), ctx: ctx, report: p.report}
	began := time.Now()
	if ctx.Err() != nil {
		c.skipped, c.notes = true, []string{"stopped before it started"}
	} else {
		c.do(func() { check(c) })
	}
	cancel()
	for {
		c.mu.Lock()
		n := len(c.cleanups)
		if n == 0 {
			c.mu.Unlock()
			break
		}
		last := c.cleanups[n-1]
		c.cleanups = c.cleanups[:n-1]
		c.mu.Unlock()
		c.do(last)
	}
	if c.isFailed() {
		p.fail("")
	}
	c.report(Result{Name: c.name, OK: !c.failed, Skipped: c.skipped && !c.failed, Notes: slices.Clone(c.notes), Duration: time.Since(began)})
	return !c.failed
}

// do carries something out that may end in its middle, by Fatal or by a panic.
func (p *Prover) do(what func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				p.fail(fmt.Sprintf("it panicked: %v\n%s", r, debug.Stack()))
			}
		}()
		what()
	}()
	<-done
}

func (p *Prover) fail(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
	if why != "" {
		p.notes = append(p.notes, strings.TrimSpace(why))
	}
}

func (p *Prover) isFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Name is the check's.
func (p *Prover) Name() string { return p.name }

// Context is done when the check ends, before its cleanups.
func (p *Prover) Context() context.Context { return p.ctx }

// Cleanup has something done when the check has ended; what was named last comes first.
func (p *Prover) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}

// Helper does nothing: no one asks for lines.
func (p *Prover) Helper() {}

// Error fails the check, which continues.
func (p *Prover) Error(args ...any) { p.fail(fmt.Sprintln(args...)) }

// Errorf fails the check, which continues.
func (p *Prover) Errorf(format string, args ...any) { p.fail(fmt.Sprintf(format, args...)) }

// Fatal fails the check and ends it.
func (p *Prover) Fatal(args ...any) {
	p.fail(fmt.Sprintln(args...))
	runtime.Goexit()
}

// Fatalf fails the check and ends it.
func (p *Prover) Fatalf(format string, args ...any) {
	p.fail(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// Skip ends the check, which does not hold here.
func (p *Prover) Skip(args ...any) { p.skip(fmt.Sprintln(args...)) }

func (p *Prover) skip(why string) {
	p.Logf("%s", why)
	p.mu.Lock()
	p.skipped = true
	p.mu.Unlock()
	runtime.Goexit()
}

// Logf is kept for who reads the result.
func (p *Prover) Logf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, strings.TrimSpace(fmt.Sprintf(format, args...)))
}
