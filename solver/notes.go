package solver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// WithNotes returns a solver whose layouts say why they are as they are and not otherwise: what was preferred, what keeps each
// service from being on more nodes, and where the choice of hardware and zones comes from. Notes that a layout has already
// are left alone.
func WithNotes(s layout.Solver) layout.Solver { return noting{s} }

type noting struct{ layout.Solver }

var _ layout.Solver = noting{}

// Solve returns the layout of the inner solver, with notes.
func (n noting) Solve(ctx context.Context, c *template.Catalog, r layout.Request) (layout.Layout, error) {
	l, err := n.Solver.Solve(ctx, c, r)
	if err != nil || len(l.Notes) > 0 {
		return l, err
	}
	if p, err := narrow(c, r); err == nil {
		l.Notes = notesOf(p, c.Templates[r.Template], l)
	}
	return l, nil
}

// mostNotes is how many reasons of one sort are listed one by one.
const mostNotes = 5

func notesOf(p *problem, t *template.Template, l layout.Layout) []string {
	n := &noter{p: p, t: t, l: l, nodes: map[string]int{}}
	for _, g := range l.Groups {
		for _, s := range g.Services {
			n.nodes[s] += g.Count
		}
	}
	n.preference()
	n.apart()
	n.counts()
	n.hardware()
	n.zones()
	n.hosts()
	return n.out
}

// noter gathers the notes of a layout.
type noter struct {
	p     *problem
	t     *template.Template
	l     layout.Layout
	nodes map[string]int // how many nodes have a service
	out   []string
}

func (n *noter) say(format string, args ...any) { n.out = append(n.out, fmt.Sprintf(format, args...)) }

// sayAll tells reasons of one sort, unless they are too many to be read.
func (n *noter) sayAll(reasons []string, rest string) {
	if more := len(reasons) - mostNotes; more > 1 {
		reasons = append(reasons[:mostNotes:mostNotes], fmt.Sprintf("%d %s", more, rest))
	}
	n.out = append(n.out, reasons...)
}

func (n *noter) preference() {
	switch {
	case n.p.prefer == template.PreferCheapest && n.l.Gap > 0:
		n.say("cheapest: within %.2g %% of the lowest possible cost (time ran out before more was proven)", 100*n.l.Gap)
		n.unpriced()
	case n.p.prefer == template.PreferCheapest:
		n.say("cheapest: no other layout costs less per hour")
		n.unpriced()
	case n.p.prefer == template.PreferSpread:
		fullest := 0
		for _, g := range n.l.Groups {
			fullest = max(fullest, len(g.Services))
		}
		n.say("spread: no node has more than %s, the lowest possible", humanize.Count(fullest, "service"))
	case len(n.l.Groups) > 0 && len(n.l.Groups[0].Services) == len(n.p.services) && len(n.kinds()) == 1:
		n.say("all services run together, since no constraint separates them")
	case len(n.kinds()) == 1:
		n.say("packed: all nodes run %s", humanize.And(n.kinds()[0]))
	default:
		n.say("packed: as many nodes as possible run %s, then as many as possible the next largest set", humanize.And(n.kinds()[0]))
	}
}

// unpriced warns of hardware in the layout that is cheap only because no one knows what it costs.
func (n *noter) unpriced() {
	var names []string
	for h, name := range n.p.hardware {
		if n.p.price(h) == 0 && slices.ContainsFunc(n.l.Groups, func(g layout.NodeGroup) bool { return g.Hardware == name }) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		n.say("the price of hardware %s is unknown and counted as 0, so this may not be the cheapest", humanize.And(names))
	}
}

// kinds returns the different sets of services.
func (n *noter) kinds() (out [][]string) {
	for _, g := range n.l.Groups {
		if !slices.ContainsFunc(out, func(k []string) bool { return slices.Equal(k, g.Services) }) {
			out = append(out, g.Services)
		}
	}
	return out
}

// counts says of each service that is not everywhere what decides its number of nodes.
func (n *noter) counts() {
	by, order := map[string][]string{}, []string(nil)
	for i, b := range n.p.blocks {
		count := n.nodes[b.services[0]]
		why := n.bound(i, count)
		if why == "" || count == n.p.size {
			continue
		}
		if by[why] == nil {
			order = append(order, why)
		}
		by[why] = append(by[why], b.services...)
	}
	var reasons []string
	for _, why := range order {
		is := "is"
		if len(by[why]) > 1 {
			is = "are each"
		}
		reasons = append(reasons, fmt.Sprintf("%s %s on %s", humanize.And(by[why]), is, why))
	}
	n.sayAll(reasons, "more services are at their minimum or maximum")
}

// bound says at which of its bounds a block is; "" where it is at none.
func (n *noter) bound(block, count int) string {
	b := n.p.blocks[block]
	nodes := humanize.Count(count, "node")
	for _, r := range n.p.ratios {
		of := n.nodes[n.p.blocks[r.of].services[0]]
		if r.service == block && count == (of+r.per-1)/r.per && count > b.min {
			return fmt.Sprintf("%s: 1 for every %d with %s, out of %d", nodes, r.per, humanize.And(n.p.blocks[r.of].services), of)
		}
	}
	switch {
	case count == b.max && b.max == b.min:
		return nodes + ", exactly as required (min and max)"
	case count == b.max:
		return fmt.Sprintf("%s, the most allowed (max %d)", nodes, b.max)
	case count == b.min && b.min > 1:
		return fmt.Sprintf("%s, the fewest allowed (min %d)", nodes, b.min)
	case count == b.min && b.min == 1:
		return "1 node, since every service must run somewhere"
	case count == 0:
		return "no node, since it's optional (min 0)"
	}
	return ""
}

