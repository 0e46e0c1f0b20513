package solver

import (
	"cmp"
	"context"
	"slices"

	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
)

// watch remembers that the context has ended. The searches ask it often, so it looks at the context only now and then.
type watch struct {
	ctx   context.Context
	steps int
	ended bool
}

func (w *watch) stop() bool {
	if w.steps++; w.steps&15 == 0 && !w.ended {
		w.ended = w.ctx.Err() != nil
	}
	return w.ended
}

// search finds the heaviest set of blocks that may share a node: a maximum weight independent set, with groups as
// hyperedges. It is a branch and bound: reductions settle what is certain, a cover by cliques bounds what is left,
// parts that do not touch each other are solved one by one, and the most entangled block is tried in and out.
//
// Each clause is a set of blocks of which at least one must be taken. Types are the caller's business: the blocks it
// offers share a palette, whose room it states. Extras, where there are any, say what else decides.
type search struct {
	f       *family
	w       *watch
	weight  []int64
	clauses []bitset.Set
	room    load.Load
	weighed bool // whether room matters at all
	extras  *extras
	order   *byRoom // of weight; nil where it has to be made
	pool    bitset.Pool
}

func newSearch(f *family, w *watch, weight []int64) *search {
	return &search{f: f, w: w, weight: weight, room: load.Boundless, weighed: f.heavy, pool: bitset.Pool{Words: f.words}}
}

// node is one node of the search tree: what may still be taken, what has been taken (also before), what was taken here.
type node struct {
	avail, chosen, picks bitset.Set
	wanted, grouped      bitset.Set // blocks of clauses not fulfilled yet, and of groups that could still become complete
	gained               int64
	limit                int       // how many more blocks may be taken
	room                 load.Load // what the node still offers
	tight                bool      // whether that is too little for all that may still be taken
}

// best takes blocks out of avail, none of which may conflict with chosen. It returns the greatest weight that can be
// reached with at most limit blocks and what was taken, or nil where that is less than need. It looks no further once it
// has enough. After the watch has ended the answer means nothing.
func (s *search) best(avail, chosen bitset.Set, need, enough int64, limit int) (int64, bitset.Set) {
	if s.w.stop() {
		return 0, nil
	}
	n := &node{avail: s.pool.Copy(avail), chosen: s.pool.Copy(chosen), picks: s.pool.Get(), limit: limit,
		wanted: s.pool.Get(), grouped: s.pool.Get()}
	if s.weighed {
		n.room = s.room.Minus(s.f.sum(chosen))
	}
	got, ok := s.settle(n, need, enough)
	s.pool.Put(n.avail, n.chosen, n.wanted, n.grouped)
	if !ok {
		s.pool.Put(n.picks)
		return 0, nil
	}
	return got, n.picks
}

func (s *search) settle(n *node, need, enough int64) (int64, bool) {
	if !s.reduce(n) || s.extras != nil && !s.extras.possible(s.f, n) {
		return 0, false
	}
	if n.avail.Empty() || n.limit == 0 {
		if s.extras != nil {
			n.gained += s.extras.bonus(n.chosen)
		}
		return n.gained, n.gained >= need && s.hit(n.chosen) && (s.extras == nil || s.extras.final(n.chosen))
	}
	bound := n.gained + s.bound(n)
	if s.extras != nil {
		bound += s.extras.bound(n)
	}
	if bound < need {
		return 0, false
	}
	if !n.tight && s.extras == nil && n.limit >= n.avail.Count() {
		if parts := s.parts(n); len(parts) > 1 {
			return s.inParts(n, parts, need)
		}
	}
	return s.branch(n, need, min(bound, enough))
}

// hit reports whether every clause has a taken block.
func (s *search) hit(chosen bitset.Set) bool {
	return !slices.ContainsFunc(s.clauses, func(c bitset.Set) bool { return !c.Intersects(chosen) })
}

func (s *search) take(n *node, b int) bool {
	if n.limit == 0 {
		return false
	}
	if s.weighed {
		if !s.f.needs[b].Within(n.room) {
			return false
		}
		n.room = n.room.Minus(s.f.needs[b])
	}
	n.limit--
	n.gained += s.weight[b]
	n.avail.Del(b)
	n.avail.Remove(s.f.adj[b])
	n.chosen.Add(b)
	n.picks.Add(b)
	return true
}

// reduce settles what is certain. It returns false where a clause cannot be fulfilled.
func (s *search) reduce(n *node) bool {
	for {
		again, ok := s.heed(n)
		if !ok {
			return false
		}
		if s.weighed {
			s.weigh(n)
		}
		for b := n.avail.Next(0); b >= 0; b = n.avail.Next(b + 1) {
			if !n.grouped.Has(b) && s.reduceAt(n, b) {
				again = true
			}
		}
		if !again {
			return true
		}
	}
}

