package solver

import (
	"encoding/binary"
	"slices"

	"muster/solver/internal/bitset"
)

// oracle answers whether a number of nodes is enough to put every block on as many of them as it needs. This is
// multicolouring: a node is a colour, and only sets of the family may share one. Blocks need not be kept off nodes,
// since the family is closed downwards: what is too much can be left out.
//
// Cheap answers come first: blocks that never touch are judged apart; first-fit finds most coverings, cliques most
// impossibilities. What is between is decided by a linear program (lp.go) and, where that is not sharp, by search.
type oracle struct {
	f      *family
	w      *watch
	price  *search
	failed map[string]bool // searched and found impossible
}

func newOracle(f *family, w *watch) *oracle {
	return &oracle{f: f, w: w, price: newSearch(f, w, make([]int64, f.blocks)), failed: map[string]bool{}}
}

// coverable reports whether n nodes suffice. If not, core is a set of blocks which alone, with these needs, need more.
// After the watch has ended the answer means nothing.
func (o *oracle) coverable(need []int, n int) (ok bool, core bitset.Set) {
	rest := bitset.New(o.f.words)
	total := 0
	for b, k := range need {
		if k > 0 {
			rest.Add(b)
			total += k
		}
	}
	if total <= n {
		return true, nil
	}
	for _, part := range o.parts(rest) {
		if ok, core := o.part(part, need, n); !ok {
			return false, core
		}
	}
	return true, nil
}

// parts divides the blocks so that none of one part restricts any of another.
func (o *oracle) parts(active bitset.Set) []bitset.Set {
	rest := active.Clone()
	typed := bitset.New(o.f.words) // blocks that types may keep from each other, beyond pairs
	if !o.f.onePalette(active) {
		typed.CopyFrom(active)
		common := active.Clone()
		for b := common.Next(0); b >= 0; b = common.Next(b + 1) {
			if !o.f.indifferent(b) {
				common.Del(b)
			}
		}
		typed.Remove(common)
	}
	var out []bitset.Set
	for b := rest.Next(0); b >= 0; b = rest.Next(0) {
		part, edge := bitset.New(o.f.words), []int{b}
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
			pull(o.f.adj[v])
			if typed.Has(v) {
				pull(typed)
			}
			for _, g := range o.f.groupsOf[v] {
				if o.f.groups[g].SubsetOf(active) {
					pull(o.f.groups[g])
				}
			}
		}
		out = append(out, part)
	}
	return out
}

// squeaks is how often first-fit is tried again with the blocks that found no room moved forward.
const squeaks = 12

func (o *oracle) part(part bitset.Set, need []int, n int) (bool, bitset.Set) {
	total := 0
	for b := part.Next(0); b >= 0; b = part.Next(b + 1) {
		total += need[b]
	}
	if total <= n {
		return true, nil
	}
	rank := o.rank(part, need)
	if o.firstFit(part, need, n, rank) {
		return true, nil
	}
	if core := o.clique(part, need, n); core != nil {
		return false, core
	}
	if hard := o.kernel(part, need, n); hard.Count() < part.Count() {
		for _, p := range o.parts(hard) {
			if ok, core := o.part(p, need, n); !ok {
				return false, core
			}
		}
		return true, nil
	}
	for range squeaks {
		if o.w.stop() {
			return false, part
		}
		if o.firstFit(part, need, n, rank) {
			return true, nil
		}
	}
	key := o.key(part, need, n)
	if o.failed[key] {
		return false, part
	}
	verdict, core := o.linear(part, need, n)
	if verdict == unknown {
		if o.search(part, need, n) {
			return true, nil
		}
		core = part
	}
	if verdict == possible {
		return true, nil
	}
	if !o.w.ended && len(o.failed) < 1<<16 {
		o.failed[key] = true
	}
	return false, core
}

// kernel leaves out the blocks that will find room whatever becomes of the others: because all that keeps it off nodes
// cannot fill enough of them, or because it can go wherever a certain other block goes.
func (o *oracle) kernel(part bitset.Set, need []int, n int) bitset.Set {
	left := part.Clone()
	typed := !o.f.onePalette(part)
	for again := true; again; {
		again = false
		for b := left.Next(0); b >= 0; b = left.Next(b + 1) {
			if o.easy(b, left, need, n, typed) || o.follows(b, left, need) {
				left.Del(b)
				again = true
			}
		}
	}
	return left
}

func (o *oracle) easy(b int, left bitset.Set, need []int, n int, typed bool) bool {
	if typed && !o.f.indifferent(b) {
		return false
	}
	taken := need[b]
	for u := o.f.adj[b].Next(0); u >= 0 && taken <= n; u = o.f.adj[b].Next(u + 1) {
		if left.Has(u) {
			taken += need[u]
		}
	}
	for _, g := range o.f.groupsOf[b] {
		if group := o.f.groups[g]; group.SubsetOf(left) {
			least := n
			for u := group.Next(0); u >= 0; u = group.Next(u + 1) {
				if u != b {
					least = min(least, need[u])
				}
			}
			taken += least
		}
	}
	return taken <= n
}

func (o *oracle) follows(b int, left bitset.Set, need []int) bool {
	if o.f.heavy && !o.f.needs[b].Free() {
		return false
	}
	for _, g := range o.f.groupsOf[b] {
		if o.f.groups[g].SubsetOf(left) {
			return false
		}
	}
	for u := left.Next(0); u >= 0; u = left.Next(u + 1) {
		if u != b && need[b] <= need[u] && !o.f.adj[b].Has(u) && o.f.palsOf[u].SubsetOf(o.f.palsOf[b]) &&
			o.f.adj[b].Within(left, o.f.adj[u]) {
			return true
		}
	}
	return false
}

