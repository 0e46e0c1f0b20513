package executable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/program"
)

// Env is what an account's program may know.
type Env struct {
	DataDir string // a directory for this account alone, which the program may make
	Logger  *slog.Logger
}

// account is one account, with the one process that serves it.
type account struct {
	program  Program
	name     string
	settings map[string]any
	env      Env
	times    times
	hidden   *secrets
	turns    chan struct{} // as many as the program takes requests at once

	mu      sync.Mutex
	closed  bool
	live    *process
	opened  bool      // live has taken the settings
	begins  *begin    // a running start, or an open
	crashes int       // in a row
	rest    time.Time // no start before
	cause   error     // of the last crash
}

// begin is a start that several calls may wait for.
type begin struct {
	done chan struct{}
	p    *process
	err  error
}

// Open returns an account. Its process is started by the first call.
func Open(program Program, name string, settings map[string]any, env Env) (family.Provider, error) {
	return open(program, name, settings, env, usualTimes), nil
}

func open(program Program, name string, settings map[string]any, env Env, t times) *account {
	if env.Logger == nil {
		env.Logger = slog.New(slog.DiscardHandler)
	}
	all := map[string]any{}
	for _, f := range program.Descriptor.Fields {
		if f.Default != "" {
			all[f.Name] = f.Default
		}
	}
	maps.Copy(all, settings)
	return &account{program: program, name: name, settings: all, env: env, times: t, hidden: secretsOf(program.Descriptor.Fields, all), turns: make(chan struct{}, cmp.Or(program.AtOnce, usualAtOnce))}
}

// ask sends one request, once, to a process that has taken the settings.
func (a *account) ask(ctx context.Context, verb string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case a.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-a.turns }()
	p, err := a.ready(ctx)
	if err != nil {
		return err
	}
	return p.ask(ctx, verb, params, result)
}

// ready returns the process, which it starts where there is none.
func (a *account) ready(ctx context.Context) (*process, error) {
	b, err := a.begin()
	if err != nil {
		return nil, err
	}
	select {
	case <-b.done:
		return b.p, b.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *account) begin() (*begin, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, app.Errorf(app.ECancelled, "the account was closed")
	}
	if a.begins != nil {
		return a.begins, nil
	}
	if a.live != nil && a.live.life.Outdated() {
		go a.live.close()
		a.live, a.opened = nil, false
	}
	if a.live != nil {
		select {
		case <-a.live.dead:
			a.crashed(a.live.why, time.Since(a.live.born))
			a.live, a.opened = nil, false
		default:
		}
	}
	b := &begin{done: make(chan struct{}), p: a.live}
	if a.opened {
		close(b.done)
		return b, nil
	}
	if left := time.Until(a.rest); a.live == nil && left > 0 {
		return nil, &app.Error{Code: app.ETransient, Reason: "backing_off", RetryAfter: left, Hint: "See the program's output in Muster's log.",
			Message: fmt.Sprintf("the provider's program failed %d times in a row (%v) and restarts in %s", a.crashes, a.cause, humanize.Duration(left))}
	}
	a.begins = b
	go a.run(b)
	return b, nil
}

// crashed says when the next start may be: at once after the first crash, and then after longer and longer.
func (a *account) crashed(why error, life time.Duration) {
	if life >= a.times.steady {
		a.crashes = 0
	}
	a.crashes++
	a.cause = why
	var wait time.Duration
	if a.crashes > 1 {
		wait = a.times.longest
		if shift := a.crashes - 2; shift < 16 {
			wait = min(a.times.backoff<<shift, a.times.longest)
		}
	}
	a.rest = time.Now().Add(wait)
	a.env.Logger.Warn("the provider's program failed", "program", a.program.Name, "why", why, "times", a.crashes, "next_start_in", wait)
}

// run starts the process, unless there is one, and hands it the settings. It belongs to no call: those may give up waiting.
func (a *account) run(b *begin) {
	p, err := b.p, error(nil)
	fresh := p == nil
	if fresh {
		p, err = a.start()
	}
	opened := false
	if err == nil {
		err = a.settle(p)
		opened = err == nil
	}
	a.mu.Lock()
	b.p, b.err, a.begins = p, err, nil
	switch {
	case p == nil && program.IsRefused(err): // it hasn't failed, and can be used at once when it's registered again
	case p == nil:
		a.crashed(err, 0)
	case a.closed:
		b.err = app.Errorf(app.ECancelled, "the account was closed")
	default:
		a.live, a.opened = p, opened
	}
	closed := a.closed
	a.mu.Unlock()
	if closed && p != nil {
		p.close()
	}
	close(b.done)
}

// start begins a process, and learns whether it still is what it was.
func (a *account) start() (*process, error) {
	if err := vet(a.program.Path); err != nil {
		return nil, placed(err)
	}
	p, err := start(a.program.Path, program.Environ(a.program.Env), a.times, a.env.Logger.With("program", a.program.Name), a.hidden)
	if err != nil {
		if program.IsRefused(err) {
			return nil, placed(err)
		}
		return nil, app.Errorf(app.ETransient, "can't start the provider's program: %w", err)
	}
	if _, err := p.describe(context.Background(), a.program.Name); err != nil {
		p.close()
		return nil, placed(err)
	}
	return p, nil
}

// settle hands the settings over. Where the program refuses them it is not crashed, and they are handed over again by the next call.
func (a *account) settle(p *process) error {
	ctx, cancel := context.WithTimeout(context.Background(), a.times.open)
	defer cancel()
	err := p.ask(ctx, verbOpen, openParams{Protocol: a.program.Protocol, Account: a.name, Settings: a.settings, DataDir: a.env.DataDir}, &nothing{})
	if errors.Is(err, context.DeadlineExceeded) {
		p.die(fmt.Errorf("it didn't accept the settings within %s", humanize.Duration(a.times.open)))
		return app.Errorf(app.ETimeout, "the provider's program didn't accept the settings within %s; nothing else was sent", humanize.Duration(a.times.open))
	}
	return err
}

// placed says of an error that was found at a start what it is about.
func placed(err error) error {
	e := *app.AsError(err)
	e.Message = "the provider's program can't be used: " + e.Message
	return &e
}

// Close ends the process. Machines stay.
func (a *account) Close() error {
	a.mu.Lock()
	a.closed = true
	live, begins := a.live, a.begins
	a.live, a.opened = nil, false
	a.mu.Unlock()
	if begins != nil {
		<-begins.done
	}
	if live != nil {
		live.close()
	}
	return nil
}
