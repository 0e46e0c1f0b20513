package solver

import (
	"slices"

	"muster/app/layout"
	"muster/app/template"
)

// zoner assigns the nodes of groups to zones. A node goes where there are fewest nodes with the services that it shares
// with the rule, then where there are fewest nodes, then to the first zone. Where that leaves the rule broken, as it may
// when services that are to be spread overlap, other assignments are searched, the evenest first.
type zoner struct {
	w      *watch
	zones  []string
	skew   int
	spread []string // services; nil: all nodes
}

func (p *problem) zoner(w *watch) *zoner {
	if p.zoneRule == nil {
		return nil
	}
	z := &zoner{w: w, zones: p.zones, skew: max(1, p.zoneRule.MaxSkew)}
	for _, s := range p.zoneRule.Services {
		if p.named[s] && !slices.Contains(z.spread, s) {
			z.spread = append(z.spread, s)
		}
	}
	if len(p.zoneRule.Services) > 0 && len(z.spread) == 0 {
		z.skew = template.Unlimited // none of the services is here, so any zones will do
	}
	return z
}

// assign returns, for each group, the number of nodes in each zone; nil where the rule cannot be kept.
func (z *zoner) assign(groups []layout.NodeGroup) [][]int {
	tags := make([][]int, len(groups)) // per group: which of the counted things it adds to
	things := max(1, len(z.spread))
	for i, g := range groups {
		if len(z.spread) == 0 {
			tags[i] = []int{0}
		}
		for t, s := range z.spread {
			if slices.Contains(g.Services, s) {
				tags[i] = append(tags[i], t)
			}
		}
	}
	counts := make([][]int, things) // per thing and zone
	for t := range counts {
		counts[t] = make([]int, len(z.zones))
	}
	if out := z.deal(groups, tags, counts); z.even(counts) {
		return out
	}
	return z.search(groups, tags, things)
}

// deal deals nodes out one by one, after as many for each zone as go evenly.
func (z *zoner) deal(groups []layout.NodeGroup, tags [][]int, counts [][]int) [][]int {
	nodes := make([]int, len(z.zones))
	out := make([][]int, len(groups))
	for i, g := range groups {
		out[i] = make([]int, len(z.zones))
		put := func(zone, n int) {
			out[i][zone] += n
			nodes[zone] += n
			for _, t := range tags[i] {
				counts[t][zone] += n
			}
		}
		for zone := range z.zones {
			put(zone, g.Count/len(z.zones))
		}
		for range g.Count % len(z.zones) {
			best, least := 0, 0
			for zone := range z.zones {
				shared := 0
				for _, t := range tags[i] {
					shared += counts[t][zone]
				}
				if zone == 0 || shared < least || shared == least && nodes[zone] < nodes[best] {
					best, least = zone, shared
				}
			}
			put(best, 1)
		}
	}
	return out
}

func (z *zoner) even(counts [][]int) bool {
	return !slices.ContainsFunc(counts, func(c []int) bool { return slices.Max(c)-slices.Min(c) > z.skew })
}

// search goes through assignments that are at most so far from even, and allows more and more.
func (z *zoner) search(groups []layout.NodeGroup, tags [][]int, things int) [][]int {
	most := 0
	for _, g := range groups {
		most = max(most, g.Count)
	}
	for far := 0; far < 2*most && !z.w.ended; far = 2*far + 1 {
		s := &zoneSearch{z: z, groups: groups, tags: tags, far: far, failed: map[string]bool{}}
		for range things {
			s.counts = append(s.counts, make([]int, len(z.zones)))
		}
		s.left = make([]int, things)
		for i, g := range groups {
			for _, t := range tags[i] {
				s.left[t] += g.Count
			}
			s.out = append(s.out, make([]int, len(z.zones)))
		}
		if s.group(0) {
			return s.out
		}
	}
	return nil
}

type zoneSearch struct {
	z      *zoner
	groups []layout.NodeGroup
	tags   [][]int
	far    int
	counts [][]int // per thing and zone
	left   []int   // per thing: nodes not assigned yet
	out    [][]int
	failed map[string]bool
}

func (s *zoneSearch) group(i int) bool {
	if i == len(s.groups) {
		return s.z.even(s.counts)
	}
	for t, c := range s.counts { // what is missing in the emptiest zones must still come
		top, missing := slices.Max(c), 0
		for _, n := range c {
			missing += max(0, top-s.z.skew-n)
		}
		if missing > s.left[t] {
			return false
		}
	}
	key := s.key(i)
	if s.failed[key] || s.z.w.stop() {
		return false
	}
	for _, t := range s.tags[i] {
		s.left[t] -= s.groups[i].Count
	}
	if s.zone(i, 0, s.groups[i].Count) {
		return true
	}
	for _, t := range s.tags[i] {
		s.left[t] += s.groups[i].Count
	}
	if len(s.failed) < 1<<18 {
		s.failed[key] = true
	}
	return false
}

func (s *zoneSearch) key(i int) string {
	key := []byte{byte(i), byte(i >> 8)}
	for _, c := range s.counts {
		low := slices.Min(c) // only differences matter
		for _, n := range c {
			key = append(key, byte(n-low), byte((n-low)>>8), byte((n-low)>>16))
		}
	}
	return string(key)
}

// zone chooses how many nodes of group i are in a zone and all later ones.
func (s *zoneSearch) zone(i, zone, left int) bool {
	last := zone == len(s.z.zones)-1
	share := s.groups[i].Count / len(s.z.zones)
	low, high := max(0, share-s.far), min(left, share+1+s.far)
	if last {
		if left < low || left > high {
			return false
		}
		low, high = left, left
	}
	for n := high; n >= low; n-- {
		s.put(i, zone, n)
		if last && s.group(i+1) || !last && s.zone(i, zone+1, left-n) {
			return true
		}
		s.put(i, zone, -n)
		if s.z.w.ended {
			return false
		}
	}
	return false
}

func (s *zoneSearch) put(i, zone, n int) {
	s.out[i][zone] += n
	for _, t := range s.tags[i] {
		s.counts[t][zone] += n
	}
}

// split divides groups by zone, as assigned: in the order of groups, then of zones.
func (z *zoner) split(groups []layout.NodeGroup, assigned [][]int) []layout.NodeGroup {
	var out []layout.NodeGroup
	for i, g := range groups {
		for zone, n := range assigned[i] {
			if n > 0 {
				part := g
				part.Count, part.Zone, part.Services = n, z.zones[zone], slices.Clone(g.Services)
				part.CostPerHour = g.CostPerHour / float64(g.Count) * float64(n)
				out = append(out, part)
			}
		}
	}
	return out
}

// place assigns groups to zones.
func (z *zoner) place(groups *[]layout.NodeGroup) bool {
	assigned := z.assign(*groups)
	if assigned == nil {
		return false
	}
	*groups = z.split(*groups, assigned)
	return true
}
