package providers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/observe"
	"muster/app/template"
)

// limits are the longest times that the verbs may take. That of names is long because many may wait for their turn at a zone; how long a turn takes,
// the member sees to.
type limits struct{ create, describe, list, delete, power, survey, names time.Duration }

var defaultLimits = limits{create: 10 * time.Minute, describe: 30 * time.Second, list: 2 * time.Minute, delete: 10 * time.Minute, power: 10 * time.Minute, survey: 2 * time.Minute, names: 10 * time.Minute}

// Budget shares the calls that an account takes among all of Muster. It's passed in when accounts are opened.
type Budget interface {
	// Take waits until the account may be asked once more. Where that is not soon, it does not wait but returns ERateLimit
	// with the reason "budget" and RetryAfter: nothing was asked then.
	Take(ctx context.Context, account string, rate template.Rate) error
	// Exhausted tells everyone that the cloud itself does not want to be asked before so long.
	Exhausted(ctx context.Context, account string, rate template.Rate, d time.Duration)
}

// listener is a power that a Budget may have: to be notified how calls ended, with nil or with an error that has a code. Without it,
// no one is notified.
type listener interface {
	CallEnded(account string, err error)
}

// unlimited is no budget at all.
type unlimited struct{}

func (unlimited) Take(context.Context, string, template.Rate) error               { return nil }
func (unlimited) Exhausted(context.Context, string, template.Rate, time.Duration) {}

// guarded is the wrapper around every member.
type guarded struct {
	name         string
	account      string // that shares its calls
	installation string
	inner        family.Provider
	descriptor   family.Descriptor
	limits       limits
	budget       Budget
	rate         template.Rate
	meter        observe.Meter
	tracer       observe.Tracer
}

var (
	_ family.Provider       = (*guarded)(nil)
	_ family.ProviderCloser = (*guarded)(nil)
	_ family.LateLister     = (*guarded)(nil)
	_ family.Sleeper        = (*guarded)(nil)
	_ family.Adopter        = (*guarded)(nil)
	_ family.AccountChecker = (*guarded)(nil)
	_ family.Offerer        = (*guarded)(nil)
	_ family.Sharer         = (*guarded)(nil)
	_ family.Namer          = (*guarded)(nil)
	_ family.Baker          = (*guarded)(nil)
	_ family.Empowered      = (*guarded)(nil)
)

// ListsLate passes on what the member says.
func (g *guarded) ListsLate() time.Duration { return family.ListsLate(g.inner) }

// Unwrap returns the member itself; see As.
func (g *guarded) Unwrap() family.Provider { return g.inner }

// Has passes on what the member has. All of the powers may be asked for all the same: without one, its default holds.
func (g *guarded) Has(power any) (ok bool) {
	switch power.(type) {
	case *family.Sleeper:
		_, ok = family.PowerOf[family.Sleeper](g.inner)
	case *family.Adopter:
		_, ok = family.PowerOf[family.Adopter](g.inner)
	case *family.AccountChecker:
		_, ok = family.PowerOf[family.AccountChecker](g.inner)
	case *family.Offerer:
		_, ok = family.PowerOf[family.Offerer](g.inner)
	case *family.Sharer:
		_, ok = family.PowerOf[family.Sharer](g.inner)
	case *family.Namer:
		_, ok = family.PowerOf[family.Namer](g.inner)
	case *family.Volumes:
		_, ok = family.PowerOf[family.Volumes](g.inner)
	case *family.VolumeGetter:
		_, ok = family.PowerOf[family.VolumeGetter](g.inner)
	case *family.VolumeSnapshots:
		_, ok = family.PowerOf[family.VolumeSnapshots](g.inner)
	case *family.Baker:
		_, ok = family.PowerOf[family.Baker](g.inner)
	default:
		ok = true
	}
	return ok
}

