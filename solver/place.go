package solver

import (
	"encoding/binary"
	"slices"

	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
)

// arranger finds a place for each node of a layout: a zone, or a host. It divides groups by place, in their order, and returns
// false, leaving them as they are, where that cannot be done.
type arranger interface {
	place(groups *[]layout.NodeGroup) bool
}

// arranger returns what nodes need a place of; nil where that is nothing.
func (p *problem) arranger(w *watch) arranger {
	switch {
	case p.pool != nil:
		return &hoster{p, w}
	case p.zoneRule != nil:
		return p.zoner(w)
	}
	return nil
}

// final is the test that a mixer's layouts must pass; nil where every layout does.
func (m *mixer) final(a arranger) func([]use) bool {
	if a == nil {
		return nil
	}
	return func(uses []use) bool {
		groups := m.groups(uses)
		return a.place(&groups)
	}
}

// hoster assigns nodes to hosts, and with them to zones. It goes through groups in their order and through hosts by name, and
// puts as many nodes on each as leave room for the others: of all assignments the first one. Whether there is room is
// bounded by a flow of nodes to hosts of a class, so that it seldom has to go back.
type hoster struct {
	p *problem
	w *watch
}

// guest is a group of nodes that look for hosts.
type guest struct {
	count  int
	needs  load.Load
	apart  bitset.Set // its services that are to be separate, by number; the last is never set
	things []int
	on     []bool // per class of seats
}

// seat is a host in the making.
type seat struct {
	host  *host
	class int // those that may take the same guests
	left  int
	free  load.Load
	has   bitset.Set // services that are to be separate and are here
}

type hosting struct {
	*hoster
	late    bool
	steps   int
	guests  []guest
	seats   []seat
	classes int
	room    [][2][]int // per measure (nodes, then separate services) and class: on hosts that are passed, and on those ahead
	out     [][]int    // per guest and seat
	zones   []int      // per seat; -1 where it is in none that counts
	counts  [][]int    // per counted thing and zone
	left    []int      // per counted thing
	skew    int
	failed  map[string]bool
}

func (h *hoster) place(groups *[]layout.NodeGroup) bool {
	s := h.begin(*groups)
	if !s.group(0) {
		return false
	}
	var out []layout.NodeGroup
	for i, g := range *groups {
		for j, n := range s.out[i] {
			if n > 0 {
				part := g
				part.Count, part.Services = n, slices.Clone(g.Services)
				part.Host, part.Zone = s.seats[j].host.name, s.seats[j].host.zone
				part.CostPerHour = g.CostPerHour / float64(g.Count) * float64(n)
				out = append(out, part)
			}
		}
	}
	*groups = out
	return true
}

// stop reports whether to give up. Where the time was over before this began, it is given a little.
func (s *hosting) stop() bool {
	if s.late {
		s.steps++
		return s.steps > 1<<16
	}
	return s.w.stop()
}

func (h *hoster) begin(groups []layout.NodeGroup) *hosting {
	p, l := h.p, h.p.pool
	s := &hosting{hoster: h, late: h.w.ended, skew: template.Unlimited, failed: map[string]bool{}}
	words := max(1, bitset.Words(len(l.separate)))
	classes := map[string]int{}
	for i := range l.hosts {
		at := &l.hosts[i]
		key := make([]byte, len(groups))
		for g, group := range groups {
			ok := p.hardware[at.hardware] == group.Hardware && !slices.ContainsFunc(group.Services, func(s string) bool { return at.banned[s] }) &&
				p.needsOf(group.Services).Within(at.free)
			key[g] = byte(b2n(ok))
		}
		c, known := classes[string(key)]
		if !known {
			c = len(classes)
			classes[string(key)] = c
			if len(s.guests) == 0 {
				for range groups {
					s.guests = append(s.guests, guest{})
				}
			}
			for g := range groups {
				s.guests[g].on = append(s.guests[g].on, key[g] == 1)
			}
		}
		s.seats = append(s.seats, seat{at, c, at.nodes, at.free, bitset.New(words)})
		s.zones = append(s.zones, slices.Index(p.zones, at.zone))
	}
	s.classes = len(classes)
	if len(l.hosts) == 0 {
		s.guests = make([]guest, len(groups))
	}
	s.spread()
	for g, group := range groups {
		k := &s.guests[g]
		k.count, k.needs, k.apart = group.Count, p.needsOf(group.Services), bitset.New(words)
		for i, name := range l.separate {
			if slices.Contains(group.Services, name) {
				k.apart.Add(i)
			}
		}
		s.tag(k, group)
		s.out = append(s.out, make([]int, len(s.seats)))
	}
	for range 1 + len(l.separate) {
		s.room = append(s.room, [2][]int{make([]int, s.classes), make([]int, s.classes)})
	}
	return s
}

