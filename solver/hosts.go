package solver

import (
	"cmp"
	"math"
	"slices"

	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/bitset"
	"muster/solver/internal/load"
	"muster/solver/internal/request"
)

// host is one of the hosts that nodes may run on. Hosts that can take no node at all are left out.
type host struct {
	name, zone string
	hardware   int             // candidate
	nodes      int             // that it can take
	free       load.Load       // of what its hardware does not state; endless where nothing is limited
	banned     map[string]bool // services of this cluster that may not be on it
	class      int
}

// hostClass is hosts that can take the same nodes: of the same hardware, with the same company forbidden, with as much to
// give, and in the same zone where zones matter.
type hostClass struct {
	hardware int
	zone     string
	free     load.Load
	blocks   []bool // per block: whether it may be there
	nodes    int    // on all of them together
	hosts    int
}

// hostPool is the hosts of a problem, by name.
type hostPool struct {
	hosts    []host
	classes  []hostClass
	separate []string // services of which no host has two nodes
}

// takeHosts takes the pool, if the request has one for the provider.
func (p *problem) takeHosts(t *template.Template, r layout.Request) {
	if r.Pool == nil || r.Pool.Provider != p.provider {
		return
	}
	rule := template.HostRule{}
	if t.Constraints.Hosts != nil {
		rule = *t.Constraints.Hosts
	}
	p.pool = &hostPool{separate: slices.DeleteFunc(request.Distinct(rule.Separate), func(s string) bool { return !p.named[s] })}
	seen := map[string]bool{}
	for _, h := range slices.SortedStableFunc(slices.Values(r.Pool.Hosts), func(a, b layout.Host) int { return cmp.Compare(a.Name, b.Name) }) {
		if !seen[h.Name] {
			seen[h.Name] = true
			p.takeHost(rule, h)
		}
	}
}

func (p *problem) takeHost(rule template.HostRule, from layout.Host) {
	h := host{name: from.Name, zone: from.Zone, hardware: slices.Index(p.hardware, from.Hardware), banned: map[string]bool{}}
	if h.hardware < 0 || p.zoneRule != nil && !slices.Contains(p.zones, h.zone) ||
		slices.ContainsFunc(from.Has, func(n layout.HostedNode) bool { return n.Alone }) {
		return
	}
	h.nodes, h.free = load.RoomOn(from, p.catalog.Hardware[from.Hardware].Providers[p.provider])
	if rule.MaxNodes > 0 {
		h.nodes = min(h.nodes, rule.MaxNodes)
	}
	for s := range p.named {
		if !mayHost(rule, from, s) {
			h.banned[s] = true
		}
	}
	if h.nodes <= 0 || slices.ContainsFunc(p.everywhere, func(s string) bool { return h.banned[s] }) {
		return
	}
	h.class = p.pool.classOf(p, h)
	p.pool.hosts = append(p.pool.hosts, h)
}

// mayHost reports whether a service may be on a host, considering all that runs there.
func mayHost(rule template.HostRule, h layout.Host, service string) bool {
	if len(h.Has) > 0 && slices.Contains(rule.Alone, service) {
		return false
	}
	for _, n := range h.Has {
		if n.Alone || slices.Contains(n.Apart, service) || slices.ContainsFunc(rule.Apart, func(a template.HostApart) bool {
			return a.Service == service && slices.ContainsFunc(a.From, func(s string) bool { return slices.Contains(n.Services, s) })
		}) {
			return false
		}
	}
	return true
}

// classOf adds a host to its class.
func (l *hostPool) classOf(p *problem, h host) int {
	c := hostClass{hardware: h.hardware, free: h.free}
	if p.zoneRule != nil {
		c.zone = h.zone
	}
	for _, b := range p.blocks {
		c.blocks = append(c.blocks, !slices.ContainsFunc(b.services, func(s string) bool { return h.banned[s] }))
	}
	at := slices.IndexFunc(l.classes, func(o hostClass) bool {
		return o.hardware == c.hardware && o.zone == c.zone && o.free == c.free && slices.Equal(o.blocks, c.blocks)
	})
	if at < 0 {
		at = len(l.classes)
		l.classes = append(l.classes, c)
	}
	l.classes[at].hosts++
	l.classes[at].nodes = min(l.classes[at].nodes+h.nodes, math.MaxInt32)
	return at
}

