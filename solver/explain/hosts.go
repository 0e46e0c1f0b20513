package explain

import (
	"fmt"
	"maps"
	"slices"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/load"
	"muster/solver/internal/request"
)

// pooled reports whether nodes run on hosts.
func (q *question) pooled() bool {
	return q.request.Pool != nil && q.request.Pool.Provider == q.provider
}

// listHosts lists the pool and what the template says about hosts. None of it says who else is on them, since that may be
// someone else's business.
func (q *question) listHosts() {
	if !q.pooled() {
		return
	}
	k := clause{Clause: layout.Clause{Kind: kindHosts}, put: func(d *draft) { d.pool = q.request.Pool }}
	k.remedies = append(q.moreHosts(), unpooled(q.provider))
	q.add(k, "%s", q.poolInWords())
	rule := q.template.Constraints.Hosts
	if rule == nil {
		return
	}
	for i, s := range rule.Alone {
		q.hostClause(fmt.Sprintf("constraints.hosts.alone[%d]", i), []string{s}, func(r *template.HostRule) { r.Alone = append(r.Alone, s) },
			[]remedy{loosen(fmt.Sprintf("let %s share hosts with other clusters", s), func(r *template.HostRule) { r.Alone = lessOf(r.Alone, s) })},
			"%s can't share a host with other clusters (alone)", s)
	}
	for i, a := range rule.Apart {
		var remedies []remedy
		for _, from := range request.Distinct(a.From) {
			remedies = append(remedies, loosen(fmt.Sprintf("let %s share hosts with %s of other clusters", a.Service, from), func(r *template.HostRule) {
				for x := range r.Apart {
					if r.Apart[x].Service == a.Service {
						r.Apart[x].From = lessOf(r.Apart[x].From, from)
					}
				}
			}))
		}
		if len(a.From) > 1 {
			remedies = append(remedies, loosen(fmt.Sprintf("let %s share hosts with any of %s of other clusters", a.Service, humanize.And(request.Distinct(a.From))),
				func(r *template.HostRule) {
					r.Apart = slices.DeleteFunc(r.Apart, func(o template.HostApart) bool { return o.Service == a.Service })
				}))
		}
		q.hostClause(fmt.Sprintf("constraints.hosts.apart[%d]", i), []string{a.Service}, func(r *template.HostRule) { r.Apart = append(r.Apart, a) }, remedies,
			"%s can't share a host with %s of other clusters (apart)", a.Service, humanize.Or(request.Distinct(a.From)))
	}
	for i, s := range rule.Separate {
		q.hostClause(fmt.Sprintf("constraints.hosts.separate[%d]", i), []string{s}, func(r *template.HostRule) { r.Separate = append(r.Separate, s) },
			[]remedy{loosen(fmt.Sprintf("let nodes with %s share a host", s), func(r *template.HostRule) { r.Separate = lessOf(r.Separate, s) })},
			"nodes with %s can't share a host (separate)", s)
	}
	if n := rule.MaxNodes; n > 0 {
		q.hostClause("constraints.hosts.max_nodes", nil, func(r *template.HostRule) { r.MaxNodes = n }, []remedy{raiseMaxNodes(n, q.most())},
			"a host can have at most %s of the cluster (max_nodes %d)", humanize.Count(n, "node"), n)
	}
}

func (q *question) hostClause(path string, services []string, put func(r *template.HostRule), remedies []remedy, format string, args ...any) {
	k := q.written(kindHosts, path, services...)
	k.put = func(d *draft) {
		d.touch(services)
		if d.limits.Hosts == nil {
			d.limits.Hosts = &template.HostRule{}
		}
		put(d.limits.Hosts)
	}
	k.remedies = remedies
	q.add(k, format, args...)
}

