package change

import (
	"slices"
	"sort"
	"strings"

	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/bitset"
	"muster/solver/internal/request"
)

// model is a request for a change, narrowed to what decides it. It reads the template for itself, since what exists
// may use types and company that a new layout would not.
type model struct {
	c          *template.Catalog
	t          *template.Template
	r          layout.ChangeRequest
	provider   string
	moves      bool
	low, high  int             // nodes afterwards
	added      map[string]bool // services asked to be added
	removed    map[string]bool
	services   []string // of the cluster afterwards, by name
	everywhere []string // those that no constraint names
	wide       template.Requirements
	units      []unit
	unitOf     map[string]int
	apart      []bitset.Set  // per unit: those it can never share a node with
	never      []bitset.Set  // units never all on one node
	zones      []string      // for new nodes
	types      []machineType // for new nodes, in order of preference
	standing   []existingNode
	classes    []alike
	unproven   bool // not all that may become of nodes was looked at
}

// unit is a service, or several that must coexist, which a node has all of or none.
type unit struct {
	services []string
	min, max int
	cant     bool // goes nowhere
	fresh    bool // none of its services is on the cluster yet
	needs    template.Requirements
	hardware []nameList
	images   []nameList
}

// nameList is a number of names; an empty one means all.
type nameList []string

func accepted(lists []nameList, name string) bool {
	return !slices.ContainsFunc(lists, func(l nameList) bool { return len(l) > 0 && !slices.Contains(l, name) })
}

// machineType is a hardware and an image type.
type machineType struct {
	hardware, image string
	cost            float64
	has             template.Requirements
}

// existingNode is a node of the request with its place in the order of numbers.
type existingNode struct {
	layout.ExistingNode
	number int // at the end of its name; -1 where there is none
}

// alike is nodes that differ in nothing but their names.
type alike struct {
	nodes   []int // indexes into standing, ascending
	machine machineType
	zone    string
	misfit  string     // why it may not stay as a machine, "" if it may
	was     []string   // its services
	stays   bitset.Set // units of which it has a service
	lacks   int        // services it must get because others of a unit are there, or because they go everywhere
	less    int        // services it has that are to be removed
}

func (m *model) words() int { return max(1, bitset.Words(len(m.units))) }

// takeUnits parts the services into those that go everywhere and units, as problem does with blocks.
func (m *model) takeUnits() {
	limits := m.t.Constraints
	has := map[string]bool{}
	for _, s := range m.services {
		has[s] = true
	}
	leader := request.Leaders{}
	name := func(s string) {
		if has[s] {
			leader[s] = s
		}
	}
	for s := range limits.Services {
		name(s)
	}
	for _, s := range slices.Concat(slices.Concat(limits.MustCoexist, limits.CantCoexist, limits.CantCoexistPairs)...) {
		name(s)
	}
	for _, ratio := range limits.Ratios {
		name(ratio.Service)
		name(ratio.Of)
	}
	for _, group := range limits.MustCoexist {
		leader.Join(group)
	}
	m.unitOf = map[string]int{}
	led := map[string]int{}
	for _, s := range m.services {
		if leader[s] == "" {
			m.everywhere = append(m.everywhere, s)
			m.wide = resourcesPlus(m.wide, m.c.Services[s].Needs)
			continue
		}
		top := leader.Find(s)
		u, known := led[top]
		if !known {
			u = len(m.units)
			led[top] = u
			m.units = append(m.units, unit{max: template.Unlimited, fresh: true})
		}
		m.unitOf[s] = u
		m.units[u].take(s, m.c.Services[s], m.added[s], limits.Services)
	}
	m.takeApart(limits, has)
}

func (u *unit) take(name string, s *template.Service, added bool, constraints map[string]template.ServiceConstraint) {
	u.services = append(u.services, name)
	u.fresh = u.fresh && added
	u.needs = resourcesPlus(u.needs, s.Needs)
	c, written := constraints[name]
	if !c.MinSet || c.Min > 0 {
		u.min = max(u.min, c.Min, 1)
	}
	if written {
		u.max = min(u.max, max(c.Max, 0))
		u.hardware, u.images = append(u.hardware, c.Hardware), append(u.images, c.Images)
	}
}

