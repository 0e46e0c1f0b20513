package jobs

import (
	"context"
	"fmt"
	"maps"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/humanize"
	"muster/jobs/internal/loop"
	"muster/jobs/remote"
)

// confirm waits until the machine has an address, answers, and has proved who it is. A new machine that does not get so far is
// replaced by another, so many times.
func (w *actions) confirm(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return err
	}
	if err := w.replacement(ctx, p, as, out, r); err != nil {
		return err
	}
	waits, cancel := ctx, context.CancelFunc(func() {})
	if replaces(as) {
		waits, cancel = context.WithTimeout(ctx, as.Timeout-as.Timeout/replaceShare)
	}
	defer cancel()
	if err = w.arrive(waits, p, as, out, r); err == nil {
		return nil
	}
	return w.replace(ctx, as, out, r, err)
}

// arrive is the wait for the machine that the node has now.
func (w *actions) arrive(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output, r *execution.Report) error {
	m, err := awaitAddress(ctx, p, as, newProgress(out))
	if err != nil {
		return fmt.Errorf("%s: describe: %w", as.Provider.Name, err)
	}
	if err := w.found(ctx, p, as, m, out, r); err != nil {
		return err
	}
	if as.FromPool != nil {
		r.Pooled = true
		return w.rotateKey(ctx, p, as, out, r)
	}
	return w.awaitLogin(ctx, p, as, out, r)
}

// found notes where the machine is, and sets its name.
func (w *actions) found(ctx context.Context, p family.Provider, as *execution.Assignment, m family.Machine, out family.Output, r *execution.Report) error {
	n := as.Node
	n.Addresses, n.SSHPort = m.Addresses, m.SSHPort
	if m.SSHUser != "" {
		n.SSHUser = m.SSHUser
	}
	if m.HostKey != "" {
		n.HostKey = m.HostKey
	}
	as.Node = n
	r.Machine = &m
	return setName(ctx, p, as, m, out)
}

const (
	// absentGrace is how long a machine that was just created may be unknown to its own provider.
	absentGrace = 30 * time.Second
	// goneAfter is how long a machine that the provider has shown has to be unknown to it before it counts as deleted: of several
	// servers that answer for a provider, one may be behind the others.
	goneAfter = 3 * time.Second
	// bindGrace is how long a running machine without an address of its own for access is waited for, before the one that it has among its
	// neighbors is taken for it.
	bindGrace = time.Minute
	// lookFirst is the first pause between looks at a machine that is waited for. Later ones are a quarter of the time so far, so that a machine that is up
	// soon is noticed soon, and one that takes long does not use up the account's calls.
	lookFirst = 200 * time.Millisecond
	// The pauses between looks at a machine that runs, while logging in is tried.
	watchFirst = time.Second
	maxWatch   = 10 * time.Second
)

// Reasons of a machine that will never answer.
const (
	reasonGone = "machine_gone"
	reasonDown = "machine_stopped"
)

func lookPause(began time.Time) time.Duration {
	return min(max(time.Since(began)/4, lookFirst), longPause)
}

// absence counts for how long a provider does not know a machine.
type absence struct {
	began, since time.Time
	known        bool // the provider has shown the machine
}

// gone reports whether an answer means that the machine is deleted.
func (a *absence) gone(err error) bool {
	if app.CodeOf(err) != app.ENotFound {
		a.known, a.since = a.known || err == nil, time.Time{}
		return false
	}
	if a.since.IsZero() {
		a.since = time.Now()
	}
	if a.known {
		return time.Since(a.since) >= goneAfter
	}
	return time.Since(a.began) >= absentGrace
}

func errGone(as *execution.Assignment) error {
	return &app.Error{Code: app.ENotFound, Reason: reasonGone, Message: fmt.Sprintf("Machine %s no longer exists.", as.Node.MachineID)}
}

// awaitAddress asks the provider until the machine runs and has the address by which Muster reaches it. The one reported when a machine was
// created holds until the provider tells another: it may tell of it later than it gave it.
func awaitAddress(ctx context.Context, p family.Provider, as *execution.Assignment, tell *progress) (family.Machine, error) {
	away := absence{began: time.Now()}
	var bound time.Time // since when it runs and has only an address among its neighbors
	state, asked := "the provider doesn't list the machine yet", true
	for try := 1; ; try++ {
		m, err := p.Describe(ctx, as.Node.MachineID)
		if ctx.Err() == nil {
			asked = err == nil || app.CodeOf(err) == app.ENotFound
			switch gone := away.gone(err); {
			case gone:
				return m, errGone(as)
			case app.AsError(err).RetryAfter > longPause: // others can use the slot until then
				return m, err
			case app.CodeOf(err) == app.ENotFound:
			case app.CodeOf(err) == app.ETransient, app.CodeOf(err) == app.ERateLimit, app.CodeOf(err) == app.ETimeout:
				state = app.AsError(err).ForPeople()
			case err != nil:
				return m, err
			case m.State == family.MachineStopped:
				return m, &app.Error{Code: app.ENotFound, Reason: reasonDown, Message: fmt.Sprintf("Machine %s stopped and doesn't start again%s.", m.ID, inWords(m.Note))}
			case m.State == family.MachineRunning:
				m.Addresses = knownAddresses(as, m)
				if m.Addresses[app.AddressAccess] != "" {
					return m, nil
				}
				if bound.IsZero() {
					bound = time.Now()
				}
				if m.Addresses[app.AddressBind] != "" && time.Since(bound) >= bindGrace {
					return m, nil
				}
				state = "it's running but has no address yet"
			default:
				state = "it's starting" + inWords(m.Note)
			}
		}
		tell.say("machine "+as.Node.MachineID, try, state)
		if loop.Pause(ctx, lookPause(away.began)) != nil {
			e := app.Errorf(app.ETimeout, "Machine %s didn't come up: %s.", as.Node.MachineID, state)
			if asked { // else the machine may be well, and the provider cannot say so
				e.Reason = reasonNoAddress
			}
			return m, e
		}
	}
}

