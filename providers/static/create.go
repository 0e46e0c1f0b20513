package static

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/providers/static/internal/shell"
)

var hostForm = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?$`)

// requirements are what a spec asks for, understood.
type requirements struct {
	flavor, image, zone string
	labels              map[string]string
	key                 string // that is let in
}

func (w *requirements) fits(m *machine) bool {
	return m.flavor == w.flavor && (w.image == "" || m.image == w.image) && (w.zone == "" || m.zone == w.zone) && m.carries(w.labels)
}

func (w *requirements) String() string {
	s := "flavor " + w.flavor
	if w.image != "" && w.image != defaultImage {
		s += ", image " + w.image
	}
	if w.zone != "" {
		s += ", zone " + w.zone
	}
	var labels []string
	for _, k := range slices.Sorted(maps.Keys(w.labels)) {
		if v := w.labels[k]; v != "" {
			k += "=" + v
		}
		labels = append(labels, k)
	}
	if len(labels) > 0 {
		s += ", labels " + strings.Join(labels, ",")
	}
	return s
}

func unknown(what, name string, has map[string]int) *app.Error {
	e := app.Errorf(app.EInvalid, "No machine in the inventory has the %s %s.", what, name)
	if len(has) == 0 {
		e.Hint = fmt.Sprintf("Add %s=%s to the lines of matching machines.", what, name)
		return e
	}
	e.Hint = humanize.Suggest(name, slices.Collect(maps.Keys(has)))
	return e
}

func (p *provider) requirements(spec family.MachineSpec) (*requirements, error) {
	w := &requirements{flavor: spec.Flavor.Flavor, image: spec.Image.Image, zone: spec.Zone}
	if w.flavor == "" {
		w.flavor = defaultFlavor
	}
	var err error
	switch w.labels, err = readLabels(spec.Flavor.Extra["labels"]); {
	case err != nil:
		return nil, err
	case p.flavors[w.flavor] == 0:
		return nil, unknown("flavor", w.flavor, p.flavors)
	case w.image != "" && p.images[w.image] == 0:
		return nil, unknown("image", w.image, p.images)
	case w.zone != "" && p.zones[w.zone] == 0:
		return nil, unknown("zone", w.zone, p.zones)
	}
	return w, p.who(w, spec)
}

// who reads whom a machine is for.
func (p *provider) who(w *requirements, spec family.MachineSpec) error {
	var err error
	if w.key, err = shell.PublicKey(spec.AuthorizedKey); err != nil {
		return app.Errorf(app.EInvalid, "The authorized key must be one line in authorized_keys format.")
	}
	if blob(w.key) == blob(p.key.Public()) {
		return app.Errorf(app.EInvalid, "The authorized key is the account's own key; it couldn't be removed again.")
	}
	if !hostForm.MatchString(spec.Hostname) {
		return app.Errorf(app.EInvalid, "%.80q isn't a valid host name.", spec.Hostname)
	}
	return nil
}

// shortEnough returns a host name that kernels take.
func shortEnough(hostname string) string {
	if len(hostname) > 64 {
		hostname, _, _ = strings.Cut(hostname, ".")
	}
	return hostname[:min(len(hostname), 64)]
}

// rounds is how often it is looked again where someone else was faster.
const rounds = 6

// Create implements family.Provider: it takes a free machine by writing a record there where there is none, and makes it ready. Who comes back after a
// failure finds
// the record by its intent and continues where it was.
func (p *provider) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	w, err := p.requirements(spec)
	if err != nil {
		return family.Machine{}, err
	}
	release, err := p.locks.Lock(ctx, spec.Intent)
	if err != nil {
		return family.Machine{}, err
	}
	defer release()
	for range rounds {
		m, err := p.create(ctx, w, spec)
		if m != nil || err != nil {
			if err != nil {
				return family.Machine{}, err
			}
			return *m, nil
		}
	}
	return family.Machine{}, app.Errorf(app.ETransient, "The chosen machines were taken by others. Try again.")
}

// create is one round; nil and no error is to look again.
func (p *provider) create(ctx context.Context, w *requirements, spec family.MachineSpec) (*family.Machine, error) {
	views, err := p.probeAll(ctx)
	if err != nil {
		return nil, err
	}
	v := holder(views, spec)
	if v == nil {
		// One that cannot be asked may hold the intent.
		if err := unprobed(views); err != nil {
			return nil, err
		}
		if v, err = p.take(ctx, views, w, spec); v == nil || err != nil {
			return nil, err
		}
		if err := p.after("taken"); err != nil {
			return nil, err
		}
		// Another process may have taken another machine for the same intent meanwhile. Both see both then, and agree on the first one.
		if views, err = p.probeAll(ctx); err != nil {
			return nil, err
		}
		first := holder(views, spec)
		if first == nil {
			return nil, nil
		}
		if first.name != v.name {
			if err := p.giveBack(ctx, v); err != nil && !changed(err) {
				return nil, err
			}
		}
		v = first
	}
	if v.silent != nil {
		m := p.machine(v)
		return &m, nil //nolint:nilerr // the machine exists, though it can't be reached
	}
	if v.rec.State == wiping {
		if err := p.giveBack(ctx, v); err != nil && !changed(err) {
			return nil, err
		}
		return nil, nil
	}
	if v.rec.State == taking {
		if v, err = p.makeReady(ctx, v, w); err != nil {
			if changed(err) {
				return nil, nil
			}
			return nil, err
		}
	}
	m := p.machine(v)
	return &m, nil
}

// holder returns the machine that an intent has: one that is ready before others, those in the order of the inventory.
func holder(views []*view, spec family.MachineSpec) *view {
	var best *view
	for _, v := range views {
		if v.rec == nil || v.rec.Intent != spec.Intent || v.rec.Tags[family.TagInstallation] != spec.Tags[family.TagInstallation] {
			continue
		}
		if best == nil || v.rec.State == ready && best.rec.State != ready {
			best = v
		}
	}
	return best
}

// take reserves the first machine that fits and is free. One that was given back and whose wiping was cut short is wiped first, where there is no other.
func (p *provider) take(ctx context.Context, views []*view, w *requirements, spec family.MachineSpec) (*view, error) {
	var lost bool
	for _, v := range views {
		if !w.fits(v.machine) || !v.free() {
			continue
		}
		r := &record{Token: newToken(), State: taking, Intent: spec.Intent, Hostname: spec.Hostname, Tags: maps.Clone(spec.Tags), Keys: []string{w.key}, CreatedAt: time.Now().UTC()}
		_, exit, err := p.run(ctx, v.machine, takeScript(r.line()))
		if exit == exitRoom || exit == exitTools || exit == exitBusy {
			v.silent = err // it wrote nothing; another may do
			continue
		}
		if err != nil {
			return nil, err // it may have been taken, so none other is
		}
		if exit == exitChanged {
			lost = true
			continue
		}
		v.rec, v.line = r, r.line()
		return v, p.memory.note(v.machine, r)
	}
	if lost {
		return nil, nil
	}
	for _, v := range views {
		if v.silent == nil && v.rec != nil && w.fits(v.machine) && v.rec.State == wiping && v.rec.Failed == "" && v.rec.Tags[family.TagInstallation] == spec.Tags[family.TagInstallation] {
			if err := p.giveBack(ctx, v); err == nil || changed(err) {
				return nil, nil
			} else if ctx.Err() != nil {
				return nil, err
			}
			v.rec = v.rec.with(func(r *record) { r.Failed = "wiping didn't finish" })
		}
	}
	return nil, full(views, w)
}

// full says why there is no machine.
func full(views []*view, w *requirements) error {
	var fit, used int
	var odd []string
	for _, v := range views {
		if !w.fits(v.machine) {
			continue
		}
		fit++
		switch {
		case v.out:
			odd = append(odd, v.name+" is out of service")
		case v.silent != nil:
			odd = append(odd, v.name+" can't be used: "+strings.TrimRight(app.AsError(v.silent).ForPeople(), "."))
		case v.rec != nil && v.rec.State == wiping:
			odd = append(odd, v.name+" was released but not wiped")
		default:
			used++
		}
	}
	if fit == 0 {
		e := app.Errorf(app.ECapacity, "No machine in the inventory has %s.", w)
		e.Hint = "Request less, or add such a machine."
		return e
	}
	var e *app.Error
	switch {
	case len(odd) == 0 && fit == 1:
		e = app.Errorf(app.ECapacity, "The only machine of %s is in use.", w)
	case len(odd) == 0:
		e = app.Errorf(app.ECapacity, "All %d machines of %s are in use.", fit, w)
	default:
		more := ""
		if len(odd) > 5 {
			odd, more = odd[:5], "; and others"
		}
		e = app.Errorf(app.ECapacity, "None of the %s of %s is available: %d in use; %s%s.", humanize.Count(fit, "machine"), w, used, strings.Join(odd, "; "), more)
	}
	e.Hint = "Wait until one is released, add one to the inventory, or choose another provider."
	return e
}

// makeReady prepares a machine that was taken, lets the cluster in and sets its name.
func (p *provider) makeReady(ctx context.Context, v *view, w *requirements) (*view, error) {
	if p.prepare != "" {
		out, exit, err := p.run(ctx, v.machine, runScript(v.line, "", p.prepare, p.prepareTime))
		if err != nil {
			return nil, err
		}
		if exit == exitFailed {
			e := app.Errorf(app.ETransient, "The prepare script failed on machine %s: %s.", v.name, tail(out))
			e.Reason, e.Hint = "prepare_failed", "Check the script or the machine. Add the word out to its line to skip it once it's released."
			return nil, e
		}
		if exit == exitChanged {
			return nil, errChanged
		}
		if err := p.after("prepared"); err != nil {
			return nil, err
		}
	}
	next := v.rec.with(func(r *record) { r.State = ready })
	if !slices.Contains(next.Keys, w.key) {
		// It was taken by an attempt with another key.
		next.Keys = append(next.Keys, w.key)
	}
	body := letIn(w.key, next.Token, next.Keys) + "name " + humanize.ShellQuote(shortEnough(next.Hostname)) + "\n"
	return p.change(ctx, v, next, body, "")
}

// change puts a record in the place of the one that was seen, and notes it.
func (p *provider) change(ctx context.Context, v *view, next *record, before, after string) (*view, error) {
	_, exit, err := p.run(ctx, v.machine, changeScript(v.line, next.line(), before, after))
	if err != nil {
		return nil, err
	}
	if exit == exitChanged {
		return nil, errChanged
	}
	c := *v
	c.rec, c.line = next, next.line()
	return &c, p.memory.note(v.machine, next)
}
