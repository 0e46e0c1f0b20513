package explain

import "slices"

// leftOutFirst is the order in which kinds of clauses are left out. What people can do least about, or what a
// conflict seldom is about, goes first, so that it is named only where there is no conflict without it.
var leftOutFirst = []string{kindSize, kindCompatibility, kindZones, kindHosts, kindRatio, kindImage, kindHardware, kindResources,
	kindMust, kindCant, kindMax, kindPlaced, kindMin}

// smallest returns clauses out of some that have no layout, of which each is needed: without any one of them there is a
// layout. minimal is false where the time was over before that was proven. nil where there is a layout.
func (q *question) smallest(some []*clause) (core []*clause, minimal bool) {
	f := &filter{q: q, kept: map[*clause]bool{}}
	for _, k := range some {
		f.kept[k] = true
	}
	for _, k := range some {
		if k.hard() {
			f.settle([]*clause{k}, false)
		}
	}
	for _, kind := range leftOutFirst {
		f.settle(slices.DeleteFunc(slices.Clone(some), func(k *clause) bool { return k.Kind != kind || k.hard() }), false)
	}
	return f.now(), !q.ended
}

// hard reports whether nothing can be done about a clause.
func (k *clause) hard() bool { return k.Kind != kindSize && len(k.remedies) == 0 }

// filter leaves out clauses in chunks. What it keeps has no layout at any time.
type filter struct {
	q     *question
	kept  map[*clause]bool
	dense int // how many clauses in a row were found to be needed
}

// now returns what is kept, in the order in which people should read it.
func (f *filter) now() []*clause {
	return slices.DeleteFunc(slices.Clone(f.q.clauses), func(k *clause) bool { return !f.kept[k] })
}

// settle leaves out as many of the chunk's clauses as can be; needed says that not all of them can be. It returns false
// where none is left. Where one clause after another is needed, nothing is gained by asking about many of them at once.
func (f *filter) settle(chunk []*clause, needed bool) bool {
	if len(chunk) == 0 || f.q.ended {
		return len(chunk) > 0
	}
	if !needed && (len(chunk) == 1 || len(chunk) > 2*f.dense) {
		if f.without(chunk) {
			f.dense = 0
			return false
		}
		needed = true
	}
	if len(chunk) == 1 {
		f.dense++
		return true
	}
	half := len(chunk) / 2
	left := f.settle(chunk[:half], false)
	right := f.settle(chunk[half:], needed && !left)
	return left || right
}

// without leaves out the chunk if there is still no layout then.
func (f *filter) without(chunk []*clause) bool {
	for _, k := range chunk {
		delete(f.kept, k)
	}
	if found, known := f.q.possible(f.now()); !found && known {
		return true
	}
	for _, k := range chunk {
		f.kept[k] = true
	}
	return false
}
