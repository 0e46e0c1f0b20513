package static

import (
	"context"
	"errors"
	"maps"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
)

// errChanged says that someone else has changed the machine's record: look again.
var errChanged = app.Errorf(app.ETransient, "Something else changed the machine's record in the meantime.")

func changed(err error) bool { return errors.Is(err, errChanged) }

// Delete implements family.Provider: the machine is wiped and made free. Its record says so from the first step to the last, so that a retry
// continues there.
func (p *provider) Delete(ctx context.Context, id string) error {
	for range rounds {
		v, err := p.find(ctx, id)
		if app.CodeOf(err) == app.ENotFound {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if v.out {
			e := app.Errorf(app.ETransient, "Machine %s is out of service, so it can't be wiped.", v.name)
			e.Hint = "Remove the word out from its line when it's reachable again, or the whole line if it's gone for good."
			return e
		}
		if v.silent != nil {
			return v.silent
		}
		if err = p.giveBack(ctx, v); !changed(err) {
			return err
		}
	}
	return errChanged
}

// runWipe runs the script wipe. A machine on which it fails stays out of use.
func (p *provider) runWipe(ctx context.Context, v *view) error {
	out, exit, err := p.run(ctx, v.machine, runScript(v.line, letIn("", v.rec.Token, v.rec.Keys), p.wipe, p.wipeTime))
	switch {
	case err != nil:
		return err
	case exit == exitChanged:
		return errChanged
	case exit == exitFailed:
		why := tail(out)
		if _, err := p.change(ctx, v, v.rec.with(func(r *record) { r.Failed = why }), "", ""); err != nil {
			p.log.Warn("machine not wiped, and its record can't be updated", "machine", v.name, "error", err)
		}
		e := app.Errorf(app.ETransient, "Machine %s was released, but its wipe script failed: %s.", v.name, why)
		e.Reason, e.Hint = "wipe_failed", "It stays out of use. Check the script or the machine, then delete it again."
		return e
	}
	return nil
}

// giveBack marks, wipes and frees a machine, from wherever its record says that it is.
func (p *provider) giveBack(ctx context.Context, v *view) error {
	var err error
	if v.rec.State != wiping || v.rec.Failed != "" {
		next := v.rec.with(func(r *record) { r.State, r.Failed = wiping, "" })
		// No one of those who had it comes in from here on.
		if v, err = p.change(ctx, v, next, "", letIn("", next.Token, next.Keys)); err != nil {
			return err
		}
		if err := p.after("marked"); err != nil {
			return err
		}
	}
	if p.wipe != "" {
		if err := p.runWipe(ctx, v); err != nil {
			return err
		}
		if err := p.after("wiped"); err != nil {
			return err
		}
	}
	_, exit, err := p.run(ctx, v.machine, finishScript(v.line, v.rec))
	if err != nil {
		return err
	}
	if exit == exitChanged {
		return errChanged
	}
	return p.memory.note(v.machine, nil)
}

func (p *provider) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	w := new(requirements)
	if err := p.who(w, spec); err != nil {
		return err
	}
	for range rounds {
		v, err := p.find(ctx, id)
		switch {
		case err != nil:
			return err
		case v.silent != nil:
			return v.silent
		case v.rec.Intent != spec.Intent || spec.Tags[family.TagIntent] != v.rec.Intent:
			return app.Errorf(app.EInvalid, "Machine %s was created for another intent.", id)
		case v.out || v.rec.State != ready:
			return app.Errorf(app.ETransient, "Machine %s isn't ready to be adopted.", v.name)
		}
		if v.rec.Hostname == spec.Hostname && maps.Equal(v.rec.Tags, spec.Tags) && slices.Equal(v.rec.Keys, []string{w.key}) {
			return nil
		}
		// Keys that go stand in the record until they are gone, which is when it is written.
		next := v.rec.with(func(r *record) { r.Hostname, r.Tags, r.Keys = spec.Hostname, maps.Clone(spec.Tags), []string{w.key} })
		_, err = p.change(ctx, v, next, letIn(w.key, next.Token, v.rec.Keys)+"name "+humanize.ShellQuote(shortEnough(next.Hostname))+"\n", "")
		if !changed(err) {
			return err
		}
	}
	return errChanged
}