// Create refuses a spec that would make a machine which no one could find again.
func (g *guarded) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	if spec.Intent == "" || spec.Tags[family.TagIntent] != spec.Intent {
		return family.Machine{}, app.Errorf(app.EInternal, "%s: create: tag %s must carry the intent", g.name, family.TagIntent)
	}
	if spec.Tags[family.TagInstallation] != g.installation {
		return family.Machine{}, app.Errorf(app.EInternal, "%s: create: tag %s must be %q", g.name, family.TagInstallation, g.installation)
	}
	spec.Flavor, spec.Image = g.understood(spec.Flavor, spec.Image)
	return timed(ctx, g, g.limits.create, "create", func(ctx context.Context) (family.Machine, error) {
		return g.inner.Create(ctx, spec)
	})
}

// Describe shows only machines that carry our installation's tag; any other is ENotFound.
func (g *guarded) Describe(ctx context.Context, id string) (family.Machine, error) {
	return timed(ctx, g, g.limits.describe, "describe", func(ctx context.Context) (family.Machine, error) {
		m, err := g.inner.Describe(ctx, id)
		if err == nil && m.Tags[family.TagInstallation] != g.installation {
			return family.Machine{}, app.Errorf(app.ENotFound, "machine %q doesn't belong to this installation", id)
		}
		return m, err
	})
}

// List adds our installation to the tags that are asked for.
func (g *guarded) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	all := maps.Clone(tags)
	if all == nil {
		all = make(map[string]string, 1)
	}
	if asked, ok := all[family.TagInstallation]; ok && asked != g.installation {
		return nil, nil
	}
	all[family.TagInstallation] = g.installation
	return timed(ctx, g, g.limits.list, "list", func(ctx context.Context) ([]family.Machine, error) {
		return g.inner.List(ctx, all)
	})
}

// Delete looks before it deletes: a machine without our tag is refused with EForbidden and left alone.
func (g *guarded) Delete(ctx context.Context, id string) error {
	// Two calls, two turns: the second one is taken here, so that nothing is half done while it is waited for.
	if err := g.budget.Take(ctx, g.account, g.rate); err != nil {
		return coded(ctx, g.name, "delete", err)
	}
	_, err := timed(ctx, g, g.limits.delete, "delete", func(ctx context.Context) (struct{}, error) {
		m, err := g.inner.Describe(ctx, id)
		switch {
		case app.CodeOf(err) == app.ENotFound:
			// What cannot be described may still have left something behind, so the member is asked all the same.
		case err != nil:
			return struct{}{}, err
		case m.Tags[family.TagInstallation] != g.installation:
			return struct{}{}, app.Errorf(app.EForbidden, "machine %q doesn't belong to this installation and isn't changed", id)
		}
		return struct{}{}, g.inner.Delete(ctx, id)
	})
	return err
}

// Sleep stops a machine of ours; EInvalid, reason cannot_sleep, where the member cannot do that.
func (g *guarded) Sleep(ctx context.Context, id string) error {
	return g.power(ctx, "sleep", id, family.Sleeper.Sleep)
}

// Wake starts a machine of ours that was stopped.
func (g *guarded) Wake(ctx context.Context, id string) error {
	return g.power(ctx, "wake", id, family.Sleeper.Wake)
}

// Adopt returns a machine of ours to another node, where the member can: to do nothing is the default. It refuses what would make a machine that no one
// could find again.
func (g *guarded) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	a, ok := family.PowerOf[family.Adopter](g.inner)
	if !ok {
		return nil
	}
	m, err := g.Describe(ctx, id)
	if err != nil {
		return err
	}
	if spec.Intent == "" || spec.Tags[family.TagIntent] != spec.Intent || m.Tags[family.TagIntent] != spec.Intent {
		return app.Errorf(app.EInternal, "%s: adopt: tag %s must stay the machine's own intent", g.name, family.TagIntent)
	}
	if spec.Tags[family.TagInstallation] != g.installation {
		return app.Errorf(app.EInternal, "%s: adopt: tag %s must be %q", g.name, family.TagInstallation, g.installation)
	}
	spec.Flavor, spec.Image = g.understood(spec.Flavor, spec.Image)
	_, err = timed(ctx, g, g.limits.power, "adopt", func(ctx context.Context) (struct{}, error) { return struct{}{}, a.Adopt(ctx, id, spec) })
	return err
}