// heed drops the last block of each group that is otherwise taken, takes the last block that can fulfil a clause, and
// notes which blocks groups and clauses still speak of. again says that something was taken.
func (s *search) heed(n *node) (again, ok bool) {
	n.grouped.Clear()
	for _, g := range s.f.groups {
		if !g.Within2(n.avail, n.chosen) {
			continue
		}
		if g.Common(n.avail, 2) == 1 {
			n.avail.Del(g.FirstCommon(n.avail))
			continue
		}
		n.grouped.Union(g)
	}
	n.wanted.Clear()
	for _, c := range s.clauses {
		if c.Intersects(n.chosen) {
			continue
		}
		switch c.Common(n.avail, 2) {
		case 0:
			return false, false
		case 1:
			if !s.take(n, c.FirstCommon(n.avail)) {
				return false, false
			}
			return s.heed(n) // at once, as a group may have come to its last block
		}
		n.wanted.Union(c)
	}
	return false, true
}

// weigh drops what finds no room any more, and notes whether all the rest would.
func (s *search) weigh(n *node) {
	sum := load.Load{}
	for b := n.avail.Next(0); b >= 0; b = n.avail.Next(b + 1) {
		if s.f.needs[b].Within(n.room) {
			sum = sum.Plus(s.f.needs[b])
		} else {
			n.avail.Del(b)
		}
	}
	n.tight = !sum.Within(n.room)
}

// reduceAt settles block b or its neighbours, where b forbids no more than they do and weighs as much. No group speaks
// of b.
func (s *search) reduceAt(n *node, b int) bool {
	near := s.pool.Copy(s.f.adj[b])
	defer s.pool.Put(near)
	near.Intersect(n.avail)
	if s.weight[b] < 0 {
		if n.wanted.Has(b) || s.extras != nil && (s.extras.cares(b, near, n.chosen) || len(s.extras.cuts) > 0 || s.extras.near(n.chosen)) {
			return false
		}
		n.avail.Del(b)
		return true
	}
	if s.extras != nil && s.extras.cares(b, near, n.chosen) {
		return near.Empty() && !n.tight && n.limit >= n.avail.Count() && s.extras.welcome(b, n.chosen) && s.take(n, b)
	}
	if !n.tight && n.limit >= n.avail.Count() && !near.Intersects(n.wanted) {
		var sum int64
		for u := near.Next(0); u >= 0; u = near.Next(u + 1) {
			sum += max(0, s.weight[u])
		}
		if sum <= s.weight[b] && (s.extras == nil || s.extras.outweighs(b, near)) {
			return s.take(n, b)
		}
	}
	near.Add(b)
	dropped := false
	for u := near.Next(0); u >= 0; u = near.Next(u + 1) {
		if u == b || s.weight[u] > s.weight[b] || n.wanted.Has(u) || n.tight && !s.f.needs[b].Within(s.f.needs[u]) ||
			s.extras != nil && !s.extras.atLeast(b, u) {
			continue
		}
		near.Del(u)
		if near.SubsetOf(s.f.adj[u]) {
			n.avail.Del(u)
			dropped = true
		} else {
			near.Add(u)
		}
	}
	return dropped
}

// bound returns a weight that cannot be exceeded: the blocks are covered by cliques, of which each returns one block; and
// where room is short, no part of a block returns more for its share of the room than the best ones do.
func (s *search) bound(n *node) int64 {
	most := s.cliqueBound(n)
	if n.tight {
		most = min(most, s.roomBound(n))
	}
	return most
}

func (s *search) roomBound(n *node) int64 {
	if s.order == nil {
		s.order = s.f.byRoom(s.weight)
	}
	return s.order.bound(s.f, n, s.weight)
}

// reweigh must be called when weights have changed.
func (s *search) reweigh() { s.order = nil }

// byRoom is, for each measure of room that matters, the blocks by what they weigh for each unit of it.
type byRoom [len(load.Load{})][]int32

func (f *family) byRoom(weight []int64) *byRoom {
	out := &byRoom{}
	for i := range out {
		var order []int32
		uses := false
		for b, w := range weight {
			if w > 0 {
				order = append(order, int32(b))
				uses = uses || f.needs[b][i] > 0
			}
		}
		if !uses {
			continue
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(float64(weight[b])*float64(f.needs[a][i]), float64(weight[a])*float64(f.needs[b][i]))
		})
		out[i] = order
	}
	return out
}

// bound is how much what is available can weigh at most in the room that is left, if parts of blocks could be had.
func (o *byRoom) bound(f *family, n *node, weight []int64) int64 {
	most := load.Endless
	for i, order := range o {
		if order == nil {
			continue
		}
		left, total := n.room[i], int64(0)
		for _, o := range order {
			b := int(o)
			if !n.avail.Has(b) {
				continue
			}
			need := f.needs[b][i]
			if need > left {
				total += int64(float64(weight[b])*float64(left)/float64(need)) + 1
				break
			}
			total += weight[b]
			left -= need
		}
		most = min(most, total)
	}
	return most
}