func resourcesPlus(a, b template.Requirements) template.Requirements {
	return template.Requirements{CPU: a.CPU + max(0, b.CPU), MemoryGB: a.MemoryGB + max(0, b.MemoryGB),
		DiskGB: a.DiskGB + max(0, b.DiskGB), GPUs: a.GPUs + max(0, b.GPUs)}
}

// resourcesFit reports whether needs are within what a machine has, of which 0 is unknown and does not limit, but for GPUs.
func resourcesFit(needs, has template.Requirements) bool {
	within := func(need, offer float64) bool { return offer <= 0 || need <= offer*(1+1e-9)+1e-5 }
	return within(needs.CPU, has.CPU) && within(needs.MemoryGB, has.MemoryGB) && within(needs.DiskGB, has.DiskGB) && needs.GPUs <= has.GPUs
}

func (m *model) takeApart(limits template.Constraints, has map[string]bool) {
	m.apart = make([]bitset.Set, len(m.units))
	for u := range m.apart {
		m.apart[u] = bitset.New(m.words())
	}
	part := func(a, b int) {
		if a == b {
			m.units[a].cant = true
			return
		}
		m.apart[a].Add(b)
		m.apart[b].Add(a)
	}
	for _, group := range limits.CantCoexistPairs {
		for i, a := range group {
			for _, b := range group[:i] {
				if has[a] && has[b] && a != b {
					part(m.unitOf[a], m.unitOf[b])
				}
			}
		}
	}
	for _, group := range limits.CantCoexist {
		if len(group) == 0 || slices.ContainsFunc(group, func(s string) bool { return !has[s] }) {
			continue // it can never be complete
		}
		all := bitset.New(m.words())
		for _, s := range group {
			all.Add(m.unitOf[s])
		}
		switch all.Count() {
		case 1:
			m.units[all.Next(0)].cant = true
		case 2:
			part(all.Next(0), all.Next(all.Next(0)+1))
		default:
			m.never = append(m.never, all)
		}
	}
}

// mayShare reports whether unit u may join the units of s, as far as company goes.
func (m *model) mayShare(s bitset.Set, u int) bool {
	if m.units[u].cant || m.apart[u].Intersects(s) {
		return false
	}
	s.Add(u)
	bad := slices.ContainsFunc(m.never, func(g bitset.Set) bool { return g.Has(u) && g.SubsetOf(s) })
	s.Del(u)
	return !bad
}

// mayBe reports whether a node with the units of s may be such a machine.
func (m *model) mayBe(s bitset.Set, on machineType) bool {
	needs := m.wide
	for u := s.Next(0); u >= 0; u = s.Next(u + 1) {
		needs = resourcesPlus(needs, m.units[u].needs)
		if !accepted(m.units[u].hardware, on.hardware) || !accepted(m.units[u].images, on.image) {
			return false
		}
	}
	return resourcesFit(needs, on.has)
}

// allowed reports whether the units of s may be together on a machine.
func (m *model) allowed(s bitset.Set, on machineType) bool {
	sofar := bitset.New(m.words())
	for u := s.Next(0); u >= 0; u = s.Next(u + 1) {
		if !m.mayShare(sofar, u) {
			return false
		}
		sofar.Add(u)
	}
	return m.mayBe(s, on)
}

// names returns the services of a node with the units of s, by name.
func (m *model) names(s bitset.Set) []string {
	out := slices.Clone(m.everywhere)
	for u := s.Next(0); u >= 0; u = s.Next(u + 1) {
		out = append(out, m.units[u].services...)
	}
	slices.Sort(out)
	return out
}

// machineOf describes types by name, and says what keeps them from being used here now.
func (m *model) machineOf(hardware, image string) (machineType, string) {
	on := machineType{hardware: hardware, image: image}
	h, i := m.c.Hardware[hardware], m.c.Images[image]
	if h != nil {
		f := h.Providers[m.provider]
		on.cost, on.has = f.CostPerHour, template.Requirements{CPU: f.CPU, MemoryGB: f.MemoryGB, DiskGB: f.DiskGB, GPUs: f.GPUs}
	}
	switch can := m.t.Compatibility; {
	case h == nil || h.Providers[m.provider].Flavor == "":
		return on, "has hardware " + hardware + ", which provider " + m.provider + " doesn't offer"
	case !request.Allowed(hardware, "", can.Hardware):
		return on, "has hardware " + hardware + ", which template " + m.t.Name + " doesn't allow"
	case i == nil || i.Providers[m.provider].Image == "":
		return on, "has image " + image + ", which provider " + m.provider + " doesn't offer"
	case !request.Allowed(image, "", can.Images):
		return on, "has image " + image + ", which template " + m.t.Name + " doesn't allow"
	}
	return on, ""
}

