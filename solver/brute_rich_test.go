package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sort"
	"strings"
	"testing"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
	"muster/solver/solvertest"
)

// plainKind is a kind of node for enumerate: its services as bits.
type plainKind struct {
	bits            int
	names           []string
	hardware, image string
	price           float64
}

// enumerate finds the preferred layout under all constraints by going through every layout. It shares nothing with the
// solver but the meaning of the words. groups is nil where there is none; ok is false where there are too many.
type enumerate struct {
	c        *template.Catalog
	t        *template.Template
	r        layout.Request
	services []string
	kinds    []plainKind
	counts   []int
	best     []int
	worth    []float64
	zones    []string
}

func newEnumerate(c *template.Catalog, r layout.Request) *enumerate {
	e := &enumerate{c: c, t: c.Templates[r.Template], r: r, services: slices.Clone(r.Services)}
	sort.Strings(e.services)
	e.zones = c.Providers["p"].Zones
	e.listKinds()
	return e
}

// layouts is how many ways there are to put the nodes into kinds.
func (e *enumerate) layouts() float64 {
	ways := 1.0
	for i := range e.r.Size {
		ways *= float64(len(e.kinds)+i) / float64(i+1)
	}
	return ways
}

func (e *enumerate) listKinds() {
	limits := e.t.Constraints
	named := map[string]bool{}
	for s := range limits.Services {
		named[s] = true
	}
	for _, s := range slices.Concat(slices.Concat(limits.MustCoexist, limits.CantCoexist, limits.CantCoexistPairs)...) {
		named[s] = true
	}
	for _, x := range limits.Ratios {
		named[x.Service], named[x.Of] = true, true
	}
	for bits := 1; bits < 1<<len(e.services); bits++ {
		var on []string
		ok := true
		for i, s := range e.services {
			if bits&(1<<i) != 0 {
				on = append(on, s)
			} else if !named[s] {
				ok = false
			}
		}
		for _, g := range limits.CantCoexistPairs {
			here := map[string]bool{}
			for _, s := range g {
				if slices.Contains(on, s) {
					here[s] = true
				}
			}
			ok = ok && len(here) < 2
		}
		if !ok || !solvertest.MayShare(e.t, on, e.services) {
			continue
		}
		e.kinds = append(e.kinds, e.accepted(bits, on)...)
	}
	slices.SortFunc(e.kinds, func(a, b plainKind) int {
		return cmp.Or(cmp.Compare(len(b.names), len(a.names)), cmp.Compare(a.hardware, b.hardware),
			cmp.Compare(a.image, b.image), slices.Compare(a.names, b.names))
	})
	e.counts = make([]int, len(e.kinds))
}

// accepted returns the kinds that a set of services can be.
func (e *enumerate) accepted(bits int, on []string) []plainKind {
	var out []plainKind
	for _, h := range sorted(e.c.Hardware) {
		if limit, limited := e.t.Constraints.Hardware[h]; limited && limit < 1 {
			continue
		}
		f := e.c.Hardware[h].Providers["p"]
		var cpu, mem float64
		gpus := 0
		for _, s := range on {
			cpu += e.c.Services[s].Needs.CPU
			mem += e.c.Services[s].Needs.MemoryGB
			gpus += e.c.Services[s].Needs.GPUs
		}
		if f.CPU > 0 && cpu > f.CPU || f.MemoryGB > 0 && mem > f.MemoryGB || gpus > f.GPUs {
			continue
		}
		for _, i := range sorted(e.c.Images) {
			fits := true
			for _, s := range on {
				sc := e.t.Constraints.Services[s]
				fits = fits && (len(sc.Hardware) == 0 || slices.Contains(sc.Hardware, h)) &&
					(len(sc.Images) == 0 || slices.Contains(sc.Images, i))
			}
			if fits {
				out = append(out, plainKind{bits, on, h, i, f.CostPerHour})
			}
		}
	}
	return out
}

func (e *enumerate) run() []layout.NodeGroup {
	e.try(0, e.r.Size)
	if e.best == nil {
		return nil
	}
	var out []layout.NodeGroup
	for i, n := range e.best {
		if n > 0 {
			k := e.kinds[i]
			out = append(out, layout.NodeGroup{Count: n, Hardware: k.hardware, Image: k.image, Services: k.names})
		}
	}
	return out
}

// try goes through all counts, greatest first, so that of equal layouts the packed one comes first.
func (e *enumerate) try(at, n int) {
	if e.best != nil && e.r.Prefer == template.PreferPacked {
		return
	}
	if n == 0 {
		e.judge()
		return
	}
	if at == len(e.kinds) {
		return
	}
	for k := n; k >= 0; k-- {
		e.counts[at] = k
		if k == 0 || e.underMax(at) {
			e.try(at+1, n-k)
		}
	}
	e.counts[at] = 0
}

func (e *enumerate) on(bit int) int {
	sum := 0
	for i, n := range e.counts {
		if n > 0 && e.kinds[i].bits&(1<<bit) != 0 {
			sum += n
		}
	}
	return sum
}

func (e *enumerate) underMax(at int) bool {
	for i, s := range e.services {
		if sc, ok := e.t.Constraints.Services[s]; ok && e.kinds[at].bits&(1<<i) != 0 && e.on(i) > sc.Max {
			return false
		}
	}
	return true
}