// poolInWords says how much the hosts can take, by hardware.
func (q *question) poolInWords() string {
	room, count := map[string]int{}, map[string]int{}
	for _, h := range q.request.Pool.Hosts {
		if hardware := q.catalog.Hardware[h.Hardware]; hardware != nil {
			n, _ := load.RoomOn(h, hardware.Providers[q.provider])
			room[h.Hardware] += max(0, n)
		}
		count[h.Hardware]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		part := fmt.Sprintf("%s of hardware %s", humanize.Count(room[name], "more node"), name)
		if room[name] == 0 {
			part = fmt.Sprintf("no more nodes of hardware %s", name)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return fmt.Sprintf("the pool of provider %s has no hosts", q.provider)
	}
	return fmt.Sprintf("the %s of provider %s can take %s", humanize.Count(len(q.request.Pool.Hosts), "host"), q.provider, humanize.And(parts))
}

// moreHosts adds empty hosts to the pool, like the roomiest one that there is of some hardware.
func (q *question) moreHosts() []remedy {
	roomiest := map[string]layout.Host{}
	for _, h := range q.request.Pool.Hosts {
		hardware := q.catalog.Hardware[h.Hardware]
		if hardware == nil || hardware.Providers[q.provider].Flavor == "" {
			continue
		}
		n, _ := load.RoomOn(h, hardware.Providers[q.provider])
		if best, known := roomiest[h.Hardware]; !known || n > best.Nodes {
			h.Nodes, h.Free, h.Has = max(1, n), layout.HostFree{}, nil
			roomiest[h.Hardware] = h
		}
	}
	var out []remedy
	for _, name := range slices.Sorted(maps.Keys(roomiest)) {
		like := roomiest[name]
		out = append(out, remedy{rank: rankProvider, steps: q.most(), text: func(step int) string {
			return fmt.Sprintf("%s of hardware %s, with room for %s%s", humanize.Count(step, "more empty host"), name, humanize.Count(like.Nodes, "node"), map[bool]string{true: " each"}[step > 1])
		}, apply: func(w *world, step int) {
			w.template()
			w.r.Pool = &layout.HostPool{Provider: w.r.Pool.Provider, Hosts: slices.Clone(w.r.Pool.Hosts)}
			for i := range step {
				h := like
				h.Name = fmt.Sprintf("(new %d) %s", i+1, name)
				if zones := q.catalog.Providers[q.provider].Zones; q.template.Constraints.Zones != nil && len(zones) > 0 {
					h.Zone = zones[i%len(zones)]
				}
				w.r.Pool.Hosts = append(w.r.Pool.Hosts, h)
			}
		}})
	}
	return out
}

// unpooled is what leaves nothing of a pool; no one is offered it by itself, as no pool is endless.
func unpooled(provider string) remedy {
	return remedy{rank: rankNever, steps: 1, text: says("as many hosts as are needed for provider %s", provider),
		apply: func(w *world, _ int) {
			w.template()
			w.r.Pool = nil
		}}
}

// loosen changes the template's rule for hosts.
func loosen(text string, change func(r *template.HostRule)) remedy {
	return remedy{rank: rankRule, steps: 1, text: says("%s", text), apply: func(w *world, _ int) { w.hosts(change) }}
}

func raiseMaxNodes(from, most int) remedy {
	return remedy{rank: rankNumber, steps: max(1, most-from), text: func(step int) string {
		return fmt.Sprintf("allow %s of the cluster on a host", humanize.Count(from+step, "node"))
	}, apply: func(w *world, step int) { w.hosts(func(r *template.HostRule) { r.MaxNodes = from + step }) }}
}

// hosts changes what the template says about hosts.
func (w *world) hosts(change func(r *template.HostRule)) {
	t := w.template()
	r := template.HostRule{}
	if t.Constraints.Hosts != nil {
		r = *t.Constraints.Hosts
	}
	r.Apart = slices.Clone(r.Apart)
	change(&r)
	t.Constraints.Hosts = &r
}

func lessOf[T comparable](list []T, without T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return x == without })
}
