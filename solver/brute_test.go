package solver

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"strings"
	"testing"

	"muster/app"
)

// bruteKind is a kind of node found the plain way.
type bruteKind struct {
	services        []string
	hardware, image string
}

// brute finds the preferred layout by going through all kinds of nodes and all counts. It reads the template for
// itself and shares nothing with the solver but the meaning of the words.
type brute struct {
	kinds    []bruteKind
	services []string
	failed   map[string]bool
}

func bruteForce(c *app.Catalog, r app.LayoutRequest) ([]app.NodeGroup, bool) {
	t := c.Templates[r.Template]
	services := slices.Clone(r.Services)
	sort.Strings(services)
	b := &brute{services: services, failed: map[string]bool{}}
	b.kinds = bruteKinds(c, t, services)
	low, high := map[string]int{}, map[string]int{}
	for _, s := range services {
		low[s], high[s] = 1, r.Size
		if sc, ok := t.Constraints.Services[s]; ok {
			high[s] = min(sc.Max, r.Size)
			if low[s] = max(1, sc.Min); sc.MinSet && sc.Min == 0 {
				low[s] = 0
			}
		}
	}
	return b.counts(0, r.Size, low, high)
}

func bruteKinds(c *app.Catalog, t *app.Template, services []string) []bruteKind {
	constrained := func(s string) bool {
		if _, ok := t.Constraints.Services[s]; ok {
			return true
		}
		return slices.Contains(slices.Concat(slices.Concat(t.Constraints.MustCoexist, t.Constraints.CantCoexist)...), s)
	}
	var kinds []bruteKind
	for bits := 1; bits < 1<<len(services); bits++ {
		var on []string
		complete := true
		for i, s := range services {
			if bits&(1<<i) != 0 {
				on = append(on, s)
			} else if !constrained(s) {
				complete = false
			}
		}
		if !complete || !bruteValid(t, on, services) {
			continue
		}
		if k, ok := bruteTypes(c, t, on); ok {
			kinds = append(kinds, k)
		}
	}
	sort.Slice(kinds, func(i, j int) bool {
		a, b := kinds[i], kinds[j]
		if len(a.services) != len(b.services) {
			return len(a.services) > len(b.services)
		}
		if a.hardware != b.hardware {
			return a.hardware < b.hardware
		}
		if a.image != b.image {
			return a.image < b.image
		}
		return slices.Compare(a.services, b.services) < 0
	})
	return kinds
}

func bruteValid(t *app.Template, on, services []string) bool {
	for _, g := range t.Constraints.CantCoexist {
		if !slices.ContainsFunc(g, func(s string) bool { return !slices.Contains(on, s) }) {
			return false
		}
	}
	for _, g := range t.Constraints.MustCoexist {
		here, asked := 0, 0
		for _, s := range g {
			here += b2i(slices.Contains(on, s))
			asked += b2i(slices.Contains(services, s))
		}
		if here != 0 && here != asked {
			return false
		}
	}
	return true
}

func bruteTypes(c *app.Catalog, t *app.Template, on []string) (bruteKind, bool) {
	for _, h := range []string{"h0", "h1", "h2"} {
		for _, i := range []string{"i0", "i1", "i2"} {
			fits := c.Hardware[h] != nil && c.Images[i] != nil
			for _, s := range on {
				sc := t.Constraints.Services[s]
				fits = fits && (len(sc.Hardware) == 0 || slices.Contains(sc.Hardware, h)) &&
					(len(sc.Images) == 0 || slices.Contains(sc.Images, i))
			}
			if fits {
				return bruteKind{on, h, i}, true
			}
		}
	}
	return bruteKind{}, false
}

// counts tries the greatest count of each kind first, so the first layout found is the preferred one.
func (b *brute) counts(at, n int, low, high map[string]int) ([]app.NodeGroup, bool) {
	if n == 0 {
		for _, l := range low {
			if l > 0 {
				return nil, false
			}
		}
		return nil, true
	}
	if at == len(b.kinds) {
		return nil, false
	}
	key := fmt.Sprint(at, n)
	for _, s := range b.services {
		if low[s] > n {
			return nil, false
		}
		key += fmt.Sprint(" ", max(low[s], 0), min(high[s], n))
	}
	if b.failed[key] {
		return nil, false
	}
	k := b.kinds[at]
	top := n
	for _, s := range k.services {
		top = min(top, high[s])
	}
	for count := top; count >= 0; count-- {
		l, h := map[string]int{}, map[string]int{}
		for s := range low {
			l[s], h[s] = low[s], high[s]
		}
		for _, s := range k.services {
			l[s] -= count
			h[s] -= count
		}
		if rest, ok := b.counts(at+1, n-count, l, h); ok {
			if count > 0 {
				rest = append([]app.NodeGroup{{Count: count, Hardware: k.hardware, Image: k.image, Services: k.services}}, rest...)
			}
			return rest, true
		}
	}
	b.failed[key] = true
	return nil, false
}