func (e *enumerate) judge() {
	count := map[string]int{}
	for i, s := range e.services {
		count[s] = e.on(i)
		sc := e.t.Constraints.Services[s]
		if count[s] < sc.Min || count[s] < 1 && !(sc.MinSet && sc.Min == 0) {
			return
		}
	}
	for _, x := range e.t.Constraints.Ratios {
		of, both := count[x.Of]
		has, too := count[x.Service]
		if both && too && float64(has) < math.Ceil(float64(of)/float64(x.Per)) {
			return
		}
	}
	hardware, loads := map[string]int{}, make([]float64, len(e.services)+1)
	cost := 0.0
	for i, n := range e.counts {
		hardware[e.kinds[i].hardware] += n
		cost += float64(n) * e.kinds[i].price
		loads[len(e.services)-len(e.kinds[i].names)] += float64(n)
	}
	for h, limit := range e.t.Constraints.Hardware {
		if hardware[h] > limit {
			return
		}
	}
	types := map[int]int{}
	for i, n := range e.counts {
		if n > 0 {
			if types[e.kinds[i].bits]++; types[e.kinds[i].bits] > 1 && !e.t.Constraints.MixedHardware {
				return
			}
		}
	}
	worth := []float64{0}
	switch e.r.Prefer {
	case template.PreferCheapest:
		worth = []float64{math.Round(cost*1e6) / 1e6}
	case template.PreferSpread:
		worth = loads
	}
	if e.best != nil && slices.Compare(worth, e.worth) >= 0 {
		return
	}
	switch {
	case e.r.Pool != nil && !e.hosted(0, 0, map[string][]plainKind{}):
		return
	case e.r.Pool == nil && e.t.Constraints.Zones != nil && !e.zoned(nil):
		return
	}
	e.best, e.worth = slices.Clone(e.counts), worth
}

// zoned tries all zones for all nodes.
func (e *enumerate) zoned(zoneOf []int) bool {
	var nodes []plainKind
	for i, n := range e.counts {
		for range n {
			nodes = append(nodes, e.kinds[i])
		}
	}
	if len(zoneOf) < len(nodes) {
		for z := range e.zones {
			if e.zoned(append(slices.Clone(zoneOf), z)) {
				return true
			}
			if len(zoneOf) == 0 {
				return false // the first zone is as good as any
			}
		}
		return false
	}
	rule := e.t.Constraints.Zones
	even := func(counts func(plainKind) bool) bool {
		in := make([]int, len(e.zones))
		for i, k := range nodes {
			if counts(k) {
				in[zoneOf[i]]++
			}
		}
		return slices.Max(in)-slices.Min(in) <= rule.MaxSkew
	}
	if len(rule.Services) == 0 {
		return even(func(plainKind) bool { return true })
	}
	for _, s := range rule.Services {
		if !even(func(k plainKind) bool { return slices.Contains(k.names, s) }) {
			return false
		}
	}
	return true
}

func TestSameAsEnumeration(t *testing.T) {
	t.Run("rich", func(t *testing.T) { compareWithEnumeration(t, *bruteRounds, solvertest.Rich) })
	t.Run("hosted", func(t *testing.T) { compareWithEnumeration(t, *bruteRounds/2, solvertest.Hosted) })
}

func compareWithEnumeration(t *testing.T, rounds int, problem func(*rand.Rand) (*template.Catalog, layout.Request)) {
	t.Helper()
	if testing.Short() {
		rounds /= 8
	}
	possible, asked := 0, 0
	for seed := 0; asked < rounds; seed++ {
		c, r := problem(rand.New(rand.NewSource(int64(seed))))
		if len(r.Services) == 0 {
			continue
		}
		e := newEnumerate(c, r)
		for r.Size > 1 && e.layouts() > float64(*bruteLayouts) {
			r.Size--
			e.r.Size--
		}
		if e.layouts() > float64(*bruteLayouts) || len(c.Hardware) == 0 {
			continue
		}
		usable := false
		for h := range c.Hardware {
			limit, limited := c.Templates["t"].Constraints.Hardware[h]
			usable = usable || !limited || limit > 0
		}
		if !usable {
			continue
		}
		asked++
		want := e.run()
		got, err := New().Solve(context.Background(), c, r)
		say := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: %s\nproblem %+v\n%+v\n%s\nsolver: %v\n%s\nenumeration:\n%s", seed, fmt.Sprintf(format, args...),
				c.Templates["t"].Constraints, r, poolInWords(r.Pool, c), err, inWords(got.Groups), inWords(want))
		}
		if want == nil {
			if e := app.AsError(err); err == nil || e.Reason != request.NoSolution || !strings.Contains(e.Message, " can't be placed on ") {
				say("a layout where there is none")
			}
			continue
		}
		possible++
		if err != nil {
			say("no layout")
		}
		if wrong := solvertest.Check(c, r, got); len(wrong) > 0 {
			say("%s", wrong)
		}
		if inWords(withoutPlaces(got.Groups)) != inWords(want) {
			say("another layout")
		}
	}
	t.Logf("%d of %d problems were possible", possible, asked)
	if possible < rounds/7 || possible > rounds*9/10 {
		t.Errorf("%d of %d problems were possible, which tests one side too little", possible, rounds)
	}
}

// withoutPlaces puts groups together that differ only in their zone or host.
func withoutPlaces(groups []layout.NodeGroup) []layout.NodeGroup {
	var out []layout.NodeGroup
	for _, g := range groups {
		if n := len(out); n > 0 && (out[n-1].Zone != g.Zone || out[n-1].Host != g.Host) && inWords([]layout.NodeGroup{out[n-1]}) == inWords([]layout.NodeGroup{{
			Count: out[n-1].Count, Hardware: g.Hardware, Image: g.Image, Services: g.Services}}) {
			out[n-1].Count += g.Count
			continue
		}
		out = append(out, g)
	}
	return out
}
