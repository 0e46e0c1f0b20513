package change

import (
	"slices"
	"sort"
	"strings"

	"muster/app/template"
	"muster/solver/internal/bitset"
)

// fate is what may become of a node of a class, or what a new node may be (class -1).
type fate struct {
	class    int
	gone     bool
	units    bitset.Set
	on       machineType
	zone     string
	services []string
	touched  bool
	odd      int // services put on a standing node, or taken off, though no one asked for that
	kind     int
}

// Beyond so many options, only some of those with much company are looked at. The answer is valid then, but may
// touch more than it must.
const (
	manyOptions = 2400
	someSets    = 48 // at least so many of each class are looked at
)

// fates lists what can become of each class, for each the one that changes least first, then what new nodes can be.
// all is false where there were more than about many to list.
func (m *model) fates(many int) (list []fate, all bool) {
	all = true
	each := max(someSets, many/2/max(1, len(m.classes)))
	may := m.mayCome()
	for i, c := range m.classes {
		if c.misfit == "" {
			sets, complete := m.setsOf(c, may, each)
			all = all && complete
			for _, s := range sets {
				list = append(list, m.stay(i, s))
			}
		}
		if m.mayGo() {
			list = append(list, fate{class: i, gone: true, touched: true})
		}
	}
	if m.mayGrow() {
		fresh, complete := m.newNodes(many / 2)
		all = all && complete
		list = append(list, fresh...)
	}
	m.rank(list)
	return list, all
}

// mayGo reports whether nodes may go: where fewer are asked for, or services may move.
func (m *model) mayGo() bool { return m.moves || m.high < len(m.standing) }

// mayGrow reports whether there may be new nodes.
func (m *model) mayGrow() bool {
	return m.moves || m.high > len(m.standing) ||
		m.high < len(m.standing) && slices.ContainsFunc(m.units, func(u unit) bool { return u.fresh })
}

func (m *model) stay(at int, s bitset.Set) fate {
	c := m.classes[at]
	o := fate{class: at, units: s, on: c.machine, zone: c.zone, services: m.names(s)}
	o.touched = !slices.Equal(o.services, c.was)
	for u := range m.units {
		if s.Has(u) == c.stays.Has(u) && (c.lacks == 0 || !s.Has(u)) {
			continue
		}
		for _, name := range m.units[u].services {
			if slices.Contains(c.was, name) != s.Has(u) && !m.added[name] {
				o.odd++
			}
		}
	}
	return o
}

// setsOf returns the sets of units that a standing node may come to have. What may not share a node now stays out of
// each other's way only where services may move.
func (m *model) setsOf(c alike, may bitset.Set, limit int) ([]bitset.Set, bool) {
	base, free := c.stays, may
	if m.moves {
		base, free = bitset.New(m.words()), m.all()
	} else if !m.allowed(base, c.machine) {
		return nil, true
	}
	fine := func(s bitset.Set, u int) bool {
		if !m.mayShare(s, u) {
			return false
		}
		s.Add(u)
		ok := m.mayBe(s, c.machine)
		s.Del(u)
		return ok
	}
	sets, complete := setsWithin(base, free, limit, fine)
	if !complete {
		sets = m.few(c, base, free, fine)
	}
	sets = slices.DeleteFunc(sets, func(s bitset.Set) bool {
		return s.Empty() && len(m.everywhere) == 0 && !c.stays.Empty() || !resourcesFit(m.wide, c.machine.has)
	})
	// What changes least comes first.
	slices.SortStableFunc(sets, func(a, b bitset.Set) int { return apartBy(a, c.stays) - apartBy(b, c.stays) })
	return sets, complete
}

func apartBy(a, b bitset.Set) int {
	both := 0
	for u := a.Next(0); u >= 0; u = a.Next(u + 1) {
		both += intIf(b.Has(u))
	}
	return a.Count() + b.Count() - 2*both
}

func (m *model) all() bitset.Set {
	s := bitset.New(m.words())
	for u := range m.units {
		s.Add(u)
	}
	return s
}

