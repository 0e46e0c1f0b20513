package explain

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// attempt is a request on the way to one that can be asked.
type attempt struct {
	request layout.Request
	texts   []string // but for the size
	depth   int      // how often it was repaired
	doubt   int      // how often it was not the best guess
}

// How much is looked at before giving up. Each attempt costs microseconds, each question to the solver perhaps more.
const (
	mostAttempts  = 400
	mostQuestions = 24
	mostUnsolved  = 3
	fewFixes      = 3
)

// repair repairs one flaw after another, the best guesses first, until requests come out that have a layout. What can be
// asked but has none gets a chance with what would help there.
func (x *Explainer) repair(ctx context.Context, c *template.Catalog, r layout.Request) []layout.Fix {
	most := mostFixes
	if len(request.Flaws(c, r)) > 1 {
		most = fewFixes // as each of them is a long story, and not much different
	}
	open := []attempt{{request: r}}
	seen := map[string]bool{}
	var fixes []layout.Fix
	var unsolved []attempt
	questions := 0
	for tries := 0; len(open) > 0 && tries < mostAttempts && len(fixes) < most && questions < mostQuestions; tries++ {
		at := best(open)
		a := open[at]
		open = slices.Delete(open, at, at+1)
		list := request.Flaws(c, a.request)
		if len(list) > 0 {
			open = append(open, a.next(list[0], seen)...)
			continue
		}
		questions++
		err := ask(ctx, x.solver, c, a.request)
		switch {
		case err == nil:
			fixes = append(fixes, layout.Fix{Text: a.reported(r, a.request, ""), Request: &a.request})
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
		fixes = a.solved(r, x.conflict(ctx, c, a.request, nil).Fixes)
	}
	return fixes
}

// solved returns what helps a request that can be asked, compared with where it started: of several changes those that only
// ask otherwise, where there are any.
func (a attempt) solved(from layout.Request, fixes []layout.Fix) []layout.Fix {
	asking := slices.ContainsFunc(fixes, func(f layout.Fix) bool { return f.Request != nil })
	var out []layout.Fix
	for _, f := range fixes {
		switch {
		case f.Request == nil && asking:
		case f.Request == nil:
			out = append(out, layout.Fix{Text: a.reported(from, a.request, f.Text)})
		case f.Request.Size != a.request.Size:
			out = append(out, layout.Fix{Text: a.reported(from, *f.Request, ""), Request: f.Request})
		default:
			out = append(out, layout.Fix{Text: a.reported(from, *f.Request, f.Text), Request: f.Request})
		}
	}
	return out
}

// told says what leads from one request to another.
func (a attempt) reported(from, to layout.Request, more string) string {
	texts := slices.Clone(a.texts)
	switch {
	case to.Size == from.Size:
	case from.Size <= 0:
		texts = append(texts, humanize.Count(to.Size, "node"))
	default:
		texts = append(texts, fmt.Sprintf("%s instead of %d", humanize.Count(to.Size, "node"), from.Size))
	}
	if more != "" {
		texts = append(texts, more)
	}
	return humanize.And(texts)
}

// best returns the attempt with the least doubt, among those the one that is farthest, among those the oldest.
func best(open []attempt) int {
	at := 0
	for i, a := range open {
		if b := open[at]; a.doubt < b.doubt || a.doubt == b.doubt && a.depth > b.depth {
			at = i
		}
	}
	return at
}

// next repairs one flaw in every way. Requests that were met before are left out.
func (a attempt) next(f request.Flaw, seen map[string]bool) []attempt {
	var out []attempt
	for i, fix := range f.Repairs {
		b := attempt{request: a.request, texts: slices.Clone(a.texts), depth: a.depth + 1, doubt: a.doubt + i}
		if fix.Text != "" {
			b.texts = append(b.texts, fix.Text)
		}
		fix.Apply(&b.request)
		r := b.request
		key := fmt.Sprintf("%q %d %q %q %q %q %q", r.Template, r.Size, r.Provider, r.Hardware, r.Image, r.Prefer, request.Distinct(r.Services))
		if !seen[key] {
			seen[key] = true
			out = append(out, b)
		}
	}
	return out
}
