package solver

import (
	"context"
	"math"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// Possible returns nil where Solve finds a layout, without looking for the preferred one, which can take far longer. The error is
// what Solve would give, save that the words of a refusal may be other ones.
func (s *Solver) Possible(ctx context.Context, catalog *template.Catalog, r layout.Request) error {
	p, err := narrow(catalog, r)
	if err != nil {
		return err
	}
	w := &watch{ctx: ctx, ended: ctx.Err() != nil}
	o, found := newCounter(p, w).obstacle()
	places := p.arranger(w)
	switch {
	case w.ended:
		return outOfTime(p, ctx.Err())
	case found:
		return p.refusal(o)
	case !p.counted() && places == nil:
		return nil // the counter knows all that there is to know
	}
	m := p.mixerFor(w)
	some := m.decide(m.start(), goal{}, math.Inf(1))
	switch {
	case w.ended:
		return outOfTime(p, ctx.Err())
	case some.best == nil && !m.unsure:
		return request.Refuse(app.ENoLayout, request.NoSolution, "", "%s can't be placed on %s.", humanize.Count(len(p.services), "service"), humanize.Count(p.size, "node"))
	case some.best != nil:
		if groups := m.groups(some.best); places == nil || places.place(&groups) {
			return nil
		}
	}
	_, err = s.Solve(ctx, catalog, r) // another layout may fit the zones
	return err
}
