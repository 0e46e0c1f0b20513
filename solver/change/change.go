package change

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver"
	"muster/solver/internal/request"
)

// Changer finds how a standing cluster becomes the one that is wanted. It keeps nothing between questions, so one value
// serves everyone at once.
type Changer struct{}

var _ layout.Changer = (*Changer)(nil)

// New makes a changer.
func New() *Changer { return &Changer{} }

// Change returns the change that touches the fewest machines; among those with the fewest new ones; among those that put
// or drop the fewest services where no one asked for it; then the preferred one. Where the size is left open, as few
// nodes are added as can be, before all else. Nodes go only where a smaller size is asked for, or services may move.
//
// A template's wish that nodes with the same services be of the same types is kept among new nodes; those that stand
// keep their types. Errors are those of Solver: EInvalid or ENotFound for a request that cannot be asked, ENoLayout
// where it cannot be done, ETimeout where the context ends first.
func (*Changer) Change(ctx context.Context, c *template.Catalog, r layout.ChangeRequest) (layout.Change, error) {
	t := c.Templates[r.Template]
	if t == nil || r.Size != 0 || len(t.Constraints.Size.OneOf) == 0 {
		return changed(ctx, c, r)
	}
	// The template takes certain sizes only: the smallest of them that works, without a node going.
	var refused error
	for _, size := range t.Constraints.Size.OneOf {
		if size < len(r.Nodes) {
			continue
		}
		r.Size = size
		out, err := changed(ctx, c, r)
		if err == nil || ctx.Err() != nil {
			return out, err
		}
		if refused == nil {
			refused = err
		}
	}
	if refused == nil { // more nodes stand than it takes, which is said without a size
		r.Size = 0
		_, refused = changed(ctx, c, r)
	}
	return layout.Change{}, refused
}

func changed(ctx context.Context, c *template.Catalog, r layout.ChangeRequest) (layout.Change, error) {
	m, err := newModel(c, r)
	if err != nil {
		return layout.Change{}, err
	}
	fates, counts, err := m.decide(ctx)
	if err != nil {
		return layout.Change{}, err
	}
	out := m.carryOut(fates, counts)
	out.Unproven = m.unproven
	return out, nil
}

// decide returns what may become of nodes, and for how many it does.
func (m *model) decide(ctx context.Context) ([]fate, []int, error) {
	w := &deadline{ctx: ctx, ended: ctx.Err() != nil}
	fates, all := m.fates(manyOptions)
	if !all {
		if fates, counts, ok := m.grownBySolver(ctx); ok {
			return fates, counts, nil
		}
	}
	counts, ok := m.choose(fates, w)
	if !ok && !all && !w.ended { // before saying no, look further
		fates, all = m.fates(10 * manyOptions)
		counts, ok = m.choose(fates, w)
	}
	switch {
	case w.ended:
		return nil, nil, &app.Error{Code: app.ETimeout, Err: ctx.Err(), Message: fmt.Sprintf(
			"no answer was found in time for %s on %s", humanize.Count(len(m.services), "service"), humanize.Count(len(m.standing), "node"))}
	case !ok:
		return nil, nil, refused{m}.err(ctx, all)
	}
	if m.unproven = !all; m.unproven {
		fates, counts = m.polished(ctx, fates, counts)
	}
	return fates, counts, nil
}

// newModel checks the request and narrows it.
func newModel(c *template.Catalog, r layout.ChangeRequest) (*model, error) {
	m := &model{c: c, r: r, moves: r.AllowMoves}
	if err := m.takeNodes(); err != nil {
		return nil, err
	}
	if err := m.takeServices(); err != nil {
		return nil, err
	}
	m.t = c.Templates[r.Template]
	if m.t == nil {
		return nil, request.Refuse(app.ENotFound, request.MissingTemplate, "template", "cluster template %s doesn't exist.", r.Template)
	}
	m.r.Prefer = request.Preferred(r.Prefer, m.t)
	if r.Size < 0 {
		return nil, hinted(request.Refuse(app.EInvalid, request.BadRequest, "size", "Choose at least 1 node (you entered %d)", r.Size),
			"Omit the size to keep the current number of nodes.")
	}
	size := m.t.Constraints.Size
	if size.Max == 0 {
		size.Max = template.Unlimited
	}
	if m.low, m.high = r.Size, r.Size; r.Size == 0 {
		m.low, m.high = max(len(m.standing), size.Min), size.Max
	}
	if r.Size == 0 && len(m.standing) > size.Max {
		return nil, hinted(request.Refuse(app.EInvalid, request.WrongSize, "size",
			"the cluster has %s, and template %s allows at most %d", humanize.Count(len(m.standing), "node"), m.t.Name, size.Max),
			fmt.Sprintf("Choose a size of %d.", size.Max))
	}
	err := solver.Validate(c, layout.Request{Template: r.Template, Size: m.low, Provider: r.Provider, Services: m.services,
		Hardware: r.Hardware, Image: r.Image, Prefer: m.r.Prefer})
	if err != nil {
		return nil, m.blame(err)
	}
	m.provider = cmp.Or(r.Provider, m.t.Defaults.Provider)
	m.takeUnits()
	m.takeTypes()
	m.takeClasses()
	return m, nil
}