// reasonNoAddress marks a machine that the provider shows, and that did not run or had no address in its time.
const reasonNoAddress = "no_address"

// knownAddresses are those of a machine, and of those that it had when it was created the ones that this answer leaves out.
func knownAddresses(as *execution.Assignment, m family.Machine) map[string]string {
	if as.Action != app.ActionConfirm || m.ID != as.Node.MachineID {
		return m.Addresses
	}
	all := map[string]string{}
	maps.Copy(all, as.Node.Addresses)
	maps.Copy(all, m.Addresses)
	return all
}

// awaitLogin logs in until it works. Meanwhile the provider is asked again, since the machine may go or get another address. The connection
// is kept for the node's next steps.
func (w *actions) awaitLogin(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output, r *execution.Report) error {
	tell := newProgress(out)
	for {
		t := w.target(as, as.SSHKey)
		in, stop := context.WithCancel(remote.Telling(ctx, tell.login(t)))
		changed := make(chan change, 1)
		go func() {
			defer close(changed)
			if c, ok := lookWhileWaiting(in, p, as); ok {
				changed <- c
				stop()
			}
		}()
		key, err := w.awaited(in, t)
		stop()
		c, ok := <-changed
		switch {
		case err == nil:
			if t.HostKey == "" {
				r.HostKey = key
				out(family.StreamSystem, "Pinned the host key on first contact.")
			}
			out(family.StreamSystem, fmt.Sprintf("%s is reachable at %s.", as.Node.Hostname, t))
			return nil
		case !ok || ctx.Err() != nil:
			return err
		case c.err != nil:
			return c.err
		}
		out(family.StreamSystem, fmt.Sprintf("Machine %s has a new address: %s.", c.machine.ID, c.machine.Addresses[app.AddressAccess]))
		if err := w.found(ctx, p, as, c.machine, out, r); err != nil {
			return err
		}
	}
}

// change is what happened to a machine while logging in was tried: it is gone or has stopped, or is somewhere else.
type change struct {
	machine family.Machine
	err     error
}

// lookWhileWaiting describes a machine until there is a change, or ctx ends. Where the provider can't be asked, logging in continues.
func lookWhileWaiting(ctx context.Context, p family.Provider, as *execution.Assignment) (c change, ok bool) {
	away := absence{began: time.Now(), known: true}
	for wait := watchFirst; loop.Pause(ctx, wait) == nil; wait = min(wait*3/2, maxWatch) {
		m, err := p.Describe(ctx, as.Node.MachineID)
		gone := away.gone(err)
		switch {
		case ctx.Err() != nil:
			return c, false
		case gone:
			return change{err: errGone(as)}, true
		case app.CodeOf(err) == app.ENotFound:
			wait = watchFirst // look closely
		case err != nil:
			wait = max(wait, min(app.AsError(err).RetryAfter, time.Minute))
		case m.State == family.MachineStopped:
			return change{err: &app.Error{Code: app.ENotFound, Reason: reasonDown, Message: fmt.Sprintf("Machine %s has stopped%s.", m.ID, inWords(m.Note))}}, true
		case m.Addresses[app.AddressAccess] != "" && m.Addresses[app.AddressAccess] != as.Node.Address(app.AddressAccess):
			m.Addresses = knownAddresses(as, m)
			return change{machine: m}, true
		}
	}
	return c, false
}

// progress writes into a step's log what is waited for: when that changes, and from time to time.
type progress struct {
	out   family.Output
	began time.Time
	next  time.Time     // when the same may be reported again
	gap   time.Duration // until then
	last  string
	soon  time.Time // when something new may be reported
}

const (
	progressAfter = time.Second // what is over by then is not worth a line
	progressMax   = time.Minute
	progressText  = 300 // bytes of the obstacle
)

func newProgress(out family.Output) *progress {
	now := time.Now()
	return &progress{out: out, began: now, soon: now.Add(progressAfter), gap: 5 * time.Second}
}

// say tells what is waited for, which try failed, and why.
func (p *progress) say(what string, try int, why string) {
	now := time.Now()
	why = humanize.CutText(why, progressText)
	if now.Before(p.soon) || why == p.last && now.Before(p.next) {
		return
	}
	p.last, p.next, p.soon = why, now.Add(p.gap), now.Add(progressAfter)
	p.gap = min(2*p.gap, progressMax)
	p.out(family.StreamSystem, fmt.Sprintf("Waiting for %s (attempt %d, %s so far): %s", what, try, humanize.Duration(now.Sub(p.began)), why))
}

// login is notified of tries to log in.
func (p *progress) login(t remote.Target) func(int, error) {
	return func(try int, err error) { p.say("SSH on "+t.String(), try, app.AsError(err).ForPeople()) }
}
