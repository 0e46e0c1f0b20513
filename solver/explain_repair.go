package solver

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
)

// attempt is a request on the way to one that can be asked.
type attempt struct {
	request app.LayoutRequest
	texts   []string
	doubt   int // how often it was not the best guess
}

// How much is looked at before giving up. Each attempt costs microseconds, each question to the solver perhaps more.
const (
	mostAttempts  = 400
	mostQuestions = 24
	mostUnsolved  = 3
)

// mend repairs one flaw after another, the best guesses first, until requests come out that have a layout. What can be
// asked but has none gets a chance with what would help there.
func (x *Explainer) mend(ctx context.Context, c *app.Catalog, r app.LayoutRequest) []app.Fix {
	open := []attempt{{request: r}}
	seen := map[string]bool{}
	var fixes []app.Fix
	var unsolved []attempt
	questions := 0
	for tries := 0; len(open) > 0 && tries < mostAttempts && len(fixes) < mostFixes && questions < mostQuestions; tries++ {
		at := best(open)
		a := open[at]
		open = slices.Delete(open, at, at+1)
		list := flaws(c, a.request)
		if len(list) > 0 {
			open = append(open, a.next(list[0], seen)...)
			continue
		}
		questions++
		_, err := x.solver.Solve(ctx, c, a.request)
		switch {
		case err == nil:
			fixes = append(fixes, app.Fix{Text: and(a.texts), Request: &a.request})
		case ctx.Err() != nil:
			return fixes
		case app.CodeOf(err) == app.ENoLayout && len(unsolved) < mostUnsolved:
			unsolved = append(unsolved, a)
		}
	}
	for _, a := range unsolved {
		if len(fixes) > 0 || ctx.Err() != nil {
			break
		}
		for _, f := range x.conflict(ctx, c, a.request, nil).Fixes {
			f.Text = and(append(slices.Clone(a.texts), f.Text))
			fixes = append(fixes, f)
		}
	}
	return fixes
}

// best gives the attempt with the least doubt, among those the one that is farthest, among those the oldest.
func best(open []attempt) int {
	at := 0
	for i, a := range open {
		if b := open[at]; a.doubt < b.doubt || a.doubt == b.doubt && len(a.texts) > len(b.texts) {
			at = i
		}
	}
	return at
}

// next repairs one flaw in every way. Requests that were met before are left out.
func (a attempt) next(f flaw, seen map[string]bool) []attempt {
	var out []attempt
	for i, fix := range f.repairs {
		b := attempt{request: a.request, texts: append(slices.Clone(a.texts), fix.text), doubt: a.doubt + i}
		fix.apply(&b.request)
		r := b.request
		key := fmt.Sprintf("%q %d %q %q %q %q %q", r.Template, r.Size, r.Provider, r.Hardware, r.Image, r.Prefer, distinct(r.Services))
		if !seen[key] {
			seen[key] = true
			out = append(out, b)
		}
	}
	return out
}
