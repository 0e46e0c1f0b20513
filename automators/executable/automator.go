package executable

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/program"
	"muster/automators/internal/node"
)

// Automator carries out actions by a program. One value serves all nodes, with a process for each action at a time.
type Automator struct {
	program Program
	times   times
	log     *slog.Logger

	mu     sync.Mutex
	idle   []*process // those last used last
	timer  *time.Timer
	closed bool
}

// maxIdle is how many processes without work are kept.
const maxIdle = 4

var (
	_ family.Automator = (*Automator)(nil)
	_ family.DryRunner = (*dryAutomator)(nil)
)

// dryAutomator is that of a program that can say what an action would change.
type dryAutomator struct{ *Automator }

// New returns the automator of a program: a *dryAutomator where it has that power. Close ends the processes that it keeps.
func New(p Program, log *slog.Logger) interface {
	family.Automator
	Close() error
} {
	a := &Automator{program: p, times: usualTimes, log: log}
	if p.DryRuns {
		return &dryAutomator{a}
	}
	return a
}

// Descriptor is what the program said of itself.
func (a *Automator) Descriptor() family.Descriptor { return a.program.Descriptor }

// Tools are the programs that the node needs.
func (a *Automator) Tools() []string { return a.program.Tools }

// Close ends all processes that wait for work; those that have some end when it is done. It does not fail.
func (a *Automator) Close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.sweep()
	return nil
}

// take returns a process: one that waits for work, or a new one.
func (a *Automator) take() (*process, error) {
	a.mu.Lock()
	for len(a.idle) > 0 {
		p := a.idle[len(a.idle)-1]
		a.idle = a.idle[:len(a.idle)-1]
		if p.life.Outdated() {
			go p.close()
			continue
		}
		select {
		case <-p.life.Ended():
			continue
		default:
			a.mu.Unlock()
			return p, nil
		}
	}
	a.mu.Unlock()
	if err := program.Vet(a.program.Path, Prefix); err != nil {
		return nil, notStarted(err)
	}
	p, err := start(a.program.Path, program.Environ(a.program.Env), a.times)
	if err != nil {
		if program.IsRefused(err) {
			return nil, notStarted(err)
		}
		return nil, app.Errorf(app.ETransient, "can't start the automator's program: %w", err)
	}
	return p, nil
}

func notStarted(err error) error {
	e := *app.AsError(err)
	e.Message = "the automator's program didn't start: " + e.Message
	return &e
}

// give takes a process back.
func (a *Automator) give(p *process) {
	p.hear(func(line string) {
		a.log.Debug("output of the automator's program", "program", a.program.Name, "line", line)
	})
	a.mu.Lock()
	keep := !p.isBad() && !a.closed && len(a.idle) < maxIdle
	if keep {
		a.idle = append(a.idle, p)
		if a.timer == nil {
			a.timer = time.AfterFunc(a.times.idle, a.sweep)
		} else {
			a.timer.Reset(a.times.idle)
		}
	}
	a.mu.Unlock()
	if !keep {
		p.close()
	}
}

// sweep ends the processes that wait for work.
func (a *Automator) sweep() {
	a.mu.Lock()
	idle := a.idle
	a.idle = nil
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	a.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range idle {
		all.Go(p.close)
	}
	all.Wait()
}

// Check asks the program about fields.
func (a *Automator) Check(fields map[string]string) error {
	if fields == nil {
		fields = map[string]string{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), a.times.check)
	defer cancel()
	p, err := a.take()
	if err != nil {
		return err
	}
	defer a.give(p)
	p.hear(func(line string) {
		a.log.Info("output of the automator's program", "program", a.program.Name, "line", line)
	})
	_, err = p.ask(ctx, "", verbCheck, checkParams{fields}, nil, &node.LastLine{})
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid && !a.hasField(e.Field) {
		e.Field = ""
	}
	return err
}

func (a *Automator) hasField(name string) bool {
	for _, f := range a.program.Descriptor.Fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Bootstrap has the program prepare a node.
func (a *Automator) Bootstrap(ctx context.Context, sh family.Shell, n family.NodeContext, out family.Output) error {
	_, err := a.act(ctx, sh, family.ServiceCall{NodeContext: n, Step: "bootstrap " + n.Node}, verbBootstrap, bootstrapParams{lineOf(n)}, out)
	return err
}

// Run has it carry out an action.
func (a *Automator) Run(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) error {
	if err := a.Check(call.Fields); err != nil {
		return err
	}
	result, err := a.act(ctx, sh, call, verbRun, paramsOf(call), out)
	if err != nil || call.Tell == nil || len(result.Facts) == 0 || string(result.Facts) == "null" {
		return err
	}
	facts, wrong := node.Facts(string(result.Facts))
	for _, w := range wrong {
		node.Say(out, w)
	}
	if len(facts) > 0 {
		call.Tell(facts)
	}
	return nil
}

// DryRun has it say what an action would change.
func (a *dryAutomator) DryRun(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) (changes family.Changes, err error) {
	if err := a.Check(call.Fields); err != nil {
		return changes, err
	}
	result, err := a.act(ctx, sh, call, verbDryRun, paramsOf(call), out)
	for _, text := range result.Changes {
		changes.Add(program.Tidy(text, 300))
	}
	return changes, err
}

// act carries out one verb that has a node.
func (a *Automator) act(ctx context.Context, sh family.Shell, call family.ServiceCall, verb string, params any, out family.Output) (result doneResult, err error) {
	what := call.Service + " " + string(call.Action)
	if verb == verbBootstrap {
		what = "bootstrap of " + call.Node
	}
	p, err := a.take()
	if err != nil {
		return result, err
	}
	defer a.give(p)
	p.hear(func(line string) { node.Say(out, line) })
	h := &nodeIO{sh: sh, call: call, out: out, dry: verb == verbDryRun}
	defer h.clear(ctx)
	raw, err := p.ask(ctx, what, verb, params, h.do, &h.last)
	// What the shell says of the connection counts more than what the program makes of it.
	if h.broken != nil && err != nil && ctx.Err() == nil {
		err = h.broken
	}
	if err != nil {
		if e := app.AsError(err); e.Code == app.EInvalid || e.Code == app.EScript {
			return result, e
		}
		return result, fmt.Errorf("%s: %w", a.program.Name, err)
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, app.Errorf(app.EInternal, "%s: %s: the automator's program returned an invalid result (%s)", a.program.Name, what, program.Tidy(err.Error(), 200))
	}
	return result, nil
}
