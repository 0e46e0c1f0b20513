package providers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"syscall"
	"time"

	"muster/app"
)

// limits are the longest times that the verbs may take.
type limits struct{ create, describe, list, delete, power time.Duration }

var defaultLimits = limits{create: 10 * time.Minute, describe: 30 * time.Second, list: 2 * time.Minute, delete: 10 * time.Minute, power: 10 * time.Minute}

// Budget shares the calls that an account takes among all of Muster. Whoever opens accounts hands one over.
type Budget interface {
	// Take waits until the account may be asked once more. Where that is not soon, it does not wait but gives ERateLimit
	// with the reason "budget" and RetryAfter: nothing was asked then.
	Take(ctx context.Context, account string, rate app.Rate) error
	// Exhausted tells everybody that the cloud itself does not want to be asked before so long.
	Exhausted(ctx context.Context, account string, rate app.Rate, d time.Duration)
}

// unlimited is no budget at all.
type unlimited struct{}

func (unlimited) Take(context.Context, string, app.Rate) error               { return nil }
func (unlimited) Exhausted(context.Context, string, app.Rate, time.Duration) {}

// guarded is the wrapper around every member.
type guarded struct {
	name         string
	installation string
	inner        app.Provider
	limits       limits
	budget       Budget
	rate         app.Rate
}

var (
	_ app.Provider       = (*guarded)(nil)
	_ app.ProviderCloser = (*guarded)(nil)
	_ app.LateLister     = (*guarded)(nil)
	_ app.Sleeper        = (*guarded)(nil)
	_ app.Adopter        = (*guarded)(nil)
)

// ListsLate passes on what the member says.
func (g *guarded) ListsLate() time.Duration { return app.ListsLate(g.inner) }

// Unwrap gives the member itself; see As.
func (g *guarded) Unwrap() app.Provider { return g.inner }

// Create refuses a spec that would make a machine which nobody could find again.
func (g *guarded) Create(ctx context.Context, spec app.MachineSpec) (app.Machine, error) {
	if spec.Intent == "" || spec.Tags[app.TagIntent] != spec.Intent {
		return app.Machine{}, app.Errorf(app.EInternal, "%s: create: tag %s must carry the intent", g.name, app.TagIntent)
	}
	if spec.Tags[app.TagInstallation] != g.installation {
		return app.Machine{}, app.Errorf(app.EInternal, "%s: create: tag %s must be %q", g.name, app.TagInstallation, g.installation)
	}
	return timed(ctx, g, g.limits.create, "create", func(ctx context.Context) (app.Machine, error) {
		return g.inner.Create(ctx, spec)
	})
}

// Describe shows only machines that carry our installation's tag; any other is ENotFound.
func (g *guarded) Describe(ctx context.Context, id string) (app.Machine, error) {
	return timed(ctx, g, g.limits.describe, "describe", func(ctx context.Context) (app.Machine, error) {
		m, err := g.inner.Describe(ctx, id)
		if err == nil && m.Tags[app.TagInstallation] != g.installation {
			return app.Machine{}, app.Errorf(app.ENotFound, "machine %q is not one of this installation", id)
		}
		return m, err
	})
}

// List adds our installation to the tags that are asked for.
func (g *guarded) List(ctx context.Context, tags map[string]string) ([]app.Machine, error) {
	all := maps.Clone(tags)
	if all == nil {
		all = make(map[string]string, 1)
	}
	if asked, ok := all[app.TagInstallation]; ok && asked != g.installation {
		return nil, nil
	}
	all[app.TagInstallation] = g.installation
	return timed(ctx, g, g.limits.list, "list", func(ctx context.Context) ([]app.Machine, error) {
		return g.inner.List(ctx, all)
	})
}

// Delete looks before it deletes: a machine without our tag is refused with EForbidden and left alone.
func (g *guarded) Delete(ctx context.Context, id string) error {
	// Two calls, two turns: the second one is taken here, so that nothing is half done while it is waited for.
	if err := g.budget.Take(ctx, g.name, g.rate); err != nil {
		return coded(ctx, g.name, "delete", err)
	}
	_, err := timed(ctx, g, g.limits.delete, "delete", func(ctx context.Context) (struct{}, error) {
		m, err := g.inner.Describe(ctx, id)
		switch {
		case app.CodeOf(err) == app.ENotFound:
			// What cannot be described may still have left something behind, so the member is asked all the same.
		case err != nil:
			return struct{}{}, err
		case m.Tags[app.TagInstallation] != g.installation:
			return struct{}{}, app.Errorf(app.EForbidden, "machine %q does not belong to this installation and is left alone", id)
		}
		return struct{}{}, g.inner.Delete(ctx, id)
	})
	return err
}

