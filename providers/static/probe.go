package static

import (
	"context"
	"strings"
	"sync"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
)

// probe asks a machine what it is used for. Where it cannot be asked, the view says why and holds what was known last; an error is that of ctx or of
// our own disk.
func (p *provider) probe(ctx context.Context, m *machine) (*view, error) {
	v := &view{machine: m}
	if !m.out {
		limited, cancel := context.WithTimeout(ctx, probeTimeout)
		out, _, err := p.run(limited, m, looking)
		cancel()
		if err == nil {
			err = v.understand(out)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if limited.Err() != nil && err != nil && app.CodeOf(err) == app.EInternal {
			err = app.Errorf(app.ETransient, "Machine %s didn't respond within %s.", m.name, humanize.Duration(probeTimeout))
		}
		v.silent = err
	}
	key, err := p.memory.hostKey(m)
	if err != nil {
		return nil, err
	}
	v.hostKey = key
	if !m.out && v.silent == nil {
		return v, p.memory.note(m, v.rec)
	}
	rec, seen, err := p.memory.last(m)
	v.rec, v.unknown = rec, !seen
	return v, err
}

// understand reads the answer to a probe.
func (v *view) understand(out string) error {
	line := strings.TrimRight(out, "\n")
	if line == "" {
		return nil
	}
	rec, err := readRecord(line)
	if err != nil {
		e := app.Errorf(app.EInvalid, "Can't read the record of machine %s: %w.", v.name, err)
		e.Reason, e.Hint = "record", "Check /var/lib/muster/checkout/record on it. Remove the file only if the machine isn't in use."
		return e
	}
	v.rec, v.line = rec, line
	return nil
}

// probeAll asks all machines, in the order of the inventory.
func (p *provider) probeAll(ctx context.Context) ([]*view, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	views, errs := make([]*view, len(p.machines)), make([]error, len(p.machines))
	each(len(p.machines), func(i int) { views[i], errs[i] = p.probe(ctx, p.machines[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return views, nil
}

// each does something for the numbers below n, for so many at once as may be asked.
func each(n int, do func(int)) {
	var work sync.WaitGroup
	turns := make(chan struct{}, asked)
	for i := range n {
		turns <- struct{}{}
		work.Go(func() {
			defer func() { <-turns }()
			do(i)
		})
	}
	work.Wait()
}

// unprobed is the error of machines whose use is unknown, nil where there is none.
func unprobed(views []*view) error {
	var names []string
	var first *app.Error
	for _, v := range views {
		if v.unknown && !v.out {
			if names = append(names, v.name); first == nil {
				first = app.AsError(v.silent)
			}
		}
	}
	if first == nil {
		return nil
	}
	if len(names) == 1 {
		return first
	}
	e := *first
	e.Message = strings.TrimRight(e.Message, ".") + "; the state of " + strings.Join(names[1:min(len(names), 6)], ", ") + " is unknown too."
	return &e
}

func (p *provider) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	views, err := p.probeAll(ctx)
	if err != nil {
		return nil, err
	}
	if err := unprobed(views); err != nil {
		return nil, err
	}
	var out []family.Machine
	for _, v := range views {
		if v.rec != nil && carries(v.rec.Tags, tags) {
			out = append(out, p.machine(v))
		}
	}
	return out, nil
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

func (p *provider) Describe(ctx context.Context, id string) (family.Machine, error) {
	v, err := p.find(ctx, id)
	if err != nil {
		return family.Machine{}, err
	}
	return p.machine(v), nil
}

// find looks at the machine of a checkout; ENotFound where it is another's by now, or free.
func (p *provider) find(ctx context.Context, id string) (*view, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, token := p.byID(id)
	if m == nil {
		return nil, app.Errorf(app.ENotFound, "Machine %q doesn't exist.", id)
	}
	v, err := p.probe(ctx, m)
	switch {
	case err != nil:
		return nil, err
	case v.out && v.unknown:
		e := app.Errorf(app.ETransient, "Machine %s is out of service, and its use is unknown.", m.name)
		e.Hint = "Remove the word out from its line when it's reachable again, or the whole line if it's gone for good."
		return nil, e
	case v.rec == nil || v.rec.Token != token:
		// What was known last may be older than the checkout that is asked for.
		if v.silent != nil {
			return nil, v.silent
		}
		return nil, app.Errorf(app.ENotFound, "Machine %s is no longer used for %q.", m.name, id)
	}
	return v, nil
}