// takeClasses groups the standing nodes. Zones only matter where the template has a rule for them.
func (m *model) takeClasses() {
	number := map[string]int{}
	for i, n := range m.standing {
		zone := n.Zone
		if m.t.Constraints.Zones == nil {
			zone = ""
		}
		key := strings.Join(append([]string{n.Hardware, n.Image, zone}, n.Services...), "\x00")
		at, known := number[key]
		if !known {
			at = len(m.classes)
			number[key] = at
			m.classes = append(m.classes, m.newClass(n.ExistingNode, zone))
		}
		m.classes[at].nodes = append(m.classes[at].nodes, i)
	}
}

func (m *model) newClass(n layout.ExistingNode, zone string) alike {
	c := alike{zone: zone, was: n.Services, stays: bitset.New(m.words())}
	c.machine, c.misfit = m.machineOf(n.Hardware, n.Image)
	if rule := m.t.Constraints.Zones; c.misfit == "" && rule != nil && !slices.Contains(m.zones, zone) {
		c.misfit = "is in zone " + zone + ", which provider " + m.provider + " doesn't have"
		if zone == "" {
			c.misfit = "is in no zone, though template " + m.t.Name + " spreads its nodes over zones"
		}
	}
	for _, s := range n.Services {
		if m.removed[s] {
			c.less++
		} else if u, ok := m.unitOf[s]; ok {
			c.stays.Add(u)
		}
	}
	for _, s := range m.names(c.stays) {
		if !slices.Contains(n.Services, s) {
			c.lacks++
		}
	}
	return c
}

// takeTypes finds what new nodes may be. Where neither the request nor anything else forbids it they are as those
// that stand.
func (m *model) takeTypes() {
	on := template.ProviderSpec{}
	if p := m.c.Providers[m.provider]; p != nil {
		on = *p
	}
	m.zones = []string{""}
	if m.t.Constraints.Zones != nil {
		m.zones = on.Zones
	}
	var hardware, images []string
	for name := range m.c.Hardware {
		hardware = append(hardware, name)
	}
	for name := range m.c.Images {
		images = append(images, name)
	}
	sort.Strings(hardware)
	sort.Strings(images)
	wantHardware := m.wanted(m.r.Hardware, m.t.Defaults.Hardware, func(n layout.ExistingNode) string { return n.Hardware },
		func(u unit) []nameList { return u.hardware })
	wantImage := m.wanted(m.r.Image, m.t.Defaults.Image, func(n layout.ExistingNode) string { return n.Image },
		func(u unit) []nameList { return u.images })
	for _, h := range hardware {
		for _, i := range images {
			one, why := m.machineOf(h, i)
			if why == "" && request.Allowed(h, wantHardware, nil) && request.Allowed(i, wantImage, nil) && resourcesFit(m.wide, one.has) {
				m.types = append(m.types, one)
			}
		}
	}
}

// wanted returns the type that the request names; else that of all standing nodes, if all services accept it; else the
// template's own choice, "" for any.
func (m *model) wanted(asked, usual string, of func(layout.ExistingNode) string, lists func(unit) []nameList) string {
	if asked != "" {
		return asked
	}
	one := of(m.standing[0].ExistingNode)
	for _, n := range m.standing {
		if of(n.ExistingNode) != one {
			return usual
		}
	}
	on, why := m.machineOf(m.standing[0].Hardware, m.standing[0].Image)
	if why != "" {
		return usual
	}
	for _, u := range m.units {
		if !accepted(lists(u), one) || !resourcesFit(resourcesPlus(m.wide, u.needs), on.has) {
			return usual
		}
	}
	return one
}

// onCluster reports whether a service is on the cluster afterwards.
func (m *model) onCluster(name string) bool { return slices.Contains(m.services, name) }
