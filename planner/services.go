package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/template"
)

// phase is one of the two kinds of dependency that a service declares.
type phase int

const (
	phaseInstall phase = iota
	phaseRuntime
	phases
)

// rule says that, where A depends on B, one action of B on every node comes before one action of A on every node.
type rule struct {
	phase         phase
	before, after app.Action
}

// service is a service that is on at least one node. Numbers are places in a catalogue of services or of nodes.
type service struct {
	number  int
	name    string
	entry   *template.Service
	nodes   []int // that have it when all is done, in order
	direct  [phases][]int
	closure [phases]bits // direct, and what those depend on in turn
	// dependents are the services that depend on it directly.
	dependents [phases][]int
	steps      map[app.Action][]int // by action, in the order of nodes
}

// has reports whether the service defines an action. An action without an automator still counts: what is written is
// planned. A check is there where the entry says how to look.
func (s *service) has(a app.Action) bool {
	if a == app.ActionCheck {
		return s.entry.Health != nil
	}
	_, ok := s.entry.Actions[a]
	return ok
}

// last returns the action after which an action has had its effect: what has been started works once it is healthy. It is
// false where the service has neither.
func (s *service) last(a app.Action) (app.Action, bool) {
	if a == app.ActionStart && s.has(app.ActionCheck) {
		return app.ActionCheck, true
	}
	return a, s.has(a)
}

// services are the services of a cluster, by name, with what they depend on.
type services struct {
	list   []*service
	byName map[string]int // place in list
}

// servicesOf reads the services and their dependencies. Requires and uses order the work alike, names stand also for
// all that provide them, and what is not on the cluster orders nothing.
func servicesOf(r plan.Request) (*services, error) {
	s := &services{byName: map[string]int{}}
	at, first := map[string][]int{}, map[string]string{}
	for i, n := range r.Nodes {
		for _, list := range [][]string{n.Services, n.Removed} {
			for _, name := range list {
				if first[name] == "" {
					first[name] = n.Name
				}
			}
		}
		for _, name := range n.Services {
			if n.Change != plan.NodeGone {
				at[name] = append(at[name], i)
			}
		}
	}
	providers := map[string][]int{}
	for i, name := range slices.Sorted(maps.Keys(first)) {
		entry := r.Services[name]
		if entry == nil {
			return nil, refuse("missing_service", "Service %s is on %s but isn't defined.", name, first[name])
		}
		a := &service{number: i, name: name, entry: entry, nodes: at[name], steps: map[app.Action][]int{}}
		s.list = append(s.list, a)
		s.byName[name] = i
		providers[name] = append(providers[name], i)
		for _, alias := range set(entry.Provides) {
			if alias != name {
				providers[alias] = append(providers[alias], i)
			}
		}
	}
	for _, a := range s.list {
		for p := range phases {
			for name := range a.wants(p) {
				for _, b := range providers[name] {
					if b != a.number { // by its own alias: it cannot wait for itself
						a.direct[p] = append(a.direct[p], b)
					}
				}
			}
			slices.Sort(a.direct[p])
			a.direct[p] = slices.Compact(a.direct[p])
			for _, b := range a.direct[p] {
				s.list[b].dependents[p] = append(s.list[b].dependents[p], a.number)
			}
		}
	}
	for p := range phases {
		if err := s.close(p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// wants returns the names that a service depends on in a phase, each with the word for it.
func (s *service) wants(p phase) map[string]string {
	d := s.entry.Install
	if p == phaseRuntime {
		d = s.entry.Runtime
	}
	names := make(map[string]string, len(d.Requires)+len(d.Uses))
	for _, name := range d.Uses {
		names[name] = "uses"
	}
	for _, name := range d.Requires {
		names[name] = "requires"
	}
	return names
}

// close works out the closures of a phase, depth first, and finds the first cycle by name.
func (s *services) close(p phase) error {
	const (
		fresh = iota
		open
		closed
	)
	state := make([]int, len(s.list))
	var path []int
	var visit func(i int) error
	visit = func(i int) error {
		state[i], path = open, append(path, i)
		a := s.list[i]
		a.closure[p] = newBits(len(s.list))
		for _, b := range a.direct[p] {
			if state[b] == open {
				return s.cycle(p, path[slices.Index(path, b):])
			}
			if state[b] == fresh {
				if err := visit(b); err != nil {
					return err
				}
			}
			a.closure[p].set(b)
			a.closure[p].add(s.list[b].closure[p])
		}
		state[i], path = closed, path[:len(path)-1]
		return nil
	}
	for i := range s.list {
		if state[i] == fresh {
			if err := visit(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// cycle is the refusal of services that wait for each other, starting with the first by name.
func (s *services) cycle(p phase, loop []int) error {
	first := slices.Index(loop, slices.Min(loop))
	loop = slices.Concat(loop[first:], loop[:first])
	words := map[phase]string{phaseInstall: "to be installed", phaseRuntime: "to start"}
	var names, links []string
	for i, n := range loop {
		a, b := s.list[n], s.list[loop[(i+1)%len(loop)]]
		names = append(names, a.name)
		links = append(links, s.link(p, a, b))
	}
	e := refuse("cycle", "Services %s wait for each other %s: %s.", humanize.And(names), words[p], strings.Join(links, ", "))
	e.Hint = fmt.Sprintf("Remove one of these dependencies from the catalog, or one of %s from the cluster.", humanize.And(names))
	return e
}

// link says how a depends on b, in the catalog's own words.
func (s *services) link(p phase, a, b *service) string {
	wants := a.wants(p)
	if word, ok := wants[b.name]; ok {
		return a.name + " " + word + " " + b.name
	}
	for _, alias := range set(b.entry.Provides) {
		if word, ok := wants[alias]; ok {
			return fmt.Sprintf("%s %s %s, which %s provides", a.name, word, alias, b.name)
		}
	}
	return a.name + " depends on " + b.name
}

// before returns the services whose action must precede an action of a under a rule, without those that are already
// implied by another: where a dependency lacks the action, the search continues with what that depends on.
func (s *services) before(a *service, r rule) []int {
	return s.nearest(a, r.phase, false, func(b *service) bool {
		_, ok := b.last(r.before)
		return ok
	})
}

// nearest returns the services that a depends on in a phase, or that depend on a, by the shortest ways: where one is not
// wanted, the search continues behind it. What is behind another one that was found is left out.
func (s *services) nearest(a *service, p phase, dependents bool, wanted func(b *service) bool) []int {
	var found []int
	seen := newBits(len(s.list))
	var search func(a *service)
	search = func(a *service) {
		next := a.direct[p]
		if dependents {
			next = a.dependents[p]
		}
		for _, i := range next {
			if seen.has(i) {
				continue
			}
			seen.set(i)
			if b := s.list[i]; wanted(b) {
				found = append(found, i)
			} else {
				search(b)
			}
		}
	}
	search(a)
	slices.Sort(found)
	return slices.DeleteFunc(slices.Clone(found), func(i int) bool {
		return slices.ContainsFunc(found, func(j int) bool {
			if dependents {
				return s.list[i].closure[p].has(j)
			}
			return s.list[j].closure[p].has(i)
		})
	})
}

// bits is a set of small numbers.
type bits []uint64

func newBits(n int) bits      { return make(bits, (n+63)/64) }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) add(other bits) {
	for i := range other {
		b[i] |= other[i]
	}
}