// setsWithin returns base with all that may join it out of free. Sets that may share stay so when a unit is taken away, so
// none is missed. It returns false where there are more than limit.
func setsWithin(base, free bitset.Set, limit int, fine func(s bitset.Set, u int) bool) ([]bitset.Set, bool) {
	var out []bitset.Set
	var grow func(s bitset.Set, from int) bool
	grow = func(s bitset.Set, from int) bool {
		if len(out) == limit {
			return false
		}
		out = append(out, s.Clone())
		for u := free.Next(from); u >= 0; u = free.Next(u + 1) {
			if s.Has(u) || !fine(s, u) {
				continue
			}
			s.Add(u)
			more := grow(s, u+1)
			s.Del(u)
			if !more {
				return false
			}
		}
		return true
	}
	complete := grow(base.Clone(), 0)
	return out, complete
}

// few returns the sets that matter most where there are too many: as it is, with one more or one less, and filled up.
func (m *model) few(c alike, base, free bitset.Set, fine func(s bitset.Set, u int) bool) []bitset.Set {
	known := map[string]bool{}
	var out []bitset.Set
	note := func(s bitset.Set) {
		if key := setKey(s); !known[key] {
			known[key] = true
			out = append(out, s.Clone())
		}
	}
	fill := func(s, with bitset.Set, from int) bitset.Set {
		s = s.Clone()
		for i := range m.units {
			if u := (from + i) % len(m.units); with.Has(u) && !s.Has(u) && fine(s, u) {
				s.Add(u)
			}
		}
		return s
	}
	note(base)
	for from := range m.units {
		most := fill(base, c.stays, from) // where services may move: as much of what exists as can be
		for _, s := range []bitset.Set{most, fill(most, free, from)} {
			note(s)
		}
		if free.Has(from) {
			if !most.Has(from) && fine(most, from) {
				most.Add(from)
				note(most)
			} else if m.moves && most.Has(from) {
				most.Del(from)
				note(most)
			}
			if !base.Has(from) && fine(base, from) {
				one := base.Clone()
				one.Add(from)
				note(one)
				note(fill(one, free, from))
			}
		}
	}
	return out
}

func setKey(s bitset.Set) string {
	b := make([]byte, 0, 8*len(s))
	for _, w := range s {
		for ; len(b)%8 != 0 || w != 0; w >>= 8 {
			b = append(b, byte(w))
		}
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
	}
	return string(b)
}

// mayCome returns the units that may be put on standing nodes: those asked for; and, where no node goes, those that a
// minimum, a ratio or a zone rule may need on more nodes. There is no reason for others to.
func (m *model) mayCome() bitset.Set {
	s := bitset.New(m.words())
	count := make([]int, len(m.units))
	for _, c := range m.classes {
		for u := c.stays.Next(0); u >= 0; u = c.stays.Next(u + 1) {
			count[u] += len(c.nodes)
		}
	}
	for u := range m.units {
		if m.units[u].fresh || !m.mayGo() && count[u] < m.units[u].min {
			s.Add(u)
		}
	}
	if m.mayGo() {
		return s
	}
	for _, ratio := range m.t.Constraints.Ratios {
		if u, ok := m.unitOf[ratio.Service]; ok {
			s.Add(u)
		}
	}
	if rule := m.t.Constraints.Zones; rule != nil {
		for _, name := range rule.Services {
			if u, ok := m.unitOf[name]; ok {
				s.Add(u)
			}
		}
	}
	return s
}

