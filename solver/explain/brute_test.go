package explain

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"muster/app"
	"muster/app/layout"
	apptemplate "muster/app/template"
	"muster/solver"
	"muster/solver/internal/request"
	"muster/solver/solvertest"
)

var (
	rounds = flag.Int("rounds", 2000, "how many random explanations to check")
	brute  = flag.Int("brute", 12, "each how many of them are checked by brute force; 0 is none; the others by solving")
)

// TestConflictsAreSmallest holds explanations of random small problems against brute force, or against the solver, which
// has been held against it elsewhere: the clauses have no layout, without any one of them they have, and every
// change that is offered works.
func TestConflictsAreSmallest(t *testing.T) {
	t.Run("small", func(t *testing.T) { checkExplanations(t, *rounds, *brute, solvertest.Small) })
	t.Run("tight", func(t *testing.T) { checkExplanations(t, *rounds/20, *brute*4, solvertest.Tight) })
}

func checkExplanations(t *testing.T, rounds, brute int, problem func(*rand.Rand) (*apptemplate.Catalog, layout.Request)) {
	t.Helper()
	if testing.Short() {
		rounds /= 8
	}
	explained, withoutFix, several := 0, 0, 0
	for seed := range rounds {
		c, r := problem(rand.New(rand.NewSource(int64(seed) + 1e6)))
		if len(r.Services) == 0 {
			continue
		}
		ask := solvable
		if brute > 0 && seed%brute == 0 {
			ask = bruteForced
		}
		possible := ask(c, r)
		if len(request.Flaws(c, r)) > 0 {
			continue // which no brute force knows
		}
		e, err := New(solver.New()).explain(context.Background(), c, r)
		if err != nil || len(e.Problems) > 0 || possible != (len(e.Conflict) == 0) || possible == e.Minimal {
			t.Fatalf("seed %d: possible %v, %+v, %v", seed, possible, e, err)
		}
		if possible {
			continue
		}
		explained++
		p := &probe{t: t, seed: seed, c: c, r: r, possible: ask, q: newQuestion(context.Background(), solver.New(), c, r)}
		p.smallest(e)
		for _, f := range e.Fixes {
			p.works(f)
		}
		if len(e.Fixes) == 0 {
			withoutFix++
		}
		if len(e.Conflict) > 2 {
			several++
		}
	}
	said := fmt.Sprintf("%d of %d explained, %d with more than two clauses, %d without a fix", explained, rounds, several, withoutFix)
	t.Log(said)
	if explained < rounds/5 || several < explained/5 || withoutFix > explained/1000 {
		t.Error(said)
	}
}

// probe holds one explanation against brute force.
type probe struct {
	t    *testing.T
	seed int
	c    *apptemplate.Catalog
	r    layout.Request
	q    *question
	// possible reports whether a request has a layout, without the explainer's help.
	possible func(c *apptemplate.Catalog, r layout.Request) bool
}

func solvable(c *apptemplate.Catalog, r layout.Request) bool {
	_, err := solver.New().Solve(context.Background(), c, r)
	return err == nil
}

func bruteForced(c *apptemplate.Catalog, r layout.Request) bool {
	_, ok := solvertest.BruteForce(c, r)
	return ok
}

// holds reports whether clauses have a layout; where the size is not one of them, on any number of nodes that could
// matter.
func (p *probe) holds(clauses []*clause) bool {
	d := p.q.draft(clauses)
	sizes := []int{d.size}
	if d.size == 0 {
		sizes = nil
		for n := range 3 * 6 { // six services of at most three nodes each could all stand alone, and so could nine of two
			sizes = append(sizes, n+1)
		}
	}
	return slices.ContainsFunc(sizes, func(n int) bool {
		return p.possible(p.q.stated(d, n))
	})
}

func (p *probe) smallest(e layout.Explanation) {
	p.t.Helper()
	var core []*clause
	for _, k := range p.q.clauses {
		if slices.ContainsFunc(e.Conflict, func(o layout.Clause) bool { return o.Text == k.Text }) {
			core = append(core, k)
		}
	}
	if len(core) != len(e.Conflict) {
		p.t.Fatalf("seed %d: %d of %d clauses are known", p.seed, len(core), len(e.Conflict))
	}
	if p.holds(core) {
		p.t.Fatalf("seed %d: there is a layout that keeps all of %+v", p.seed, e.Conflict)
	}
	for i, k := range core {
		if !p.holds(slices.Delete(slices.Clone(core), i, i+1)) {
			p.t.Fatalf("seed %d: %q is not needed in %+v", p.seed, k.Text, e.Conflict)
		}
	}
}

var (
	aNumber = regexp.MustCompile(`^(raise max|lower min) of (s\d) to (\d+)$`)
	aPair   = regexp.MustCompile(`^allow (s\d) beside (s\d)$`)
)

