package fleet

// hop is a step of a search for a slot: a demand takes one of a host, which the hop before has freed another for.
type hop struct {
	w     *want
	host  int
	from  *hop
	giver *want // who gave up the slot of from.host: w itself, or another demand of the same tenant
}

// gains counts the slots that a demand would get on the way here without giving one up.
func (at *hop) gains(w *want) (n int) {
	for ; at != nil; at = at.from {
		if at.w == w && at.giver != w {
			n++
		}
	}
	return n
}

// augment finds a slot for a demand: a free one, or one whose user can have another in its stead, and so on. While shares
// are counted, another demand of the same tenant may have that other one: the tenant's number stays the same.
func (b *balance) augment(w *want) bool {
	if h, ok := b.roomiest(w); ok {
		b.take(w, h)
		return true
	}
	seen := make([]bool, len(b.hosts))
	var queue []*hop
	reach := func(w, giver *want, from *hop) {
		for _, h := range w.fits {
			if !seen[h] {
				seen[h] = true
				queue = append(queue, &hop{w: w, host: h, from: from, giver: giver})
			}
		}
	}
	reach(w, nil, nil)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if b.free[at.host] > 0 {
			b.follow(at)
			return true
		}
		for _, other := range b.wants {
			if other.flow[at.host] == 0 {
				continue
			}
			reach(other, other, at)
			for _, sibling := range b.byName[other.Tenant] {
				if b.counts && sibling != other && sibling.got+at.gains(sibling) < sibling.Steps {
					reach(sibling, other, at)
				}
			}
		}
	}
	return false
}

// follow carries out a search that ended at a free slot.
func (b *balance) follow(to *hop) {
	for ; to != nil; to = to.from {
		if to.giver != nil {
			to.giver.flow[to.from.host]--
			to.giver.got--
			b.free[to.from.host]++
		}
		b.take(to.w, to.host)
	}
}

// take returns a free slot of a host to a demand.
func (b *balance) take(w *want, h int) {
	w.got++
	w.flow[h]++
	b.free[h]--
}