// smallProblem makes a random question. Groups may name services that are not asked for.
func smallProblem(r *rand.Rand) (*app.Catalog, app.LayoutRequest) {
	c := app.NewCatalog()
	c.Providers["p"] = &app.ProviderSpec{About: app.About{Name: "p"}}
	for i := range 1 + r.Intn(3) {
		c.Hardware[fmt.Sprint("h", i)] = &app.HardwareType{Providers: map[string]app.Flavor{"p": {Flavor: "f", CostPerHour: 0.5}}}
	}
	for i := range 1 + r.Intn(3) {
		c.Images[fmt.Sprint("i", i)] = &app.ImageType{Providers: map[string]app.Image{"p": {Image: "m"}}}
	}
	var all []string
	for i := range 1 + r.Intn(6) {
		all = append(all, fmt.Sprint("s", i))
		c.Services[all[i]] = &app.Service{About: app.About{Name: all[i]}}
	}
	t := &app.Template{About: app.About{Name: "t"}, Defaults: app.TemplateDefaults{Provider: "p"}}
	t.Constraints = app.Constraints{Services: map[string]app.ServiceConstraint{}, Size: app.SizeRange{Min: 1, Max: 99}}
	pick := func(names []string, least, most int) []string {
		var out []string
		for _, i := range r.Perm(len(names))[:min(len(names), least+r.Intn(most-least+1))] {
			out = append(out, names[i])
		}
		return out
	}
	if r.Intn(3) == 0 {
		for range 1 + r.Intn(2) {
			t.Constraints.MustCoexist = append(t.Constraints.MustCoexist, pick(all, 1, 3))
		}
	}
	for range r.Intn(5) {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, pick(all, 2, 4))
	}
	size := 1 + r.Intn(8)
	typed := r.Intn(3) == 0
	for _, s := range all {
		if r.Intn(4) == 0 {
			continue
		}
		sc := app.ServiceConstraint{Max: app.Unlimited}
		if r.Intn(2) == 0 {
			sc.Min, sc.MinSet = r.Intn(4), true
		}
		if r.Intn(2) == 0 {
			sc.Max = max(sc.Min, r.Intn(size+1))
		}
		if typed {
			sc.Hardware = pick([]string{"h0", "h1", "h2"}, 0, 2)
			sc.Images = pick([]string{"i0", "i1", "i2"}, 0, 2)
		}
		t.Constraints.Services[s] = sc
	}
	c.Templates["t"] = t
	return c, app.LayoutRequest{Template: "t", Size: size, Services: pick(all, len(all)-r.Intn(2), len(all))}
}

var (
	bruteRounds  = flag.Int("rounds", 5000, "how many random problems to compare with brute force")
	bruteLayouts = flag.Int("layouts", 3000, "how many layouts a problem may have that is compared with all of them")
)

// tightProblem makes a random question of many pairs on few nodes, where rings and cliques leave little choice.
func tightProblem(r *rand.Rand) (*app.Catalog, app.LayoutRequest) {
	c, t := big(7 + r.Intn(3))
	services := t.Defaults.Services
	c.Hardware = map[string]*app.HardwareType{"h0": c.Hardware["small"], "h1": c.Hardware["large"]}
	c.Images = map[string]*app.ImageType{"i0": c.Images["debian"]}
	for i := range services {
		if r.Intn(2) == 0 {
			t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, []string{services[i], services[(i+1)%len(services)]})
		}
		t.Constraints.Services[services[i]] = between(1+r.Intn(2), 2+r.Intn(6))
	}
	for range r.Intn(len(services)) {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, someOf(r, services, 2+r.Intn(5)/4))
	}
	if r.Intn(3) == 0 {
		sc := between(1, 5)
		sc.Hardware = []string{"h1"}
		t.Constraints.Services[services[r.Intn(len(services))]] = sc
	}
	return c, app.LayoutRequest{Template: "t", Size: 2 + r.Intn(5), Services: services}
}

func TestSameAsBruteForce(t *testing.T) {
	t.Run("small", func(t *testing.T) { compareWithBrute(t, *bruteRounds, smallProblem) })
	t.Run("tight", func(t *testing.T) { compareWithBrute(t, *bruteRounds/40, tightProblem) })
}

func compareWithBrute(t *testing.T, rounds int, problem func(*rand.Rand) (*app.Catalog, app.LayoutRequest)) {
	t.Helper()
	if testing.Short() {
		rounds /= 8
	}
	possible := 0
	for seed := range rounds {
		c, r := problem(rand.New(rand.NewSource(int64(seed))))
		if len(r.Services) == 0 {
			continue
		}
		want, ok := bruteForce(c, r)
		got, err := New().Solve(context.Background(), c, r)
		if !ok {
			if e := app.AsError(err); err == nil || e.Reason != noSolution || !strings.HasPrefix(e.Message, "No layout") {
				t.Fatalf("seed %d: got %v, %v, want no solution\n%+v\n%+v", seed, got, err, c.Templates["t"].Constraints, r)
			}
			continue
		}
		possible++
		if err != nil || inWords(got.Groups) != inWords(want) {
			t.Fatalf("seed %d: got %v\n%s\nwant\n%s\n%+v\n%+v", seed, err, inWords(got.Groups), inWords(want),
				c.Templates["t"].Constraints, r)
		}
		var cost float64
		for _, g := range want {
			cost += float64(g.Count) * c.Hardware[g.Hardware].Providers["p"].CostPerHour
		}
		if got.CostPerHour != cost {
			t.Fatalf("seed %d: got cost %v, want %v", seed, got.CostPerHour, cost)
		}
	}
	if possible < rounds/4 || possible > rounds*9/10 {
		t.Errorf("%d of %d problems were possible, which tests one side too little", possible, rounds)
	}
}