// CheckAccount has the member look; where it cannot, a list of our machines tells at least whether the account answers.
func (g *guarded) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	c, ok := family.PowerOf[family.AccountChecker](g.inner)
	if !ok {
		ms, err := g.List(ctx, nil)
		if err != nil {
			return []family.Finding{Finding(err)}, nil
		}
		return []family.Finding{{About: family.AboutCredentials, OK: true, Message: fmt.Sprintf("The account is accessible and has %s of this installation.", humanize.Count(len(ms), "machine"))}}, nil
	}
	needs.Machines = slices.Clone(needs.Machines)
	for i := range needs.Machines {
		n := &needs.Machines[i]
		n.Flavor, n.Image = g.understood(n.Flavor, n.Image)
	}
	return timed(ctx, g, g.limits.survey, "check", func(ctx context.Context) ([]family.Finding, error) { return c.CheckAccount(ctx, needs) })
}

// understood leaves of what a flavor and an image say only what the member has declared. All else is not for it, and must not get the better
// of an account's settings: authors of hardware types may not be the account's owners.
func (g *guarded) understood(f template.Flavor, i template.Image) (template.Flavor, template.Image) {
	f.Extra, i.Extra = only(f.Extra, g.descriptor.FlavorFields), only(i.Extra, g.descriptor.ImageFields)
	return f, i
}

func only(extra map[string]string, fields []family.Field) map[string]string {
	var out map[string]string
	for _, f := range fields {
		if v, ok := extra[f.Name]; ok {
			if out == nil {
				out = map[string]string{}
			}
			out[f.Name] = v
		}
	}
	return out
}

// Offers is empty where the member cannot tell.
func (g *guarded) Offers(ctx context.Context) (family.Offers, error) {
	o, ok := family.PowerOf[family.Offerer](g.inner)
	if !ok {
		return family.Offers{}, nil
	}
	return timed(ctx, g, g.limits.survey, "offers", o.Offers)
}

// Shared lists only what carries our installation's tag; nothing where the member makes no such things.
func (g *guarded) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	s, ok := family.PowerOf[family.Sharer](g.inner)
	if !ok {
		return nil, nil
	}
	all := maps.Clone(tags)
	if all == nil {
		all = make(map[string]string, 1)
	}
	all[family.TagInstallation] = g.installation
	return timed(ctx, g, g.limits.names, "list shared", func(ctx context.Context) ([]family.SharedThing, error) { return s.Shared(ctx, all) })
}

// DeleteShared looks before it deletes, as Delete does: what does not carry our tag is taken to be absent.
func (g *guarded) DeleteShared(ctx context.Context, id string) error {
	s, ok := family.PowerOf[family.Sharer](g.inner)
	if !ok {
		return nil
	}
	ours, err := g.Shared(ctx, nil)
	if err != nil || !slices.ContainsFunc(ours, func(t family.SharedThing) bool { return t.ID == id }) {
		return err
	}
	_, err = timed(ctx, g, g.limits.delete, "delete shared", func(ctx context.Context) (struct{}, error) { return struct{}{}, s.DeleteShared(ctx, id) })
	return err
}

// NameZone is "" where the member keeps no names.
func (g *guarded) NameZone() string {
	n, ok := family.PowerOf[family.Namer](g.inner)
	if !ok {
		return ""
	}
	return n.NameZone()
}

// SetName refuses names of machines that no one would know for ours; to do nothing is the default.
func (g *guarded) SetName(ctx context.Context, m family.Machine) error {
	n, ok := family.PowerOf[family.Namer](g.inner)
	if !ok {
		return nil
	}
	if m.Tags[family.TagInstallation] != g.installation || m.Tags[family.TagIntent] == "" {
		return app.Errorf(app.EInternal, "%s: name: machine %q doesn't have this installation's tags", g.name, m.ID)
	}
	_, err := timed(ctx, g, g.limits.names, "name", func(ctx context.Context) (struct{}, error) { return struct{}{}, n.SetName(ctx, m) })
	return err
}

