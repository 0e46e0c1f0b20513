package explain

import (
	"context"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver"
)

// Explainer says why there is no layout, and what would make one possible. It keeps nothing between questions, so one value
// serves everyone at once.
type Explainer struct {
	solver layout.Solver
}

// decider is an optional power of solvers: to tell whether there is a layout without looking for the preferred one,
// which can take far longer. The error is what Solve would give, save that the words of a refusal may be other ones.
// Without this power the explainer asks for whole layouts.
type decider interface {
	Possible(ctx context.Context, c *template.Catalog, r layout.Request) error
}

var _ decider = (*solver.Solver)(nil)

// ask returns nil where there is a layout, else the error of the solver.
func ask(ctx context.Context, s layout.Solver, c *template.Catalog, r layout.Request) error {
	if d, can := s.(decider); can {
		return d.Possible(ctx, c, r)
	}
	_, err := s.Solve(ctx, c, r)
	return err
}

var _ layout.Explainer = (*Explainer)(nil)

// New makes an explainer that asks s.
func New(s layout.Solver) *Explainer { return &Explainer{solver: s} }

// mostFixes is how many changes are offered at most.
const mostFixes = 5

// Explain returns why the request has no layout, see app.Explainer. Where ctx ends on the way, what is known by then is
// given: a conflict that may be larger than need be (Minimal is false), and the fixes found so far.
//
// Pairs of services that all exclude each other are listed in one clause; each of them was proven to be needed.
func (x *Explainer) Explain(ctx context.Context, c *template.Catalog, r layout.Request) (layout.Explanation, error) {
	e, err := x.explain(ctx, c, r)
	e.Conflict = merged(e.Conflict)
	return e, err
}

// explain returns each clause by itself.
func (x *Explainer) explain(ctx context.Context, c *template.Catalog, r layout.Request) (layout.Explanation, error) {
	err := ask(ctx, x.solver, c, r)
	switch app.CodeOf(err) {
	case "":
		return layout.Explanation{}, nil
	case app.ETimeout:
		return layout.Explanation{}, err
	case app.ENoLayout:
		return x.conflict(ctx, c, r, err), nil
	}
	return x.problems(ctx, c, r, err), nil
}

// conflict explains a request that could be asked, but has no layout.
func (x *Explainer) conflict(ctx context.Context, c *template.Catalog, r layout.Request, refused error) layout.Explanation {
	q := newQuestion(ctx, x.solver, c, r)
	if found, known := q.possible(q.clauses); found && known {
		// The solver keeps a constraint that is no clause here. What it says itself is then the best there is.
		return layout.Explanation{Problems: []*app.Error{app.AsError(refused)}}
	}
	core, minimal := q.smallest(q.clauses)
	e := layout.Explanation{Minimal: minimal}
	for _, k := range core {
		e.Conflict = append(e.Conflict, k.Clause)
	}
	e.Fixes = q.fixes(core)
	return e
}
