package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver"
	"muster/solver/internal/bitset"
	"muster/solver/internal/request"
)

// refused is a change that cannot be made.
type refused struct{ *model }

// err says what holds a change that cannot be made, and what could be asked for instead, where that was found to
// work by trying. proven is false where not all ways were looked at.
func (m refused) err(ctx context.Context, proven bool) error {
	w := &deadline{ctx: ctx}
	sentence := m.held(w)
	if sentence == "" && m.moves {
		if _, err := solver.New().Solve(ctx, m.c, layout.Request{Template: m.r.Template, Size: m.low, Provider: m.provider,
			Services: m.services, Hardware: m.r.Hardware, Image: m.r.Image}); app.CodeOf(err) == app.ENoLayout {
			sentence = strings.TrimSuffix(app.AsError(err).Message, ".")
		}
	}
	if sentence == "" {
		sentence = "the constraints of template " + m.t.Name + " can't all be satisfied"
	}
	e := request.Refuse(app.ENoLayout, request.NoSolution, "", "This change isn't possible%s: %s.", m.still(), sentence)
	if !proven {
		e.Message = fmt.Sprintf("No way to make this change was found%s: %s.", m.still(), sentence)
	}
	e.Hint = m.way(ctx)
	return e
}

func (m refused) still() string {
	if m.moves {
		return ""
	}
	return " without moving services"
}

// held returns the first reason it finds, "" where it finds none.
func (m refused) held(w *deadline) string {
	if why := m.misfits(); why != "" {
		return why
	}
	if why := m.tooMany(); why != "" {
		return why
	}
	if why := m.homeless(); why != "" {
		return why
	}
	if m.high < len(m.standing) && !m.moves {
		return m.pinned(w)
	}
	return m.scarce()
}

// misfits names the nodes that may not stay as they are, where more of them than may go.
func (m refused) misfits() string {
	if m.moves {
		return ""
	}
	var lines []string
	total := 0
	for _, c := range m.classes {
		why := c.misfit
		if clash := m.clash(c); why == "" && clash != "" {
			why = "can't stay as " + verb(m.nodeNames(c), "it is", "they are") + ", since " + clash
		}
		if why != "" {
			total += len(c.nodes)
			lines = append(lines, humanize.Some(m.nodeNames(c), 8)+" "+why)
		}
	}
	if total <= max(0, len(m.standing)-m.high) {
		return ""
	}
	return strings.Join(lines[:min(len(lines), 4)], "; ")
}

func (m refused) nodeNames(c alike) []string {
	var out []string
	for _, i := range c.nodes {
		out = append(out, m.standing[i].Name)
	}
	return out
}

// nodesWith returns the names of the standing nodes with a service.
func (m refused) nodesWith(service string) []string {
	var out []string
	for _, n := range m.standing {
		if slices.Contains(n.Services, service) {
			out = append(out, n.Name)
		}
	}
	return out
}

// tooMany names a service that is on more nodes than it may be.
func (m refused) tooMany() string {
	if m.moves || m.mayGo() {
		return ""
	}
	for _, u := range m.units {
		for _, s := range u.services {
			if on := m.nodesWith(s); len(on) > u.max {
				return fmt.Sprintf("%s is on %s (%s), but can be on at most %d", s, humanize.Count(len(on), "node"), humanize.Some(on, 8), u.max)
			}
		}
	}
	return ""
}

// homeless names a service that must be on more nodes than can take it.
func (m refused) homeless() string {
	for i, u := range m.units {
		if u.min == 0 {
			continue
		}
		alone := bitset.New(m.words())
		alone.Add(i)
		isNew := m.mayGrow() && !u.cant && len(m.machinesFor(alone)) > 0
		can := 0
		for _, c := range m.classes {
			s := alone
			if !m.moves {
				s = c.stays.Clone()
				s.Add(i)
			}
			if c.misfit == "" && m.allowed(s, c.machine) && (u.fresh || m.moves || c.stays.Has(i) || !m.mayGo()) {
				can += len(c.nodes)
			}
		}
		if isNew {
			can += max(0, min(m.high, template.Unlimited/2)-len(m.standing))
		}
		can = min(can, m.high)
		who := humanize.Some(u.services, 8)
		switch {
		case u.min > u.max:
			return fmt.Sprintf("%s must be on at least %s, but can be on at most %d", who, humanize.Count(u.min, "node"), u.max)
		case can == 0:
			return "no node can run " + who
		case can < u.min:
			return fmt.Sprintf("%s must be on at least %s, but only %d can run %s", who, humanize.Count(u.min, "node"), can,
				verb(u.services, "it", "them"))
		}
	}
	return ""
}

