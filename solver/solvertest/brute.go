package solvertest

import (
	"fmt"
	"slices"
	"sort"

	"muster/app/layout"
	"muster/app/template"
)

// bruteKind is a kind of node found the plain way.
type bruteKind struct {
	services        []string
	hardware, image string
}

// brute is what BruteForce knows on its way.
type brute struct {
	kinds    []bruteKind
	services []string
	failed   map[string]bool
}

// BruteForce finds the preferred layout by going through all kinds of nodes and all counts. It reads the template for
// itself and shares nothing with the solver but the meaning of the words. It returns false where there is no layout.
func BruteForce(c *template.Catalog, r layout.Request) ([]layout.NodeGroup, bool) {
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

func bruteKinds(c *template.Catalog, t *template.Template, services []string) []bruteKind {
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
		if !complete || !MayShare(t, on, services) {
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

// MayShare reports whether the groups of a template let just the services of on, out of those asked for, be on one node.
func MayShare(t *template.Template, on, services []string) bool {
	for _, g := range t.Constraints.CantCoexist {
		if !slices.ContainsFunc(g, func(s string) bool { return !slices.Contains(on, s) }) {
			return false
		}
	}
	for _, g := range t.Constraints.MustCoexist {
		here, asked := 0, 0
		for _, s := range g {
			if slices.Contains(on, s) {
				here++
			}
			if slices.Contains(services, s) {
				asked++
			}
		}
		if here != 0 && here != asked {
			return false
		}
	}
	return true
}

func bruteTypes(c *template.Catalog, t *template.Template, on []string) (bruteKind, bool) {
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
func (b *brute) counts(at, n int, low, high map[string]int) ([]layout.NodeGroup, bool) {
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
				rest = append([]layout.NodeGroup{{Count: count, Hardware: k.hardware, Image: k.image, Services: k.services}}, rest...)
			}
			return rest, true
		}
	}
	b.failed[key] = true
	return nil, false
}
