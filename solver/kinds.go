package solver

// kind is what a node can be: some blocks, beside the services that go everywhere, on one hardware and image type.
type kind struct {
	blocks          set
	hardware, image int
}

// finder gives kinds in order of preference: more services first, then hardware name, image name, service names.
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

// preferred gives the most preferred kind that has at least one and at most limit of the open blocks, and at least one
// of each clause. It gives false where there is none.
func (d *finder) preferred(open set, limit int, clauses []set) (kind, bool) {
	d.s.clauses = clauses
	none := newSet(d.f.words)
	var top int64
	var blocks, among set
	var at palette
	for _, p := range d.f.palettes { // in order, so the first to reach the greatest weight is the preferred one
		fit := p.blocks.clone()
		fit.intersect(open)
		if fit.empty() || blocks != nil && fit.subsetOf(among) {
			continue
		}
		if got, picks := d.s.best(fit, none, top+1, limit); picks != nil {
			top, blocks, among, at = got, picks, fit, p
		}
	}
	if blocks == nil || d.w.ended {
		return kind{}, false
	}
	return kind{blocks: d.firstByName(blocks, among, top, limit), hardware: at.hardware, image: at.image}, true
}

// firstByName gives, among the sets as heavy as blocks, the one whose names come first. Blocks are numbered by name, so
// it goes through them in order and keeps each one that some such set has together with those kept before.
func (d *finder) firstByName(blocks, among set, top int64, limit int) set {
	kept, open := newSet(d.f.words), among.clone()
	var weight int64
	rest := newSet(d.f.words)
	for b := open.next(0); b >= 0 && limit > 0; b = open.next(b + 1) {
		open.del(b)
		if !d.f.joins(kept, d.f.palsOf[b], b) {
			continue
		}
		kept.add(b)
		if !blocks.has(b) {
			rest.copyFrom(open)
			rest.remove(d.f.adj[b])
			_, picks := d.s.best(rest, kept, top-weight-d.s.weight[b], limit-1)
			if picks == nil {
				kept.del(b)
				continue
			}
			blocks = picks
			blocks.union(kept)
		}
		weight += d.s.weight[b]
		limit--
		open.remove(d.f.adj[b])
	}
	return kept
}
