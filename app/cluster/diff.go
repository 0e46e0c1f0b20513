package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/policy"
	apptemplate "muster/app/template"
)

// Moment is a cluster as it is, or as one of its operations left it.
type Moment struct {
	Cluster   string `json:"cluster"` // its id
	Name      string `json:"name"`
	Operation int64  `json:"operation,omitempty"` // 0: as it is now

	template, provider string
	size               int
	services           []string
	nodes              []app.Node   // nil where they are not known of that moment
	described          *app.Cluster // for its description and labels; nil where they are not known of that moment
	definition         Definition
}

// Title names the moment for people: "web", or "web@12".
func (m Moment) Title() string {
	if m.Operation == 0 {
		return m.Name
	}
	return m.Name + "@" + strconv.FormatInt(m.Operation, 10)
}

// Diff is in what two moments differ.
type Diff struct {
	A       Moment            `json:"a"`
	B       Moment            `json:"b"`
	Changes []app.ValueChange `json:"changes"` // in order of path; Before is of A, After of B
	Notes   []string          `json:"notes"`
}

// DiffClusters compares two clusters, or two moments of one: each is an id or a name, with "@" and the number of one of its
// operations for how that one left it. Both have to be the actor's to change, since configuration is compared; values that may be
// secret are not shown.
func (a *Specs) DiffClusters(ctx context.Context, actor app.Actor, first, second string) (Diff, error) {
	if err := actor.Authorize("DiffClusters"); err != nil {
		return Diff{}, err
	}
	x, err := a.moment(ctx, actor, first)
	if err != nil {
		return Diff{}, err
	}
	y, err := a.moment(ctx, actor, second)
	if err != nil {
		return Diff{}, err
	}
	return diffMoments(x, y), nil
}

// moment reads "web" or "web@12".
func (a *Specs) moment(ctx context.Context, actor app.Actor, text string) (m Moment, err error) {
	word, number, at := strings.Cut(text, "@")
	if at {
		if m.Operation, err = strconv.ParseInt(number, 10, 64); err != nil || m.Operation <= 0 {
			return m, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Enter an operation number after the @, not %.40q.", number), Hint: "For example: web@12. `muster cluster show` lists operations."}
		}
	}
	if word == "" {
		return m, &app.Error{Code: app.EInvalid, Message: "A cluster to compare is required.",
			Hint: "Enter a cluster, such as web, or a cluster after an operation, such as web@12."}
	}
	c, err := a.Clusters.FindCluster(ctx, actor, word)
	if err != nil {
		return m, err
	}
	if err := actor.MayChange("DiffClusters", c); err != nil {
		return m, err
	}
	m.Cluster, m.Name, m.template, m.provider = c.ID, c.Name, c.Template, c.Provider
	if !at {
		m.services, m.described = c.Services, &c
		if m.nodes, err = a.Store.Nodes(ctx, c.Tenant, c.ID); err != nil {
			return m, err
		}
		m.size = len(m.nodes)
		m.definition, err = a.Store.Definition(ctx, c.Tenant, c.ID)
		return m, err
	}
	left, err := a.Store.LeftBy(ctx, c.Tenant, c.ID, m.Operation)
	m.template, m.size, m.services, m.definition = left.Template, left.Size, left.Services, left.Definition
	return m, err
}

// diffMoments tells in what two moments differ. Nodes are compared one by one only where they are known of both.
func diffMoments(a, b Moment) Diff {
	d := Diff{A: a, B: b, Changes: []app.ValueChange{}, Notes: []string{}}
	add := func(path, before, after string) {
		if before != after {
			d.Changes = append(d.Changes, app.ValueChange{Path: path, Before: before, After: after})
		}
	}
	add("template", a.template, b.template)
	add("provider", a.provider, b.provider)
	add("size", strconv.Itoa(a.size), strconv.Itoa(b.size))
	add("services", strings.Join(a.services, ", "), strings.Join(b.services, ", "))
	if a.nodes != nil && b.nodes != nil {
		add("nodes", groupsText(a.nodes), groupsText(b.nodes))
	} else {
		d.Notes = append(d.Notes, "Nodes aren't compared: their hardware, image and services after past operations aren't kept.")
	}
	if a.described != nil && b.described != nil {
		add("description", a.described.Description, b.described.Description)
		for _, key := range sortedNames(a.described.Labels, b.described.Labels) {
			add(apptemplate.PathOf("labels", key), a.described.Labels[key], b.described.Labels[key])
		}
	}
	d.Changes = append(d.Changes, ChangesOf(a.definition, b.definition)...)
	for _, s := range sortedNames(a.definition.Services, b.definition.Services) {
		in, out := a.definition.Services[s] != nil, b.definition.Services[s] != nil
		if in != out {
			add(apptemplate.PathOf("services", s), hasText(in), hasText(out))
		}
	}
	for _, h := range sortedNames(a.definition.Hardware, b.definition.Hardware) {
		x, in := a.definition.Hardware[h]
		y, out := b.definition.Hardware[h]
		if in && out {
			add(apptemplate.PathOf("hardware", h), flavorText(x), flavorText(y))
		}
	}
	slices.SortStableFunc(d.Changes, func(x, y app.ValueChange) int { return strings.Compare(x.Path, y.Path) })
	return d
}

func hasText(has bool) string {
	if has {
		return "there"
	}
	return ""
}

func flavorText(f apptemplate.Flavor) string {
	return fmt.Sprintf("%s, %s per hour", f.Flavor, policy.Quantity(f.CostPerHour))
}

func groupsText(nodes []app.Node) string {
	var parts []string
	for _, g := range groupsOf(nodes) {
		parts = append(parts, fmt.Sprintf("%d × %s %s (%s)", g.Count, g.Hardware, g.Image, strings.Join(g.Services, ", ")))
	}
	return strings.Join(parts, "; ")
}

func sortedNames[T any](maps ...map[string]T) []string {
	var names []string
	for _, m := range maps {
		for n := range m {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