// Sleep stops a machine of ours; EInvalid, reason cannot_sleep, where the member cannot do that.
func (g *guarded) Sleep(ctx context.Context, id string) error {
	return g.power(ctx, "sleep", id, app.Sleeper.Sleep)
}

// Wake starts a machine of ours that was stopped.
func (g *guarded) Wake(ctx context.Context, id string) error {
	return g.power(ctx, "wake", id, app.Sleeper.Wake)
}

// Adopt gives a machine of ours to another node, where the member can: to do nothing is the default. It refuses what would make a machine that nobody could find again.
func (g *guarded) Adopt(ctx context.Context, id string, spec app.MachineSpec) error {
	a, ok := g.inner.(app.Adopter)
	if !ok {
		return nil
	}
	m, err := g.Describe(ctx, id)
	if err != nil {
		return err
	}
	if spec.Intent == "" || spec.Tags[app.TagIntent] != spec.Intent || m.Tags[app.TagIntent] != spec.Intent {
		return app.Errorf(app.EInternal, "%s: adopt: tag %s must stay the machine's own intent", g.name, app.TagIntent)
	}
	if spec.Tags[app.TagInstallation] != g.installation {
		return app.Errorf(app.EInternal, "%s: adopt: tag %s must be %q", g.name, app.TagInstallation, g.installation)
	}
	_, err = timed(ctx, g, g.limits.power, "adopt", func(ctx context.Context) (struct{}, error) { return struct{}{}, a.Adopt(ctx, id, spec) })
	return err
}

// power looks before it acts, as Delete does: a machine without our tag is ENotFound.
func (g *guarded) power(ctx context.Context, verb, id string, act func(app.Sleeper, context.Context, string) error) error {
	s, ok := g.inner.(app.Sleeper)
	if !ok {
		return &app.Error{Code: app.EInvalid, Reason: "cannot_sleep", Message: fmt.Sprintf("%s: %s: machines of this provider cannot be stopped and kept", g.name, verb)}
	}
	if _, err := g.Describe(ctx, id); err != nil {
		return err
	}
	_, err := timed(ctx, g, g.limits.power, verb, func(ctx context.Context) (struct{}, error) { return struct{}{}, act(s, ctx, id) })
	return err
}

// Close lets go of what the member holds, if it holds anything.
func (g *guarded) Close() error {
	if c, ok := g.inner.(app.ProviderCloser); ok {
		return c.Close()
	}
	return nil
}

// timed runs one call in its turn and within its limit, and gives its error a code.
func timed[T any](ctx context.Context, g *guarded, limit time.Duration, verb string, call func(context.Context) (T, error)) (T, error) {
	var zero T
	if err := g.budget.Take(ctx, g.name, g.rate); err != nil {
		return zero, coded(ctx, g.name, verb, err)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	v, err := call(bounded)
	if err == nil {
		return v, nil
	}
	if e := app.AsError(err); e.Code == app.ERateLimit && e.RetryAfter > 0 {
		g.budget.Exhausted(context.WithoutCancel(ctx), g.name, g.rate, e.RetryAfter)
	}
	return zero, coded(ctx, g.name, verb, err)
}

// coded puts the place in front of an error, and a code on one that has none. ctx is the caller's own: only when that
// was cancelled did someone ask to stop.
func coded(ctx context.Context, name, verb string, err error) error {
	var e *app.Error
	if errors.As(err, &e) {
		out := *e
		out.Message = fmt.Sprintf("%s: %s: %s", name, verb, e.Message)
		return &out
	}
	return app.Errorf(codeOf(ctx, err), "%s: %s: %w", name, verb, err)
}

func codeOf(ctx context.Context, err error) app.Code {
	var network net.Error
	var dns *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return app.ECancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return app.ETimeout
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return app.ECapacity
	case errors.As(err, &dns):
		return app.ETransient
	case errors.As(err, &network):
		if network.Timeout() {
			return app.ETimeout
		}
		return app.ETransient
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return app.ETransient
	}
	return app.EInternal
}