// power looks before it acts, as Delete does: a machine without our tag is ENotFound.
func (g *guarded) power(ctx context.Context, verb, id string, act func(family.Sleeper, context.Context, string) error) error {
	s, ok := family.PowerOf[family.Sleeper](g.inner)
	if !ok {
		return &app.Error{Code: app.EInvalid, Reason: "cannot_sleep", Message: fmt.Sprintf("%s: %s: this provider can't stop and keep machines", g.name, verb)}
	}
	if _, err := g.Describe(ctx, id); err != nil {
		return err
	}
	_, err := timed(ctx, g, g.limits.power, verb, func(ctx context.Context) (struct{}, error) { return struct{}{}, act(s, ctx, id) })
	return err
}

// Close lets go of what the member holds, if it holds anything.
func (g *guarded) Close() error {
	if c, ok := g.inner.(family.ProviderCloser); ok {
		return c.Close()
	}
	return nil
}

// notify tells listeners how a call ended. That there is no such machine is an answer like any other.
func (g *guarded) notify(err error) {
	if l, ok := g.budget.(listener); ok {
		if app.CodeOf(err) == app.ENotFound {
			err = nil
		}
		l.CallEnded(g.name, err)
	}
}

// watch counts and follows one call. That there is no such machine is an answer like any other.
func (g *guarded) watch(ctx context.Context, verb string) (context.Context, func(context.Context, error)) {
	began := time.Now()
	ctx, end := observe.Begin(ctx, g.tracer, "provider "+verb, observe.Attribute{Name: observe.KindAttribute, Value: "client"}, observe.Attribute{Name: "muster.provider", Value: g.name})
	return ctx, func(caller context.Context, err error) {
		if app.CodeOf(err) == app.ENotFound {
			err = nil
		}
		if err != nil {
			err = coded(caller, g.name, verb, err)
		}
		g.meter.Add(observe.MetricCalls, 1, g.name, verb, app.CodeLabel(err))
		g.meter.ObserveDuration(observe.MetricCallTime, time.Since(began), g.name, verb)
		if app.CodeOf(err) == app.ERateLimit {
			g.meter.Add(observe.MetricThrottled, 1, g.name, "provider")
		}
		end(err)
	}
}

// timed runs one call in its turn and within its limit, and sets its error's code.
func timed[T any](ctx context.Context, g *guarded, limit time.Duration, verb string, call func(context.Context) (T, error)) (T, error) {
	var zero T
	if err := g.budget.Take(ctx, g.account, g.rate); err != nil {
		return zero, coded(ctx, g.name, verb, err)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	bounded, watched := g.watch(bounded, verb)
	v, err := call(bounded)
	watched(ctx, err)
	if err == nil {
		g.notify(nil)
		return v, nil
	}
	defer func() {
		if ctx.Err() == nil { // where someone asked to stop, it says nothing of the account
			g.notify(coded(ctx, g.name, verb, err))
		}
	}()
	if e := app.AsError(err); e.Code == app.ERateLimit && e.RetryAfter > 0 {
		g.budget.Exhausted(context.WithoutCancel(ctx), g.account, g.rate, e.RetryAfter)
	}
	return zero, coded(ctx, g.name, verb, err)
}

// coded puts the place in front of an error, and a code on one that has none. ctx is the caller's own: only when that
// was cancelled did someone ask to stop.
func coded(ctx context.Context, name, verb string, err error) error {
	var e *app.Error
	if errors.As(err, &e) {
		out := *e
		if e.Reason == app.ReasonCloudBroken && strings.Contains(e.Message, app.CloudBroken) {
			out.Message = fmt.Sprintf("%s (account %s, %s)", strings.TrimRight(e.Message, "."), name, verb)
			return &out
		}
		out.Message = fmt.Sprintf("%s: %s: %s", name, verb, e.Message)
		return &out
	}
	e = app.Errorf(codeOf(ctx, err), "%s: %s: %w", name, verb, err)
	if e.Code == app.ETransient { // the network failed
		e.Reason = app.ReasonCloudBroken
	}
	return e
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