func hinted(e *app.Error, hint string) *app.Error {
	e.Hint = hint
	return e
}

// takeNodes checks the existing nodes and puts it in the order of numbers.
func (m *model) takeNodes() error {
	if len(m.r.Nodes) == 0 {
		return hinted(request.Refuse(app.EInvalid, request.BadRequest, "nodes", "the cluster has no nodes to change"), "Create a cluster instead.")
	}
	seen := map[string]bool{}
	for _, n := range m.r.Nodes {
		switch {
		case n.Name == "":
			return hinted(request.Refuse(app.EInvalid, request.BadRequest, "nodes", "a node has no name"), "Name each node.")
		case seen[n.Name]:
			return hinted(request.Refuse(app.EInvalid, request.BadRequest, "nodes", "two nodes have the name %s", n.Name),
				"List each node once.")
		}
		seen[n.Name] = true
		n.Services = slices.Clone(n.Services)
		sort.Strings(n.Services)
		for i, s := range n.Services {
			if i > 0 && n.Services[i-1] == s {
				return hinted(request.Refuse(app.EInvalid, request.BadRequest, "nodes", "node %s lists service %s twice", n.Name, s),
					"List each service of a node once.")
			}
			if m.c.Services[s] == nil && !slices.Contains(m.r.Remove, s) {
				return hinted(request.Refuse(app.EInvalid, request.MissingService, "nodes", "node %s has service %s, which doesn't exist",
					n.Name, s), fmt.Sprintf("Remove %s, or restore it in the catalog.", s))
			}
		}
		m.standing = append(m.standing, existingNode{n, numberOf(n.Name)})
	}
	slices.SortFunc(m.standing, func(a, b existingNode) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

// numberOf returns the number at the end of a node's name, or -1.
func numberOf(name string) int {
	start := strings.LastIndexFunc(name, func(r rune) bool { return r < '0' || r > '9' }) + 1
	n, err := strconv.Atoi(name[start:])
	if err != nil {
		return -1
	}
	return n
}

// takeServices finds which services the cluster has afterwards.
func (m *model) takeServices() error {
	m.added, m.removed = map[string]bool{}, map[string]bool{}
	stands := map[string]bool{}
	for _, n := range m.standing {
		for _, s := range n.Services {
			stands[s] = true
		}
	}
	for _, s := range m.r.Add {
		if stands[s] {
			return hinted(request.Refuse(app.EInvalid, request.BadRequest, "add", "%s is already on the cluster", s),
				"Add only services that the cluster doesn't have. To run a service on more nodes, increase the size.")
		}
		m.added[s] = true
	}
	for _, s := range m.r.Remove {
		switch {
		case m.added[s]:
			return hinted(request.Refuse(app.EInvalid, request.BadRequest, "remove", "%s is listed both to add and to remove", s), "Choose one of the two.")
		case !stands[s]:
			return hinted(request.Refuse(app.EInvalid, request.BadRequest, "remove", "%s isn't on the cluster", s),
				"The cluster has "+humanize.Some(sortedKeys(stands), 8)+".")
		}
		m.removed[s] = true
	}
	for s := range stands {
		if !m.removed[s] {
			m.services = append(m.services, s)
		}
	}
	for s := range m.added {
		m.services = append(m.services, s)
	}
	sort.Strings(m.services)
	if len(m.services) == 0 {
		if len(m.removed) == 0 {
			return hinted(request.Refuse(app.EInvalid, request.BadRequest, "nodes", "the nodes have no services"), "Add one.")
		}
		return hinted(request.Refuse(app.EInvalid, request.BadRequest, "remove", "a cluster needs at least one service"),
			"Delete the cluster instead.")
	}
	return nil
}

func sortedKeys(s map[string]bool) []string {
	out := make([]string, 0, len(s))
	for k := range s {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// blame tells a refusal that is due to what is removed from one that is due to what is added.
func (m *model) blame(err error) error {
	e := *app.AsError(err)
	if e.Reason == request.MissingDependency && len(m.removed) > 0 {
		if lines := m.orphans(); len(lines) > 0 {
			return &app.Error{Code: e.Code, Reason: e.Reason, Field: "remove", Message: strings.Join(lines, "\n"),
				Hint: "Remove those that require it too, or add what provides it."}
		}
	}
	if e.Field == "services" {
		e.Field = "nodes"
		if len(m.added) > 0 {
			e.Field = "add"
		}
	}
	return &e
}

// orphans returns a line for each service that requires something which only removed services gave.
func (m *model) orphans() []string {
	gives := func(s, need string) bool {
		service := m.c.Services[s]
		return s == need || service != nil && slices.Contains(service.Provides, need)
	}
	var lines []string
	for _, s := range m.services {
		of := m.c.Services[s]
		if of == nil {
			continue
		}
		for _, need := range slices.Concat(of.Install.Requires, of.Runtime.Requires) {
			if slices.ContainsFunc(m.services, func(other string) bool { return gives(other, need) }) {
				continue
			}
			for _, was := range sortedKeys(m.removed) {
				if line := fmt.Sprintf("%s requires %s, so %s cannot be removed.", s, need, was); gives(was, need) &&
					!slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}