// pinned says what keeps nodes from going.
func (m refused) pinned(w *deadline) string {
	var lines []string
	for _, u := range m.units {
		s := u.services[0]
		on := m.nodesWith(s)
		switch {
		case u.fresh || len(on) == 0 || len(on) > u.min:
		case u.min == 1:
			lines = append(lines, fmt.Sprintf("%s runs only on %s and can't move", humanize.Some(u.services, 8), on[0]))
		default:
			lines = append(lines, fmt.Sprintf("%s must be on at least %s and %s only on %s", humanize.Some(u.services, 8),
				humanize.Count(u.min, "node"), verb(u.services, "is", "are"), humanize.Some(on, 8)))
		}
	}
	if len(lines) > 4 {
		lines = append(lines[:4], fmt.Sprintf("and %d more like this", len(lines)-4))
	}
	most := ""
	if size, ok := m.smallest(w); ok {
		most = fmt.Sprintf("at most %d of the %s can be deleted", len(m.standing)-size, humanize.Count(len(m.standing), "node"))
		if size == len(m.standing) {
			most = "no node can be deleted"
		}
	}
	return joinNonEmpty("; ", most, strings.Join(lines, "; "))
}

func joinNonEmpty(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

// smallest returns the least number of nodes that can be reached.
func (m refused) smallest(w *deadline) (int, bool) {
	other := *m.model
	open, sizes := refused{&other}, m.t.Constraints.Size
	if open.low, open.high = sizes.Least(), len(m.standing)-1; len(sizes.OneOf) == 0 {
		if size, ok := open.reached(w); ok {
			return size, true
		}
	}
	for _, size := range sizes.OneOf {
		if open.low, open.high = size, size; size < len(m.standing) {
			if size, ok := open.reached(w); ok {
				return size, true
			}
		}
	}
	open.low, open.high = len(m.standing), len(m.standing)
	return open.reached(w)
}

// reached returns the number of nodes of the change found, or false where there is none.
func (m refused) reached(w *deadline) (int, bool) {
	if m.low > m.high {
		return 0, false
	}
	fates, _ := m.fates(manyOptions)
	counts, ok := m.choose(fates, w)
	if !ok {
		return 0, false
	}
	size := 0
	for i, f := range fates {
		size += counts[i] * intIf(!f.gone)
	}
	return size, true
}

// scarce says which added services are too much together.
func (m refused) scarce() string {
	var fresh []string
	for _, s := range m.services {
		if m.added[s] {
			fresh = append(fresh, s)
		}
	}
	if len(fresh) == 0 {
		return ""
	}
	if m.r.Size == 0 {
		return "the nodes can't run as many of " + humanize.Some(fresh, 8) + " as required"
	}
	return fmt.Sprintf("%s can't run as many of %s as required", humanize.Count(m.r.Size, "node"), humanize.Some(fresh, 8))
}

// way looks for something near that can be done.
func (m refused) way(ctx context.Context) string {
	var ways []string
	try := func(r layout.ChangeRequest, say func(layout.Change) string) {
		other, err := newModel(m.c, r)
		if err != nil {
			return
		}
		w := &deadline{ctx: ctx, ended: ctx.Err() != nil}
		fates, _ := other.fates(manyOptions)
		if counts, ok := other.choose(fates, w); ok {
			ways = append(ways, say(other.carryOut(fates, counts)))
		}
	}
	if r := m.r; r.Size > 0 {
		w := &deadline{ctx: ctx, ended: ctx.Err() != nil}
		if size, ok := m.smallest(w); ok && r.Size < len(m.standing) && !m.moves {
			ways = append(ways, fmt.Sprintf("use %d nodes instead of %d", size, r.Size))
		} else if r.Size >= len(m.standing) {
			r.Size = 0
			try(r, func(l layout.Change) string {
				n := 0
				for _, node := range l.Nodes {
					n += intIf(!node.Deleted)
				}
				return fmt.Sprintf("use %d nodes instead of %d", n, m.r.Size)
			})
		}
	}
	if r := m.r; !r.AllowMoves {
		r.AllowMoves = true
		try(r, func(l layout.Change) string {
			return fmt.Sprintf("allow services to move, which affects %s", humanize.Count(l.Touched, "machine"))
		})
	}
	if len(ways) == 0 {
		return ""
	}
	text := strings.Join(ways, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