func (o *oracle) key(part bitset.Set, need []int, n int) string {
	key := binary.AppendUvarint(nil, uint64(n))
	for b := part.Next(0); b >= 0; b = part.Next(b + 1) {
		key = binary.AppendUvarint(key, uint64(b))
		key = binary.AppendUvarint(key, uint64(need[b]))
	}
	return string(key)
}

// rank says how urgent each block is: its own need and that of those it cannot be with.
func (o *oracle) rank(part bitset.Set, need []int) []int {
	rank := make([]int, o.f.blocks)
	for b := part.Next(0); b >= 0; b = part.Next(b + 1) {
		rank[b] = need[b]
		for u := o.f.adj[b].Next(0); u >= 0; u = o.f.adj[b].Next(u + 1) {
			if part.Has(u) {
				rank[b] += need[u]
			}
		}
		for _, g := range o.f.groupsOf[b] {
			if o.f.groups[g].SubsetOf(part) {
				rank[b] += need[b] / 2
			}
		}
	}
	return rank
}

// class is a number of nodes with the same blocks so far.
type class struct {
	blocks, pals bitset.Set
	nodes        int
}

// firstFit places the blocks in order of rank, each on the first nodes that have room. Where that fails it raises the
// rank of those left over, for the next try.
func (o *oracle) firstFit(part bitset.Set, need []int, n int, rank []int) bool {
	order := make([]int, 0, 64)
	for b := part.Next(0); b >= 0; b = part.Next(b + 1) {
		order = append(order, b)
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank[b] - rank[a] })
	var classes []class
	all := true
	for _, b := range order {
		left := need[b]
		for i := 0; i < len(classes) && left > 0; i++ {
			c := &classes[i]
			if !o.f.joins(c.blocks, c.pals, b) {
				continue
			}
			use := min(left, c.nodes)
			left -= use
			if use < c.nodes {
				classes = append(classes, class{c.blocks.Clone(), c.pals.Clone(), c.nodes - use})
				c = &classes[i]
				c.nodes = use
			}
			c.blocks.Add(b)
			c.pals.Intersect(o.f.palsOf[b])
		}
		if o.w.stop() {
			return false
		}
		if use := min(left, n); use > 0 {
			alone := bitset.New(o.f.words)
			alone.Add(b)
			classes = append(classes, class{alone, o.f.palsOf[b].Clone(), use})
			n -= use
			left -= use
		}
		if left > 0 {
			all = false
			rank[b] = rank[order[0]] + 1
		}
	}
	return all
}

// clique looks for blocks that all exclude each other and together need more than n nodes. nil where it finds none.
func (o *oracle) clique(part bitset.Set, need []int, n int) bitset.Set {
	open := bitset.New(o.f.words)
	for b := part.Next(0); b >= 0; b = part.Next(b + 1) {
		c := bitset.New(o.f.words)
		c.Add(b)
		sum := need[b]
		open.CopyFrom(o.f.adj[b])
		open.Intersect(part)
		for sum <= n {
			top := -1
			for v := open.Next(0); v >= 0; v = open.Next(v + 1) {
				if top < 0 || need[v] > need[top] {
					top = v
				}
			}
			if top < 0 {
				break
			}
			c.Add(top)
			sum += need[top]
			open.Intersect(o.f.adj[top])
		}
		if sum > n {
			return c
		}
	}
	return nil
}

// search decides by trying: the neediest block must be on some node, and there with as much company as it can have.
func (o *oracle) search(part bitset.Set, need []int, n int) bool {
	if n == 0 {
		return false
	}
	top := part.Next(0)
	for b := top; b >= 0; b = part.Next(b + 1) {
		if need[b] > need[top] {
			top = b
		}
	}
	rest := slices.Clone(need)
	for b := range rest {
		if !part.Has(b) {
			rest[b] = 0
		}
	}
	full := bitset.New(o.f.words)
	full.Add(top)
	open := part.Clone()
	open.Del(top)
	return o.company(full, o.f.palsOf[top].Clone(), open, bitset.New(o.f.words), func(node bitset.Set) bool {
		for b := node.Next(0); b >= 0; b = node.Next(b + 1) {
			rest[b]--
		}
		ok, _ := o.coverable(rest, n-1)
		for b := node.Next(0); b >= 0; b = node.Next(b + 1) {
			rest[b]++
		}
		return ok && !o.w.ended
	})
}

// company goes through the sets of s and blocks of open to which no block can be added, neither of open nor of past
// (those passed over), until try says true.
func (o *oracle) company(s, pals, open, past bitset.Set, try func(bitset.Set) bool) bool {
	if o.w.stop() {
		return false
	}
	open, past = open.Clone(), past.Clone()
	for _, side := range []bitset.Set{open, past} {
		for b := side.Next(0); b >= 0; b = side.Next(b + 1) {
			if !o.f.joins(s, pals, b) {
				side.Del(b)
			}
		}
	}
	b := open.Next(0)
	if b < 0 {
		return past.Empty() && try(s)
	}
	open.Del(b)
	with, shared := s.Clone(), pals.Clone()
	with.Add(b)
	shared.Intersect(o.f.palsOf[b])
	if o.company(with, shared, open, past, try) {
		return true
	}
	past.Add(b)
	return o.company(s, pals, open, past, try)
}
