package solver

import (
	"fmt"

	"muster/app"
	"muster/app/humanize"
	"muster/solver/internal/bitset"
	"muster/solver/internal/request"
)

// obstacle says why there is no layout: a sentence for people, and the services it is about.
type obstacle struct {
	services []string
	sentence string
}

// refusal is the error for a problem without a layout.
func (p *problem) refusal(o obstacle) *app.Error {
	return request.Refuse(app.ENoLayout, request.NoSolution, "", "%s can't be placed on %s: %s.",
		humanize.Count(len(p.services), "service"), humanize.Count(p.size, "node"), o.sentence)
}

// obstacle looks for what makes the whole problem impossible. It returns false where a layout exists.
func (c *counter) obstacle() (obstacle, bool) {
	if len(c.f.palettes) == 0 {
		return obstacle{c.p.everywhere, fmt.Sprintf("no allowed hardware (%s) is large enough for %s, which "+
			"no constraint keeps off any node", humanize.Some(c.p.hardware, 8), humanize.Some(c.p.everywhere, 8))}, true
	}
	for i, b := range c.p.blocks {
		if o, found := c.blockObstacle(i, b); found {
			return o, true
		}
	}
	if total := c.total(); len(c.p.everywhere) == 0 && total < c.n {
		return obstacle{c.p.services, fmt.Sprintf("the maximums of all services add up to %s, and every node must run a service",
			humanize.Count(total, "node"))}, true
	}
	ok, core := c.oracle.coverable(c.need, c.n)
	if ok || c.w.ended {
		return obstacle{}, false
	}
	return c.coreObstacle(core), true
}

// blockObstacle says why one block alone cannot be placed as often as it must be.
func (c *counter) blockObstacle(i int, b block) (obstacle, bool) {
	who := humanize.Some(b.services, 8)
	say := func(format string, args ...any) (obstacle, bool) {
		return obstacle{b.services, fmt.Sprintf(format, args...)}, true
	}
	switch {
	case b.min == 0:
		return obstacle{}, false
	case b.cant:
		return say("%s must coexist and can't coexist", who)
	case len(b.hardware) == 0:
		return say("no allowed hardware (%s) is accepted by %s", humanize.Some(c.p.hardware, 8), who)
	case len(b.images) == 0:
		return say("no allowed image (%s) is accepted by %s", humanize.Some(c.p.images, 8), who)
	case b.max > 0 && !c.f.usable.Has(i):
		return say("no allowed hardware that %s accepts (%s) is large enough", who, humanize.Some(c.p.hardware, 8))
	case b.min > b.max:
		return say("%s must be on at least %s, but can be on at most %d", who, humanize.Count(b.min, "node"), b.max)
	case b.min > c.n:
		return say("%s must be on at least %s", who, humanize.Count(b.min, "node"))
	}
	return obstacle{}, false
}

// coreObstacle names the blocks that together need more nodes than there are.
func (c *counter) coreObstacle(core bitset.Set) obstacle {
	var services []string
	sum, exclusive := 0, true
	for b := core.Next(0); b >= 0; b = core.Next(b + 1) {
		services = append(services, c.p.blocks[b].services...)
		sum += c.need[b]
		for u := core.Next(b + 1); u >= 0; u = core.Next(u + 1) {
			exclusive = exclusive && c.f.adj[b].Has(u)
		}
	}
	if exclusive {
		return obstacle{services, fmt.Sprintf("%s can't share nodes, and their minimums add up to %s", humanize.Some(services, 8),
			humanize.Count(sum, "node"))}
	}
	return obstacle{services, fmt.Sprintf("those of %s that can't share nodes need more than %s for their minimums",
		humanize.Some(services, 8), humanize.Count(c.n, "node"))}
}

// rules names the rules that the counter does not know, where they are what makes a problem impossible.
func (p *problem) rules() obstacle {
	var what []string
	if len(p.ratios) > 0 {
		what = append(what, "the ratios")
	}
	for i, limit := range p.limits {
		if limit < p.size {
			what = append(what, fmt.Sprintf("at most %s of hardware %s", humanize.Count(limit, "node"), p.hardware[i]))
		}
	}
	if p.zoneRule != nil {
		what = append(what, "the spread over zones")
	}
	if p.pool != nil {
		what = append(what, "the hosts of provider "+p.provider)
	}
	return obstacle{p.services, "the other constraints can be satisfied, but not together with " + humanize.And(what)}
}
