package solver

import (
	"slices"
	"sort"

	"muster/app/template"
	"muster/solver/internal/load"
	"muster/solver/internal/request"
)

// takeConstraints parts the services into those that go everywhere and blocks, and states the template's constraints
// over blocks. Groups are first cut down to the services of this cluster; a can't-coexist group that names any other
// service can never be complete on a node, so it is dropped.
func (p *problem) takeConstraints(t *template.Template) {
	leader := request.Leaders{} // of constrained services: the smallest name of its block
	for name := range t.Constraints.Services {
		if p.named[name] {
			leader[name] = name
		}
	}
	for _, groups := range [][][]string{t.Constraints.MustCoexist, t.Constraints.CantCoexist, t.Constraints.CantCoexistPairs} {
		for _, name := range slices.Concat(groups...) {
			if p.named[name] {
				leader[name] = name
			}
		}
	}
	for _, r := range t.Constraints.Ratios {
		for _, name := range []string{r.Service, r.Of} {
			if p.named[name] {
				leader[name] = name
			}
		}
	}
	for _, group := range t.Constraints.MustCoexist {
		leader.Join(group)
	}
	number := map[string]int{}
	for _, name := range p.services { // by name, so a block's leader comes before its other services
		if leader[name] == "" {
			p.everywhere = append(p.everywhere, name)
			p.base = p.base.Plus(load.Of(p.catalog.Services[name].Needs))
			continue
		}
		top := leader.Find(name)
		i, known := number[top]
		if !known {
			i = len(p.blocks)
			number[top] = i
			p.blocks = append(p.blocks, block{max: template.Unlimited, hardware: upTo(len(p.hardware)), images: upTo(len(p.images))})
		}
		constraint, written := t.Constraints.Services[name]
		p.blocks[i].take(p, name, constraint, written)
	}
	for _, group := range t.Constraints.CantCoexist {
		p.takeCant(group, leader, number)
	}
	for _, group := range t.Constraints.CantCoexistPairs {
		for i, a := range group {
			for _, b := range group[:i] {
				if a != b {
					p.takeCant([]string{a, b}, leader, number)
				}
			}
		}
	}
	for _, r := range t.Constraints.Ratios {
		if !p.named[r.Service] || !p.named[r.Of] {
			continue
		}
		a, b := number[leader.Find(r.Service)], number[leader.Find(r.Of)]
		if a != b { // else there are as many of one as of the other
			p.ratios = append(p.ratios, ratio{a, max(1, r.Per), b})
		}
	}
	for _, name := range p.hardware {
		p.offers = append(p.offers, load.Offer(p.catalog.Hardware[name].Providers[p.provider]))
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// take adds a service to the block. A service that was asked for is wanted at least once, unless the template says in
// writing that none will do.
func (b *block) take(p *problem, name string, c template.ServiceConstraint, written bool) {
	b.services = append(b.services, name)
	b.needs = b.needs.Plus(load.Of(p.catalog.Services[name].Needs))
	if !written {
		b.min = max(b.min, 1)
		return
	}
	if c.Min > 0 || !c.MinSet {
		b.min = max(b.min, c.Min, 1)
	}
	b.max = min(b.max, max(c.Max, 0))
	b.hardware = keep(b.hardware, p.hardware, c.Hardware)
	b.images = keep(b.images, p.images, c.Images)
}

// keep returns the candidates (numbers in names) that a list accepts; an empty list accepts all.
func keep(candidates []int, names, list []string) []int {
	if len(list) == 0 {
		return candidates
	}
	var out []int
	for _, i := range candidates {
		if slices.Contains(list, names[i]) {
			out = append(out, i)
		}
	}
	return out
}

// takeCant states a can't-coexist group over blocks.
func (p *problem) takeCant(group []string, leader request.Leaders, number map[string]int) {
	var blocks []int
	for _, name := range group {
		if !p.named[name] {
			return
		}
		blocks = append(blocks, number[leader.Find(name)])
	}
	sort.Ints(blocks)
	switch blocks = slices.Compact(blocks); len(blocks) {
	case 0:
	case 1:
		p.blocks[blocks[0]].cant = true
	default:
		p.cant = append(p.cant, blocks)
	}
}

func ceil(a, b int) int { return (a + max(1, b) - 1) / max(1, b) }