// newNodes lists what a new node can be. Where standing nodes go, and nothing may move, it is only what is added.
func (m *model) newNodes(many int) (list []fate, all bool) {
	free, base := m.all(), bitset.New(m.words())
	if m.mayGo() && !m.moves {
		for u := range m.units {
			if !m.units[u].fresh {
				free.Del(u)
			}
		}
	} else if m.r.Prefer == "" || m.r.Prefer == template.PreferPacked {
		base = m.carefree()
	}
	fine := func(s bitset.Set, u int) bool {
		if !m.mayShare(s, u) {
			return false
		}
		s.Add(u)
		ok := slices.ContainsFunc(m.types, func(on machineType) bool { return m.mayBe(s, on) })
		s.Del(u)
		return ok
	}
	limit := many / max(1, len(m.zones))
	if m.t.Constraints.MixedHardware {
		limit = max(someSets, limit/max(1, len(m.types)))
	}
	sets, all := setsWithin(base, free, limit, fine)
	if !all {
		sets = m.few(alike{stays: base}, base, free, fine)
	}
	for _, s := range sets {
		services := m.names(s)
		if len(services) == 0 || s.Empty() && m.mayGo() && !m.moves {
			continue
		}
		for _, on := range m.machinesFor(s) {
			for _, z := range m.zones {
				list = append(list, fate{class: -1, units: s, on: on, zone: z, services: services, touched: true})
			}
		}
	}
	return list, all
}

// carefree returns the units that every new node has, since each is preferred with them and nothing forbids it.
func (m *model) carefree() bitset.Set {
	s := bitset.New(m.words())
	for i, u := range m.units {
		none := template.Requirements{}
		if u.cant || u.max < template.Unlimited || u.needs != none || !m.apart[i].Empty() ||
			slices.ContainsFunc(m.never, func(g bitset.Set) bool { return g.Has(i) }) ||
			slices.ContainsFunc(m.types, func(on machineType) bool {
				return !accepted(u.hardware, on.hardware) || !accepted(u.images, on.image)
			}) {
			continue
		}
		s.Add(i)
	}
	for _, ratio := range m.t.Constraints.Ratios {
		if u, ok := m.unitOf[ratio.Of]; ok {
			s.Del(u)
		}
	}
	if rule := m.t.Constraints.Zones; rule != nil {
		for _, name := range rule.Services {
			if u, ok := m.unitOf[name]; ok {
				s.Del(u)
			}
		}
	}
	return s
}

// machinesFor returns the types that a new node with the units of s may be: all of them where hardware may be mixed, else
// the first, which is the cheapest one where that is preferred.
func (m *model) machinesFor(s bitset.Set) []machineType {
	var fit []machineType
	for _, on := range m.types {
		if m.mayBe(s, on) {
			fit = append(fit, on)
		}
	}
	if m.t.Constraints.MixedHardware || len(fit) == 0 {
		return fit
	}
	best := fit[0]
	for _, on := range fit {
		if m.r.Prefer == template.PreferCheapest && on.cost < best.cost {
			best = on
		}
	}
	return []machineType{best}
}

// rank numbers the kinds of node in order of preference.
func (m *model) rank(list []fate) {
	kinds := map[string]*fate{}
	keys := make([]string, len(list))
	for i := range list {
		o := &list[i]
		if o.gone {
			continue
		}
		keys[i] = strings.Join(o.services, "\x00") + "\x01" + o.on.hardware + "\x01" + o.on.image
		if kinds[keys[i]] == nil {
			kinds[keys[i]] = o
		}
	}
	order := make([]*fate, 0, len(kinds))
	for _, k := range kinds {
		order = append(order, k)
	}
	sort.Slice(order, func(i, j int) bool { return kindBefore(order[i], order[j]) })
	for i, k := range order {
		k.kind = i
	}
	for i := range list {
		if !list[i].gone {
			list[i].kind = kinds[keys[i]].kind
		}
	}
}

// kindBefore is the order of preference: more services, then names of hardware, image and services.
func kindBefore(a, b *fate) bool {
	if len(a.services) != len(b.services) {
		return len(a.services) > len(b.services)
	}
	if a.on.hardware != b.on.hardware {
		return a.on.hardware < b.on.hardware
	}
	if a.on.image != b.on.image {
		return a.on.image < b.on.image
	}
	return slices.Compare(a.services, b.services) < 0
}
