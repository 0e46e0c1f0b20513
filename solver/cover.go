package solver

import (
	"encoding/binary"
	"slices"
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

// coverable tells whether n nodes suffice. If not, core is a set of blocks which alone, with these needs, need more.
// After the watch has ended the answer means nothing.
func (o *oracle) coverable(need []int, n int) (ok bool, core set) {
	rest := newSet(o.f.words)
	total := 0
	for b, k := range need {
		if k > 0 {
			rest.add(b)
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
func (o *oracle) parts(active set) []set {
	rest := active.clone()
	typed := newSet(o.f.words) // blocks that types may keep from each other, beyond pairs
	if !o.f.onePalette(active) {
		typed.copyFrom(active)
		common := active.clone()
		for b := common.next(0); b >= 0; b = common.next(b + 1) {
			if !o.f.indifferent(b) {
				common.del(b)
			}
		}
		typed.remove(common)
	}
	var out []set
	for b := rest.next(0); b >= 0; b = rest.next(0) {
		part, edge := newSet(o.f.words), []int{b}
		part.add(b)
		rest.del(b)
		pull := func(others set) {
			for u := others.firstCommon(rest); u >= 0; u = others.firstCommon(rest) {
				rest.del(u)
				part.add(u)
				edge = append(edge, u)
			}
		}
		for len(edge) > 0 {
			v := edge[len(edge)-1]
			edge = edge[:len(edge)-1]
			pull(o.f.adj[v])
			if typed.has(v) {
				pull(typed)
			}
			for _, g := range o.f.groupsOf[v] {
				if o.f.groups[g].subsetOf(active) {
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

func (o *oracle) part(part set, need []int, n int) (bool, set) {
	total := 0
	for b := part.next(0); b >= 0; b = part.next(b + 1) {
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
	if hard := o.kernel(part, need, n); hard.count() < part.count() {
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
func (o *oracle) kernel(part set, need []int, n int) set {
	left := part.clone()
	typed := !o.f.onePalette(part)
	for again := true; again; {
		again = false
		for b := left.next(0); b >= 0; b = left.next(b + 1) {
			if o.easy(b, left, need, n, typed) || o.follows(b, left, need) {
				left.del(b)
				again = true
			}
		}
	}
	return left
}

func (o *oracle) easy(b int, left set, need []int, n int, typed bool) bool {
	if typed && !o.f.indifferent(b) {
		return false
	}
	taken := need[b]
	for u := o.f.adj[b].next(0); u >= 0 && taken <= n; u = o.f.adj[b].next(u + 1) {
		if left.has(u) {
			taken += need[u]
		}
	}
	for _, g := range o.f.groupsOf[b] {
		if group := o.f.groups[g]; group.subsetOf(left) {
			least := n
			for u := group.next(0); u >= 0; u = group.next(u + 1) {
				if u != b {
					least = min(least, need[u])
				}
			}
			taken += least
		}
	}
	return taken <= n
}

func (o *oracle) follows(b int, left set, need []int) bool {
	if o.f.heavy && !o.f.needs[b].free() {
		return false
	}
	for _, g := range o.f.groupsOf[b] {
		if o.f.groups[g].subsetOf(left) {
			return false
		}
	}
	for u := left.next(0); u >= 0; u = left.next(u + 1) {
		if u != b && need[b] <= need[u] && !o.f.adj[b].has(u) && o.f.palsOf[u].subsetOf(o.f.palsOf[b]) &&
			o.f.adj[b].within(left, o.f.adj[u]) {
			return true
		}
	}
	return false
}

func (o *oracle) key(part set, need []int, n int) string {
	key := binary.AppendUvarint(nil, uint64(n))
	for b := part.next(0); b >= 0; b = part.next(b + 1) {
		key = binary.AppendUvarint(key, uint64(b))
		key = binary.AppendUvarint(key, uint64(need[b]))
	}
	return string(key)
}

// rank says how urgent each block is: its own need and that of those it cannot be with.
func (o *oracle) rank(part set, need []int) []int {
	rank := make([]int, o.f.blocks)
	for b := part.next(0); b >= 0; b = part.next(b + 1) {
		rank[b] = need[b]
		for u := o.f.adj[b].next(0); u >= 0; u = o.f.adj[b].next(u + 1) {
			if part.has(u) {
				rank[b] += need[u]
			}
		}
		for _, g := range o.f.groupsOf[b] {
			if o.f.groups[g].subsetOf(part) {
				rank[b] += need[b] / 2
			}
		}
	}
	return rank
}

// class is a number of nodes with the same blocks so far.
type class struct {
	blocks, pals set
	nodes        int
}

// firstFit places the blocks in order of rank, each on the first nodes that have room. Where that fails it raises the
// rank of those left over, for the next try.
func (o *oracle) firstFit(part set, need []int, n int, rank []int) bool {
	order := make([]int, 0, 64)
	for b := part.next(0); b >= 0; b = part.next(b + 1) {
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
				classes = append(classes, class{c.blocks.clone(), c.pals.clone(), c.nodes - use})
				c = &classes[i]
				c.nodes = use
			}
			c.blocks.add(b)
			c.pals.intersect(o.f.palsOf[b])
		}
		if o.w.stop() {
			return false
		}
		if use := min(left, n); use > 0 {
			alone := newSet(o.f.words)
			alone.add(b)
			classes = append(classes, class{alone, o.f.palsOf[b].clone(), use})
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
func (o *oracle) clique(part set, need []int, n int) set {
	open := newSet(o.f.words)
	for b := part.next(0); b >= 0; b = part.next(b + 1) {
		c := newSet(o.f.words)
		c.add(b)
		sum := need[b]
		open.copyFrom(o.f.adj[b])
		open.intersect(part)
		for sum <= n {
			top := -1
			for v := open.next(0); v >= 0; v = open.next(v + 1) {
				if top < 0 || need[v] > need[top] {
					top = v
				}
			}
			if top < 0 {
				break
			}
			c.add(top)
			sum += need[top]
			open.intersect(o.f.adj[top])
		}
		if sum > n {
			return c
		}
	}
	return nil
}

// search decides by trying: the neediest block must be on some node, and there with as much company as it can have.
func (o *oracle) search(part set, need []int, n int) bool {
	if n == 0 {
		return false
	}
	top := part.next(0)
	for b := top; b >= 0; b = part.next(b + 1) {
		if need[b] > need[top] {
			top = b
		}
	}
	rest := slices.Clone(need)
	for b := range rest {
		if !part.has(b) {
			rest[b] = 0
		}
	}
	full := newSet(o.f.words)
	full.add(top)
	open := part.clone()
	open.del(top)
	return o.company(full, o.f.palsOf[top].clone(), open, newSet(o.f.words), func(node set) bool {
		for b := node.next(0); b >= 0; b = node.next(b + 1) {
			rest[b]--
		}
		ok, _ := o.coverable(rest, n-1)
		for b := node.next(0); b >= 0; b = node.next(b + 1) {
			rest[b]++
		}
		return ok && !o.w.ended
	})
}

// company goes through the sets of s and blocks of open to which no block can be added, neither of open nor of past
// (those passed over), until try says true.
func (o *oracle) company(s, pals, open, past set, try func(set) bool) bool {
	if o.w.stop() {
		return false
	}
	open, past = open.clone(), past.clone()
	for _, side := range []set{open, past} {
		for b := side.next(0); b >= 0; b = side.next(b + 1) {
			if !o.f.joins(s, pals, b) {
				side.del(b)
			}
		}
	}
	b := open.next(0)
	if b < 0 {
		return past.empty() && try(s)
	}
	open.del(b)
	with, shared := s.clone(), pals.clone()
	with.add(b)
	shared.intersect(o.f.palsOf[b])
	if o.company(with, shared, open, past, try) {
		return true
	}
	past.add(b)
	return o.company(s, pals, open, past, try)
}