// works checks a fix by brute force: one that asks otherwise, and those of the template that can be read off the text.
// Of numbers and sizes it checks that a smaller change would not do.
func (p *probe) works(f layout.Fix) {
	p.t.Helper()
	if f.Request != nil {
		r := *f.Request
		if !p.possible(p.c, r) {
			p.t.Fatalf("seed %d: %q does not work", p.seed, f.Text)
		}
		for n := range 20 {
			nearer := max(n-p.r.Size, p.r.Size-n) < max(r.Size-p.r.Size, p.r.Size-r.Size)
			same := p.r
			same.Size = n
			if n > 0 && nearer && slices.Equal(r.Services, p.r.Services) && p.possible(p.c, same) {
				p.t.Fatalf("seed %d: %q, but %d would do", p.seed, f.Text, n)
			}
		}
		return
	}
	if m := aNumber.FindStringSubmatch(f.Text); m != nil {
		to, _ := strconv.Atoi(m[3])
		nearer := to - 1
		if m[1] == "lower min" {
			nearer = to + 1
		}
		if !p.with(func(c *apptemplate.Constraints) { bounded(c, m[1], m[2], to) }) {
			p.t.Fatalf("seed %d: %q does not work", p.seed, f.Text)
		}
		if p.with(func(c *apptemplate.Constraints) { bounded(c, m[1], m[2], nearer) }) {
			p.t.Fatalf("seed %d: %q, but %d would do", p.seed, f.Text, nearer)
		}
	}
	if m := aPair.FindStringSubmatch(f.Text); m != nil && !p.with(func(c *apptemplate.Constraints) { besides(c, m[1:]) }) {
		p.t.Fatalf("seed %d: %q does not work", p.seed, f.Text)
	}
}

// besides lets two services be on one node: it states all pairs one by one, without this one.
func besides(c *apptemplate.Constraints, pair []string) {
	c.CantCoexist = slices.Clone(c.CantCoexist)
	for _, g := range c.CantCoexistPairs {
		for i, a := range g {
			for _, b := range g[i+1:] {
				c.CantCoexist = append(c.CantCoexist, []string{a, b})
			}
		}
	}
	c.CantCoexistPairs = nil
	c.CantCoexist = slices.DeleteFunc(c.CantCoexist, func(g []string) bool { return slices.Equal(request.Distinct(g), pair) })
}

func bounded(c *apptemplate.Constraints, what, service string, to int) {
	sc := c.Services[service]
	if what == "raise max" {
		sc.Max = to
	} else {
		sc.Min, sc.MinSet = to, true
	}
	services := map[string]apptemplate.ServiceConstraint{}
	for s, o := range c.Services {
		services[s] = o
	}
	services[service] = sc
	c.Services = services
}

// with reports whether there is a layout after a change of the template.
func (p *probe) with(change func(c *apptemplate.Constraints)) bool {
	t := *p.c.Templates["t"]
	change(&t.Constraints)
	c := *p.c
	c.Templates = map[string]*apptemplate.Template{"t": &t}
	return p.possible(&c, p.r)
}

// TestFlawsMatchTheSolver holds the review of requests against what the solver refuses.
func TestFlawsMatchTheSolver(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	pick := func(names ...string) string { return names[r.Intn(len(names))] }
	bad := 0
	for range 1000 {
		c, template := shop()
		if r.Intn(3) == 0 {
			template.Compatibility = apptemplate.Compatibility{Services: []string{"app", "lb", "mysql", "mail"}, Hardware: []string{"small", "rack"}}
		}
		template.Defaults.Hardware = pick("", "", "small", "rack")
		template.Defaults.Provider = pick("", "cloud", "cloud")
		q := layout.Request{Template: pick("web", "web", "web", "wb"), Size: r.Intn(15) - 1, Provider: pick("", "", "cloud", "cellar", "clouds"),
			Hardware: pick("", "", "large", "rack", "lage"), Image: pick("", "", "debian", "plan9")}
		for range r.Intn(5) {
			q.Services = append(q.Services, pick("app", "audit", "cache", "lb", "mail", "mysql", "stor"))
		}
		_, err := solver.New().Solve(context.Background(), c, q)
		found := request.Flaws(c, q)
		asked := err == nil || app.CodeOf(err) == app.ENoLayout
		if asked != (len(found) == 0) {
			t.Fatalf("%+v: %v, and flaws %v", q, err, found)
		}
		if asked {
			continue
		}
		bad++
		if !slices.ContainsFunc(found, func(f request.Flaw) bool { return f.Field == app.AsError(err).Field }) {
			t.Fatalf("%+v: %v is not among %v", q, err, found)
		}
		e, err := New(solver.New()).Explain(context.Background(), c, q)
		if err != nil || len(e.Problems) != len(found) {
			t.Fatalf("%+v: %v, %v", q, e, err)
		}
		for _, f := range e.Fixes {
			if f.Request == nil {
				continue
			}
			if _, err := solver.New().Solve(context.Background(), c, *f.Request); err != nil {
				t.Fatalf("%+v: %q does not work: %v", q, f.Text, err)
			}
		}
	}
	if bad < 300 {
		t.Errorf("only %d requests were bad", bad)
	}
}
