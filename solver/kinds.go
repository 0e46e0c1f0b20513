package solver

import (
	"math"

	"muster/solver/internal/bitset"
)

// kind is what a node can be: some blocks, beside the services that go everywhere, on one hardware and image type.
type kind struct {
	blocks          bitset.Set
	hardware, image int
}

// finder returns kinds in order of preference: more services first, then hardware name, image name, service names.
//
// Whether a kind will do is for its caller to judge. What makes one fail is kept as clauses: sets of blocks of which a
// kind must have at least one.
type finder struct {
	f *family
	w *watch
	s *search
}

func newFinder(p *problem, f *family, w *watch) *finder {
	weight := make([]int64, len(p.blocks))
	for i, b := range p.blocks {
		weight[i] = int64(len(b.services))
	}
	return &finder{f: f, w: w, s: newSearch(f, w, weight)}
}

// choice is one question to the finder: the kind must have at least one and at most limit of the open blocks, and pass
// the judge. A judge that says no must add at least one clause which the kind does not fulfil.
type choice struct {
	open  bitset.Set
	limit int
	judge func(blocks bitset.Set) bool
}

// preferred returns the most preferred kind, or false where there is none.
func (d *finder) preferred(c choice) (kind, bool) {
	most := int64(math.MaxInt64)
	for !d.w.ended {
		weight, blocks, at, fit := d.heaviest(c, most)
		if blocks == nil {
			return kind{}, false
		}
		most = weight // clauses only ever take kinds away
		if !c.judge(blocks) {
			continue
		}
		d.s.room = at.room
		return kind{blocks: d.firstByName(c, blocks, fit, weight), hardware: at.hardware, image: at.image}, true
	}
	return kind{}, false
}

// heaviest finds the greatest number of services, which is known to be no more than most, and the first palette that
// reaches it. fit holds the open blocks of the palette; blocks is nil where there is nothing.
func (d *finder) heaviest(c choice, most int64) (top int64, blocks bitset.Set, at palette, fit bitset.Set) {
	none := bitset.New(d.f.words)
	for _, p := range d.f.palettes { // in order, so the first to reach the greatest weight is the preferred one
		here := p.blocks.Clone()
		here.Intersect(c.open)
		if here.Empty() || blocks != nil && !d.f.heavy && here.SubsetOf(fit) {
			continue
		}
		d.s.room = p.room
		if got, picks := d.s.best(here, none, top+1, most, c.limit); picks != nil {
			top, blocks, at, fit = got, picks, p, here
		}
		if top == most {
			break
		}
	}
	return top, blocks, at, fit
}

// firstByName returns, among the sets as heavy as blocks that pass the judge, the one whose names come first. Blocks are
// numbered by name, so it goes through them in order and keeps each one that some such set has together with those
// kept before. blocks is always such a set.
func (d *finder) firstByName(c choice, blocks, fit bitset.Set, weight int64) bitset.Set {
	kept, open, rest := bitset.New(d.f.words), fit.Clone(), bitset.New(d.f.words)
	limit := c.limit
	for b := open.Next(0); b >= 0 && limit > 0; b = open.Next(b + 1) {
		open.Del(b)
		if !d.f.joins(kept, d.f.palsOf[b], b) || d.f.heavy && !d.f.sum(kept).Plus(d.f.needs[b]).Within(d.s.room) || weight < d.s.weight[b] {
			continue
		}
		left := weight - d.s.weight[b]
		kept.Add(b)
		for !blocks.Has(b) {
			rest.CopyFrom(open)
			rest.Remove(d.f.adj[b])
			_, picks := d.s.best(rest, kept, left, left, limit-1)
			if picks == nil {
				break
			}
			picks.Union(kept)
			if c.judge(picks) {
				blocks = picks
			}
		}
		if !blocks.Has(b) {
			kept.Del(b)
			continue
		}
		weight = left
		limit--
		open.Remove(d.f.adj[b])
	}
	return kept
}