func (s *search) cliqueBound(n *node) int64 {
	rest, clique, alone := s.pool.Copy(n.avail), s.pool.Get(), s.pool.Get()
	defer s.pool.Put(rest, clique, alone)
	var tops []int64
	var sum int64
	for b := rest.Next(0); b >= 0; b = rest.Next(b + 1) {
		clique.CopyFrom(rest)
		top, size := int64(0), 0
		for v := b; v >= 0; v = clique.Next(v + 1) {
			rest.Del(v)
			clique.Intersect(s.f.adj[v])
			top = max(top, s.weight[v])
			size++
		}
		if size == 1 {
			alone.Add(b)
		}
		tops = append(tops, top)
		sum += top
	}
	if n.limit < len(tops) {
		slices.SortFunc(tops, func(a, b int64) int { return int(min(1, max(-1, b-a))) })
		sum = 0
		for _, t := range tops[:n.limit] {
			sum += t
		}
		return sum
	}
	// A group of which every block that is left was counted in full returns one of them up.
	for _, g := range s.f.groups {
		if !g.Within2(n.avail, n.chosen) || !g.Within2(alone, n.chosen) {
			continue
		}
		lightest := int64(-1)
		for v := g.Next(0); v >= 0; v = g.Next(v + 1) {
			if alone.Has(v) && (lightest < 0 || s.weight[v] < lightest) {
				lightest = max(0, s.weight[v]) // what weighs less than nothing was counted as nothing
			}
		}
		alone.Remove(g)
		sum -= max(lightest, 0)
	}
	return sum
}

// parts divides what is available so that no pair, group or clause reaches from one part into another.
func (s *search) parts(n *node) []bitset.Set {
	rest := s.pool.Copy(n.avail)
	defer s.pool.Put(rest)
	var out []bitset.Set
	for b := rest.Next(0); b >= 0; b = rest.Next(0) {
		part, edge := bitset.New(s.f.words), []int{b}
		part.Add(b)
		rest.Del(b)
		pull := func(others bitset.Set) {
			for u := others.FirstCommon(rest); u >= 0; u = others.FirstCommon(rest) {
				rest.Del(u)
				part.Add(u)
				edge = append(edge, u)
			}
		}
		for len(edge) > 0 {
			v := edge[len(edge)-1]
			edge = edge[:len(edge)-1]
			pull(s.f.adj[v])
			for _, g := range s.f.groupsOf[v] {
				if s.f.groups[g].Within2(n.avail, n.chosen) {
					pull(s.f.groups[g])
				}
			}
			for _, c := range s.clauses {
				if c.Has(v) && !c.Intersects(n.chosen) {
					pull(c)
				}
			}
		}
		out = append(out, part)
	}
	return out
}

// inParts solves part by part; what the later parts can give at most decides how much an earlier one must give.
func (s *search) inParts(n *node, parts []bitset.Set, need int64) (int64, bool) {
	bounds := make([]int64, len(parts))
	var later int64
	for i, part := range parts {
		bounds[i] = s.bound(&node{avail: part, chosen: n.chosen, limit: n.limit})
		later += bounds[i]
	}
	total := n.gained
	for i, part := range parts {
		later -= bounds[i]
		got, picks := s.within(part, n.chosen, need-total-later, bounds[i], n.limit)
		if picks == nil {
			return 0, false
		}
		total += got
		n.picks.Union(picks)
		s.pool.Put(picks)
	}
	return total, total >= need
}

// within is best for one part: clauses of the other parts are not its business.
func (s *search) within(part, chosen bitset.Set, need, enough int64, limit int) (int64, bitset.Set) {
	all := s.clauses
	var own []bitset.Set
	for _, c := range all {
		if c.Intersects(part) && !c.Intersects(chosen) {
			own = append(own, c)
		}
	}
	s.clauses = own
	got, picks := s.best(part, chosen, need, enough, limit)
	s.clauses = all
	return got, picks
}

// branch tries the most entangled block in, then out.
func (s *search) branch(n *node, need, enough int64) (int64, bool) {
	b, most := -1, -1
	for v := n.avail.Next(0); v >= 0; v = n.avail.Next(v + 1) {
		d := 2 * s.f.adj[v].Common(n.avail, s.f.blocks)
		for _, g := range s.f.groupsOf[v] {
			if s.f.groups[g].Within2(n.avail, n.chosen) {
				d++
			}
		}
		if d > most {
			b, most = v, d
		}
	}
	rest := s.pool.Copy(n.avail)
	defer s.pool.Put(rest)
	rest.Del(b)
	rest.Remove(s.f.adj[b])
	n.chosen.Add(b)
	got, with := s.best(rest, n.chosen, need-n.gained-s.weight[b], enough-n.gained-s.weight[b], n.limit-1)
	n.chosen.Del(b)
	if with != nil {
		with.Add(b)
		got += n.gained + s.weight[b]
		if need = got + 1; got >= enough {
			return s.keep(n, got, with)
		}
	}
	rest.CopyFrom(n.avail)
	rest.Del(b)
	without, picks := s.best(rest, n.chosen, need-n.gained, enough-n.gained, n.limit)
	if picks != nil {
		if with != nil {
			s.pool.Put(with)
		}
		return s.keep(n, n.gained+without, picks)
	}
	if with != nil {
		return s.keep(n, got, with)
	}
	return 0, false
}

func (s *search) keep(n *node, got int64, picks bitset.Set) (int64, bool) {
	n.picks.Union(picks)
	s.pool.Put(picks)
	return got, true
}