// takeHostedPalettes takes a palette for each pair of types and class of hosts, save images that all blocks accept which
// accept another one.
func (f *family) takeHostedPalettes(p *problem) {
	images := f.typesInUse(len(p.images), func(int) load.Load { return load.Boundless }, func(b int) []int { return p.blocks[b].images })
	for h := range p.hardware {
		for _, i := range images {
			for c, class := range p.pool.classes {
				if class.hardware != h {
					continue
				}
				x := palette{hardware: h, image: i.index, class: c, blocks: bitset.New(f.words), room: p.offers[h]}
				for d := range x.room {
					x.room[d] = min(x.room[d], class.free[d])
				}
				x.room = x.room.Minus(p.base)
				for b, block := range p.blocks {
					if f.usable.Has(b) && class.blocks[b] && i.blocks.Has(b) && slices.Contains(block.hardware, h) && block.needs.Within(x.room) {
						x.blocks.Add(b)
					}
				}
				if (load.Load{}).Within(x.room) {
					f.palettes = append(f.palettes, x)
					f.heavy = f.heavy || !f.sum(x.blocks).Within(x.room)
				}
			}
		}
	}
}

// hostRows states what the classes of hosts can take, and what zones ask of them. What a single host can take is left to
// the hoster.
func (m *mixer) hostRows() {
	p, pals := m.p, upTo(len(m.f.palettes))
	// on weighs nodes by their palette, or those with a service, where one is named.
	on := func(service string, weight func(pal palette) int64) row {
		r := row{low: -load.Endless, high: load.Endless}
		block := -1
		for b := range p.blocks {
			if slices.Contains(p.blocks[b].services, service) {
				block = b
			}
		}
		if block < 0 {
			r.pal = make([]int64, len(pals))
		}
		for i, pal := range m.f.palettes {
			switch w := weight(pal); {
			case w == 0:
			case block < 0:
				r.pal[i] = w
			case pal.blocks.Has(block):
				w := weighedPattern{pattern{bitset.New(m.f.words), i}, w}
				w.blocks.Add(block)
				r.patterns = append(r.patterns, w)
			}
		}
		return r
	}
	for c, class := range p.pool.classes {
		here := func(pal palette) int64 { return int64(b2n(pal.class == c)) }
		if class.nodes < p.size {
			r := on("", here)
			r.high = int64(class.nodes)
			m.rows = append(m.rows, r)
		}
		for _, s := range p.pool.separate {
			if class.hosts < p.size {
				r := on(s, here)
				r.high = int64(class.hosts)
				m.rows = append(m.rows, r)
			}
		}
		m.freeRows(c, class)
	}
	if p.zoneRule == nil {
		return
	}
	spread := slices.DeleteFunc(request.Distinct(p.zoneRule.Services), func(s string) bool { return !p.named[s] })
	if len(p.zoneRule.Services) == 0 {
		spread = []string{""}
	}
	for _, s := range spread {
		for _, low := range p.zones {
			for _, high := range p.zones {
				if low == high {
					continue
				}
				r := on(s, func(pal palette) int64 {
					zone := p.pool.classes[pal.class].zone
					return int64(b2n(zone == high) - b2n(zone == low))
				})
				r.high = int64(max(1, p.zoneRule.MaxSkew))
				m.rows = append(m.rows, r)
			}
		}
	}
}

// freeRows states that the nodes on a class take no more together than its hosts have, of what hardware does not state.
func (m *mixer) freeRows(c int, class hostClass) {
	for d := range load.BySize {
		if class.free[d] >= load.Endless {
			continue
		}
		r := row{low: -load.Endless, high: class.free[d] * int64(class.hosts), pal: make([]int64, len(m.f.palettes))}
		unit := r.high
		for i, pal := range m.f.palettes {
			if pal.class != c {
				continue
			}
			r.pal[i] = m.p.base[d]
			unit = divisor(unit, m.p.base[d])
			for b := pal.blocks.Next(0); b >= 0; b = pal.blocks.Next(b + 1) {
				if need := m.f.needs[b][d]; need > 0 {
					w := weighedPattern{pattern{bitset.New(m.f.words), i}, need}
					w.blocks.Add(b)
					r.patterns = append(r.patterns, w)
					unit = divisor(unit, need)
				}
			}
		}
		unit = max(1, unit)
		r.high /= unit
		for i := range r.pal {
			r.pal[i] /= unit
		}
		for i := range r.patterns {
			r.patterns[i].weight /= unit
		}
		m.rows = append(m.rows, r)
	}
}

func b2n(b bool) int {
	if b {
		return 1
	}
	return 0
}