// apart says which services keep off each other.
func (n *noter) apart() {
	var groups []string
	all := slices.Concat(n.together(n.t.Constraints.CantCoexist), n.t.Constraints.CantCoexistPairs)
	for _, g := range all {
		here := request.Distinct(slices.DeleteFunc(slices.Clone(g), func(s string) bool { return n.nodes[s] == 0 }))
		if len(here) > 1 {
			groups = append(groups, humanize.And(here))
		}
	}
	switch {
	case len(groups) > mostNotes:
		n.say("%d groups of services are kept apart (can't coexist)", len(groups))
	case len(groups) > 0:
		n.say("kept apart (can't coexist): %s", strings.Join(groups, "; "))
	}
}

// together leaves groups out that do not count here, since one of them is nowhere, and makes of pairs that exclude each
// other one group.
func (n *noter) together(groups [][]string) (out [][]string) {
	var pairs [][]string
	for _, g := range groups {
		g = request.Distinct(g)
		switch {
		case slices.ContainsFunc(g, func(s string) bool { return n.nodes[s] == 0 }):
		case len(g) == 2:
			pairs = append(pairs, g)
		default:
			out = append(out, g)
		}
	}
	cliques, reported := request.ExclusiveGroups(pairs), map[int]bool{}
	for _, pair := range pairs {
		g, in := cliques[strings.Join(pair, " ")]
		if !in {
			out = append(out, pair)
		} else if !reported[g.Number] {
			reported[g.Number] = true
			out = append(out, g.Services)
		}
	}
	return out
}

// hardware says where there was no choice of hardware, and by what it was made else.
func (n *noter) hardware() {
	if len(n.p.hardware) < 2 {
		return
	}
	var reasons []string
	for _, b := range n.p.blocks {
		fits := slices.DeleteFunc(slices.Clone(b.hardware), func(h int) bool { return !b.needs.Plus(n.p.base).Within(n.p.offers[h]) })
		if len(fits) == 1 && n.nodes[b.services[0]] > 0 {
			reasons = append(reasons, fmt.Sprintf("%s can only be on hardware %s", humanize.And(b.services), n.p.hardware[fits[0]]))
		}
	}
	chosen := len(reasons) < len(n.p.blocks) || len(n.p.blocks) == 0
	n.sayAll(reasons, "more fit only one hardware")
	used := map[string]int{}
	for _, g := range n.l.Groups {
		used[g.Hardware] += g.Count
	}
	for h, name := range n.p.hardware {
		if limit := n.p.limits[h]; limit < n.p.size && used[name] == limit {
			n.say("hardware %s is on %s, its limit", name, humanize.Count(limit, "node"))
		}
	}
	if chosen && n.p.prefer != template.PreferCheapest && n.priced() {
		n.say("hardware is the first by name that fits, whatever its price; the cheapest preference compares prices")
	}
}

// priced reports whether hardware that could be used has different prices.
func (n *noter) priced() bool {
	return slices.ContainsFunc(upTo(len(n.p.hardware)), func(h int) bool { return n.p.price(h) != n.p.price(0) })
}

// zones says how many nodes of what is spread are in each zone.
func (n *noter) zones() {
	if n.p.zoneRule == nil || len(n.p.zones) == 0 {
		return
	}
	spread := n.p.zoneRule.Services
	if len(spread) == 0 {
		spread = []string{""}
	}
	for _, s := range spread {
		in := map[string]int{}
		for _, g := range n.l.Groups {
			if s == "" || slices.Contains(g.Services, s) {
				in[g.Zone] += g.Count
			}
		}
		var parts []string
		for _, z := range n.p.zones {
			parts = append(parts, fmt.Sprintf("%d in %s", in[z], z))
		}
		if s == "" {
			s = "nodes"
		}
		n.say("%s over zones: %s (differing by at most %d)", s, humanize.And(parts), max(1, n.p.zoneRule.MaxSkew))
	}
}

// hosts says on how many of the hosts that could take a node the layout is, and what keeps its nodes off others.
func (n *noter) hosts() {
	if n.p.pool == nil {
		return
	}
	used := map[string]bool{}
	for _, g := range n.l.Groups {
		used[g.Host] = true
	}
	n.say("%s on %s of provider %s (%d had room); their placement on hosts doesn't follow the preference",
		humanize.Count(n.p.size, "node"), humanize.Count(len(used), "host"), n.p.provider, len(n.p.pool.hosts))
	rule := n.t.Constraints.Hosts
	if rule == nil {
		return
	}
	here := func(names []string) []string {
		return slices.DeleteFunc(request.Distinct(names), func(s string) bool { return n.nodes[s] == 0 })
	}
	if alone := here(rule.Alone); len(alone) > 0 {
		n.say("%s shares no host with other clusters (alone)", humanize.And(alone))
	}
	for _, a := range rule.Apart {
		if n.nodes[a.Service] > 0 {
			n.say("%s shares no host with %s of other clusters (apart)", a.Service, humanize.Or(request.Distinct(a.From)))
		}
	}
	if separate := here(rule.Separate); len(separate) > 0 {
		n.say("no host has two nodes with %s (separate)", humanize.Or(separate))
	}
	if rule.MaxNodes > 0 {
		n.say("no host has more than %s of the cluster (max_nodes)", humanize.Count(rule.MaxNodes, "node"))
	}
}