func (p *problem) needsOf(services []string) load.Load {
	var sum load.Load
	for _, s := range services {
		sum = sum.Plus(load.Of(p.catalog.Services[s].Needs))
	}
	return sum
}

// spread sets up what is to be counted by zone.
func (s *hosting) spread() {
	z := s.p.zoner(s.w)
	if z == nil {
		return
	}
	s.skew = z.skew
	for range max(1, len(z.spread)) {
		s.counts = append(s.counts, make([]int, len(z.zones)))
	}
	s.left = make([]int, len(s.counts))
}

func (s *hosting) tag(k *guest, group layout.NodeGroup) {
	z := s.p.zoner(s.w)
	if z == nil {
		return
	}
	if len(z.spread) == 0 {
		k.things = []int{0}
	}
	for t, name := range z.spread {
		if slices.Contains(group.Services, name) {
			k.things = append(k.things, t)
		}
	}
	for _, t := range k.things {
		s.left[t] += group.Count
	}
}

// group assigns the nodes of a guest and of all later ones.
func (s *hosting) group(i int) bool {
	if i == len(s.guests) {
		return s.even()
	}
	key := s.key(i)
	if s.failed[key] || s.stop() {
		return false
	}
	for m := range s.room {
		clear(s.room[m][0])
		clear(s.room[m][1])
	}
	for j := range s.seats {
		s.count(j, 1, 1)
	}
	if s.fits(i, s.guests[i].count) && s.seat(i, s.alike(), 0, s.guests[i].count) {
		return true
	}
	if len(s.failed) < 1<<16 {
		s.failed[key] = true
	}
	return false
}

// key tells what is left of the hosts; those that are the same may change places.
func (s *hosting) key(i int) string {
	states := make([]string, len(s.seats))
	for j := range s.seats {
		states[j] = s.state(j)
	}
	slices.Sort(states)
	key := binary.AppendUvarint(nil, uint64(i))
	for _, state := range states {
		key = append(key, state...)
	}
	for _, c := range s.counts {
		for _, n := range c {
			key = binary.AppendUvarint(key, uint64(n))
		}
	}
	return string(key)
}

