package explain

import (
	"fmt"
	"maps"
	"slices"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// fixer looks for changes that make a layout possible.
type fixer struct {
	q     *question
	fixes []rankedFix
}

type rankedFix struct {
	layout.Fix
	rank  int
	steps int // how far a number is moved
}

// triesPerRank is how many changes of one rank are tried in vain, or found, before others get their turn.
const triesPerRank = 8

// fixes returns changes that were each checked by solving: first those of one thing only, of every rank the first that
// works and then more, else one of several things.
func (q *question) fixes(core []*clause) []layout.Fix {
	m := &fixer{q: q}
	ranks := map[int][]remedy{}
	for _, r := range m.remedies(core) {
		ranks[r.rank] = append(ranks[r.rank], r)
	}
	for round := 0; round < mostFixes && len(m.fixes) < mostFixes && !q.ended; round++ {
		for rank := rankSize; rank <= rankLast && len(m.fixes) < mostFixes; rank++ {
			if rank == rankLast && len(m.fixes) > 1 {
				continue // better than nothing, but only then
			}
			ranks[rank] = m.next(ranks[rank])
		}
	}
	if len(m.fixes) == 0 {
		m.several(core)
		m.withoutSome(core)
	}
	slices.SortStableFunc(m.fixes, func(a, b rankedFix) int {
		if a.rank == b.rank && a.rank == rankSize {
			return a.steps - b.steps
		}
		return a.rank - b.rank
	})
	var out []layout.Fix
	for _, f := range m.fixes {
		out = append(out, f.Fix)
	}
	return out
}

// remedies returns all single changes worth trying for a conflict.
func (m *fixer) remedies(core []*clause) []remedy {
	var out []remedy
	var about []string
	typed, needy := false, false
	for _, k := range core {
		out = append(out, m.of(k, m.q.clauses)...)
		for _, s := range k.Services {
			if !slices.Contains(about, s) {
				about = append(about, s)
			}
		}
		typed = typed || slices.Contains([]string{kindHardware, kindImage, kindResources, kindCompatibility, kindZones, kindHosts}, k.Kind)
		needy = needy || k.Kind == kindResources
	}
	for _, s := range about {
		out = append(out, m.without(s)...)
	}
	if typed {
		for _, name := range slices.Sorted(maps.Keys(m.q.catalog.Providers)) {
			if name != m.q.provider {
				out = append(out, otherProvider(name, m.q.provider))
			}
		}
	}
	if needy {
		out = append(out, m.bigger(core)...)
	}
	return out
}

// of returns the remedies of a clause among others; those of the size depend on the others.
func (m *fixer) of(k *clause, among []*clause) []remedy {
	if k.Kind == kindSize {
		return m.resize(slices.DeleteFunc(slices.Clone(among), func(o *clause) bool { return o == k }))
	}
	return k.remedies
}

// next tries the remedies of one rank until one works, and returns those that are left.
func (m *fixer) next(list []remedy) []remedy {
	for tries := 0; len(list) > 0 && tries < triesPerRank && !m.q.ended; tries++ {
		r := list[0]
		list = list[1:]
		if m.single(r) {
			return list
		}
	}
	return nil
}

func (m *fixer) single(r remedy) bool {
	works := func(step int) bool {
		w := m.world()
		r.apply(w, step)
		found, _ := m.q.ask(w.c, w.r)
		return found
	}
	step := least(r.steps, works)
	if step == 0 || m.q.ended {
		return false
	}
	w := m.world()
	r.apply(w, step)
	rank := r.rank
	if r.far && step == r.steps {
		rank = rankLast
	}
	return m.keep(w, rank, step, r.text(step))
}

// keep takes a fix; one with the same words is not taken twice.
func (m *fixer) keep(w *world, rank, steps int, text string) bool {
	if slices.ContainsFunc(m.fixes, func(f rankedFix) bool { return f.Text == text }) {
		return false
	}
	f := rankedFix{layout.Fix{Text: text}, rank, steps}
	if !w.edited {
		f.Request = &w.r
	} else {
		f.rank = max(rank, rankNumber)
	}
	m.fixes = append(m.fixes, f)
	return true
}

func (m *fixer) world() *world { return &world{c: m.q.catalog, r: m.q.request} }

// least returns the least number of steps that works, up to most, if more steps always work as well; 0 where even most
// does not. It looks near 1 first, since what is short is mostly short by little.
func least(most int, works func(step int) bool) int {
	if most < 1 || !works(most) {
		return 0
	}
	low, high := 0, 1 // low does not work
	for high < most && !works(high) {
		low, high = high, high*2
	}
	high = min(high, most)
	for low+1 < high {
		if mid := (low + high) / 2; works(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// resize returns the changes of size towards sizes on which the clauses have a layout.
func (m *fixer) resize(clauses []*clause) []remedy {
	q := m.q
	d, asked := q.draft(clauses), q.request.Size
	var up, down int
	for _, n := range d.sizes() {
		if n == asked || n > asked && up > 0 || n < asked && down > 0 {
			continue
		}
		if found, _ := q.ask(q.stated(d, n)); found && n > asked {
			up = n
		} else if found {
			down = n
		}
	}
	var out []remedy
	if up > 0 {
		out = append(out, m.otherSize(up-asked, 1))
	}
	if down > 0 {
		out = append(out, m.otherSize(asked-down, -1))
	}
	return out
}

func (m *fixer) otherSize(steps, sign int) remedy {
	q := m.q
	asked, allowed := q.request.Size, q.template.Constraints.Size
	high := allowed.Max
	if high == 0 {
		high = template.Unlimited
	}
	return remedy{rank: rankSize, steps: steps, text: func(step int) string {
		n := asked + sign*step
		switch {
		case n > high:
			return fmt.Sprintf("%s instead of %d, if the template allows it (now at most %d)", humanize.Count(n, "node"), asked, high)
		case n < allowed.Min:
			return fmt.Sprintf("%s instead of %d, if the template allows it (now at least %d)", humanize.Count(n, "node"), asked, allowed.Min)
		case !allowed.Allows(n):
			return fmt.Sprintf("%s instead of %d, if the template allows it (now %s)", humanize.Count(n, "node"), asked, allowed.Text())
		}
		return fmt.Sprintf("%s instead of %d", humanize.Count(n, "node"), asked)
	}, apply: func(w *world, step int) {
		if w.r.Size = asked + sign*step; !allowed.Allows(w.r.Size) {
			w.template().Constraints.Size.OneOf = nil
		}
		if w.r.Size > high {
			w.template().Constraints.Size.Max = w.r.Size
		}
		if w.r.Size < allowed.Min {
			w.template().Constraints.Size.Min = w.r.Size
		}
	}}
}

// without leaves a service out of the request, and with it those that require what only it provides.
func (m *fixer) without(service string) []remedy {
	q := m.q
	gone, left := q.drop(service, q.services)
	if len(left) == 0 {
		return nil
	}
	return []remedy{withoutThese(gone, left)}
}

func withoutThese(gone, left []string) remedy {
	return remedy{rank: rankWithout, steps: 1, text: says("without %s", humanize.And(gone)), apply: func(w *world, _ int) { w.r.Services = left }}
}

func (q *question) drop(service string, from []string) (gone, left []string) {
	left = slices.DeleteFunc(slices.Clone(from), func(s string) bool { return s == service })
	gone = []string{service}
	lacks := func(need string) bool {
		return !slices.ContainsFunc(left, func(o string) bool { return request.Provides(q.catalog, o, need) })
	}
	for i := 0; i < len(left); i++ {
		s := left[i]
		is := q.catalog.Services[s]
		if slices.ContainsFunc(slices.Concat(is.Install.Requires, is.Runtime.Requires), lacks) {
			left = slices.Delete(left, i, i+1)
			gone = append(gone, s)
			i = -1 // others may have required it
		}
	}
	return gone, left
}

// bigger returns hardware that the provider does not have yet, on which the services of a conflict fit one by one, or all at
// once.
func (m *fixer) bigger(core []*clause) []remedy {
	q := m.q
	var most, sum template.Requirements
	for _, name := range q.hardware {
		f := q.catalog.Hardware[name].Providers[q.provider]
		most = template.Requirements{CPU: max(most.CPU, f.CPU), MemoryGB: max(most.MemoryGB, f.MemoryGB), DiskGB: max(most.DiskGB, f.DiskGB),
			GPUs: max(most.GPUs, f.GPUs)}
	}
	for _, k := range core {
		if k.Kind == kindResources {
			n := q.catalog.Services[k.Services[0]].Needs
			most = template.Requirements{CPU: max(most.CPU, n.CPU), MemoryGB: max(most.MemoryGB, n.MemoryGB), DiskGB: max(most.DiskGB, n.DiskGB),
				GPUs: max(most.GPUs, n.GPUs)}
			sum = template.Requirements{CPU: sum.CPU + n.CPU, MemoryGB: sum.MemoryGB + n.MemoryGB, DiskGB: sum.DiskGB + n.DiskGB, GPUs: sum.GPUs + n.GPUs}
		}
	}
	sum = template.Requirements{CPU: max(sum.CPU, most.CPU), MemoryGB: max(sum.MemoryGB, most.MemoryGB), DiskGB: max(sum.DiskGB, most.DiskGB),
		GPUs: max(sum.GPUs, most.GPUs)}
	var out []remedy
	for _, offers := range []template.Requirements{most, sum} {
		if !slices.ContainsFunc(q.hardware, func(name string) bool { return atLeastAs(q.catalog.Hardware[name].Providers[q.provider], offers) }) {
			out = append(out, biggerHardware(q.provider, offers))
		}
	}
	return out
}

// atLeastAs reports whether a flavor has all that is wanted. What it does not state is not limited.
func atLeastAs(f template.Flavor, want template.Requirements) bool {
	return (f.CPU <= 0 || f.CPU >= want.CPU) && (f.MemoryGB <= 0 || f.MemoryGB >= want.MemoryGB) &&
		(f.DiskGB <= 0 || f.DiskGB >= want.DiskGB) && f.GPUs >= want.GPUs
}

// mostChanges is of how many things at once a fix may be.
const mostChanges = 32

// several finds one change of several things. As long as there is a conflict, one of its clauses is given up; then those
// are taken back that need not be, and the others are changed by as little as will do.
func (m *fixer) several(core []*clause) {
	kept := slices.Clone(m.q.clauses)
	var given []*clause
	for len(core) > 0 && len(given) < mostChanges && !m.q.ended {
		k := slices.MinFunc(core, cheaper)
		kept = slices.DeleteFunc(kept, func(o *clause) bool { return o == k })
		given = append(given, k)
		if found, known := m.q.possible(kept); !known {
			return
		} else if found {
			break
		}
		core, _ = m.q.smallest(kept)
	}
	for _, k := range slices.Clone(given) {
		if found, _ := m.q.possible(append(slices.Clone(kept), k)); found {
			kept = append(kept, k)
			given = slices.DeleteFunc(given, func(o *clause) bool { return o == k })
		}
	}
	slices.SortStableFunc(given, cheaper)
	m.together(given, kept)
}

// withoutSome leaves out services, always the one of which the conflict speaks most, until there is none any more. Then
// those are taken back that need not go.
func (m *fixer) withoutSome(core []*clause) {
	left := m.q.services
	var gone []string
	for q := m.q; ; {
		s := mostNamed(core)
		if s == "" || q.ended {
			return
		}
		var more []string
		if more, left = q.drop(s, left); len(left) == 0 {
			return
		}
		gone = append(gone, more...)
		r := m.q.request
		r.Services = left
		if found, known := m.q.ask(m.q.catalog, r); found {
			break
		} else if !known {
			return
		}
		q = newQuestion(m.q.ctx, m.q.solver, m.q.catalog, r)
		core, _ = q.smallest(q.clauses)
	}
	for _, s := range slices.Clone(gone) {
		r := m.q.request
		r.Services = request.Distinct(append(slices.Clone(left), s))
		if found, _ := m.q.ask(m.q.catalog, r); found {
			left = r.Services
			gone = slices.DeleteFunc(gone, func(o string) bool { return o == s })
		}
	}
	m.single(withoutThese(gone, left))
}

// mostNamed returns the service that most clauses name, the first by name among equals.
func mostNamed(core []*clause) string {
	times := map[string]int{}
	top := ""
	for _, k := range core {
		for _, s := range k.Services {
			times[s]++
		}
	}
	for _, s := range slices.Sorted(maps.Keys(times)) {
		if times[s] > times[top] {
			top = s
		}
	}
	return top
}

func cheaper(a, b *clause) int { return a.worth() - b.worth() }

// worth orders clauses by how much people would rather not give them up.
func (k *clause) worth() int {
	if k.hard() {
		return len(leftOutFirst)
	}
	return slices.Index([]string{kindSize, kindMax, kindMin, kindRatio, kindCant, kindHardware, kindImage, kindZones, kindHosts, kindMust,
		kindResources, kindPlaced, kindCompatibility}, k.Kind)
}

// together changes all the given clauses at once: for each in turn, the first remedy and the least step that will do.
func (m *fixer) together(given, kept []*clause) {
	type change struct {
		remedy
		step int
	}
	var lists [][]remedy
	var changes []change
	for _, k := range given {
		list := m.of(k, kept)
		if len(list) == 0 {
			return
		}
		last := list[len(list)-1]
		lists, changes = append(lists, list), append(changes, change{last, last.steps})
	}
	apply := func() *world {
		w := m.world()
		for _, c := range changes {
			c.apply(w, c.step)
		}
		return w
	}
	works := func() bool {
		w := apply()
		found, _ := m.q.ask(w.c, w.r)
		return found
	}
	if len(changes) == 0 || !works() {
		return
	}
	var texts []string
	rank := 0
	for i, list := range lists {
		last := changes[i]
		for _, r := range list {
			changes[i].remedy = r
			if changes[i].step = least(r.steps, func(step int) bool { changes[i].step = step; return works() }); changes[i].step > 0 {
				break
			}
			changes[i] = last
		}
		texts = append(texts, changes[i].text(changes[i].step))
		rank = max(rank, changes[i].rank)
	}
	if !m.q.ended && works() {
		m.keep(apply(), rank, 0, humanize.And(texts))
	}
}