func (s *hosting) state(j int) string {
	at := &s.seats[j]
	key := binary.AppendUvarint(nil, uint64(at.class))
	key = binary.AppendUvarint(key, uint64(at.left))
	key = binary.AppendVarint(key, int64(s.zones[j]))
	for _, v := range at.free {
		key = binary.AppendVarint(key, v)
	}
	for _, w := range at.has {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return string(key)
}

// alike returns for each seat the nearest earlier one that is in the same state, -1 where there is none.
func (s *hosting) alike() []int {
	last := map[string]int{}
	out := make([]int, len(s.seats))
	for j := range s.seats {
		state := s.state(j)
		before, known := last[state]
		if out[j] = before; !known {
			out[j] = -1
		}
		last[state] = j
	}
	return out
}

// count adds what a seat has room for to the sums of its class.
func (s *hosting) count(j, ahead, sign int) {
	at := &s.seats[j]
	if at.left <= 0 {
		return
	}
	s.room[0][ahead][at.class] += sign * at.left
	for m := 1; m < len(s.room); m++ {
		if !at.has.Has(m - 1) {
			s.room[m][ahead][at.class] += sign
		}
	}
}

// seat puts the nodes of guest i that are left on seats from j on.
func (s *hosting) seat(i int, alike []int, j, left int) bool {
	k := &s.guests[i]
	from := j
	back := func() {
		for x := from; x < j; x++ {
			s.count(x, 0, -1)
			s.count(x, 1, 1)
		}
	}
	for ; j < len(s.seats) && left > 0 && !k.on[s.seats[j].class]; j++ {
		s.count(j, 1, -1)
		s.count(j, 0, 1)
	}
	if left == 0 {
		room := s.room
		s.room = nil
		for m := range room {
			s.room = append(s.room, [2][]int{slices.Clone(room[m][0]), slices.Clone(room[m][1])})
		}
		ok := s.group(i + 1)
		s.room = room
		if !ok {
			back()
		}
		return ok
	}
	if j == len(s.seats) {
		back()
		return false
	}
	at := &s.seats[j]
	most := min(left, s.most(k, at))
	if o := alike[j]; o >= 0 {
		most = min(most, s.out[i][o])
	}
	for n := most; n >= 0 && !s.stop(); n-- {
		s.count(j, 1, -1)
		s.put(i, j, n)
		s.count(j, 0, 1)
		if s.fits(i, left-n) && s.seat(i, alike, j+1, left-n) {
			return true
		}
		s.count(j, 0, -1)
		s.put(i, j, -n)
		s.count(j, 1, 1)
	}
	back()
	return false
}

// most is how many nodes of a guest a seat has room for.
func (s *hosting) most(k *guest, at *seat) int {
	n := at.left
	if !k.apart.Empty() {
		n = min(n, 1-b2n(k.apart.Intersects(at.has)))
	}
	for d := range load.BySize {
		if k.needs[d] > 0 {
			n = int(min(int64(n), at.free[d]/k.needs[d]))
		}
	}
	return n
}

func (s *hosting) put(i, j, n int) {
	k, at := &s.guests[i], &s.seats[j]
	s.out[i][j] += n
	at.left -= n
	for d := range load.BySize {
		if at.free[d] < load.Endless {
			at.free[d] -= int64(n) * k.needs[d]
		}
	}
	if n > 0 {
		at.has.Union(k.apart)
	} else if n < 0 {
		at.has.Remove(k.apart)
	}
	for _, t := range k.things {
		s.left[t] -= n
		if zone := s.zones[j]; zone >= 0 {
			s.counts[t][zone] += n
		}
	}
}

func (s *hosting) even() bool {
	return !slices.ContainsFunc(s.counts, func(c []int) bool { return slices.Max(c)-slices.Min(c) > s.skew })
}

// fits reports whether there may still be room: for left nodes of guest i on seats ahead, and for all later ones anywhere; and
// whether zones may still become even.
func (s *hosting) fits(i, left int) bool {
	for t, c := range s.counts {
		top, missing := slices.Max(c), 0
		for _, n := range c {
			missing += max(0, top-s.skew-n)
		}
		if missing > s.left[t] {
			return false
		}
	}
	for m := range s.room {
		if !s.flows(i, left, m) {
			return false
		}
	}
	return true
}

// flows reports whether the nodes that a measure counts, which are all or those with a service, have room by that measure.
func (s *hosting) flows(i, left, m int) bool {
	counts := func(g int) bool { return m == 0 || s.guests[g].apart.Has(m-1) }
	room := slices.Concat(s.room[m][0], s.room[m][1])
	takes := func(g, sink int) bool {
		if g == i && sink < s.classes {
			return false
		}
		return s.guests[g].on[sink%s.classes]
	}
	var open []int
	for g := i; g < len(s.guests); g++ {
		if counts(g) {
			open = append(open, g)
		}
	}
	f := &flow{room: room, sent: map[[2]int]int{}, takes: takes, from: open}
	for _, g := range open {
		n := s.guests[g].count
		if g == i {
			n = left
		}
		for n > 0 {
			f.seen = make([]bool, len(room))
			k := f.push(g, n)
			if k == 0 {
				return false
			}
			n -= k
		}
	}
	return true
}

// flow sends nodes of guests to sinks with room, moving others aside where need be.
type flow struct {
	room  []int
	sent  map[[2]int]int // per guest and sink
	takes func(guest, sink int) bool
	from  []int
	seen  []bool
}

// push sends up to n nodes of a guest and returns how many.
func (f *flow) push(g, n int) int {
	for sink := range f.room {
		if f.room[sink] > 0 && f.takes(g, sink) {
			k := min(n, f.room[sink])
			f.room[sink] -= k
			f.sent[[2]int{g, sink}] += k
			return k
		}
	}
	for sink := range f.room {
		if f.seen[sink] || !f.takes(g, sink) {
			continue
		}
		f.seen[sink] = true
		for _, o := range f.from {
			has := f.sent[[2]int{o, sink}]
			if o == g || has == 0 {
				continue
			}
			if k := f.push(o, min(n, has)); k > 0 {
				f.sent[[2]int{o, sink}] -= k
				f.sent[[2]int{g, sink}] += k
				return k
			}
		}
	}
	return 0
}
