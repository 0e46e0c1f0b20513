package operation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/template"
)

// resize makes the cluster larger or smaller.
func resize(ctx context.Context, a *Builder, d *updateBuilder) error {
	if err := d.checkNodes(d.ask.Nodes); err != nil {
		return err
	}
	if len(d.ask.Nodes) > 0 {
		return dropNodes(ctx, a, d)
	}
	if d.ask.KeptMachine != "" {
		return reuse(ctx, a, d)
	}
	return d.change(ctx, a, layout.ChangeRequest{Nodes: d.existingNodes(), Size: d.ask.Size, Hardware: d.ask.Hardware, Image: d.ask.Image})
}

// dropNodes returns just the nodes that were named, where the others can stay as they are.
func dropNodes(ctx context.Context, a *Builder, d *updateBuilder) error {
	left := len(d.nodes) - len(d.ask.Nodes)
	switch {
	case left == 0:
		return cluster.InvalidUpdate("nodes", "This would delete all nodes.", "Delete the cluster instead.")
	case d.ask.Size != 0 && d.ask.Size != left:
		return cluster.InvalidUpdate("size", fmt.Sprintf("Deleting these nodes leaves %d nodes, not %d.", left, d.ask.Size), fmt.Sprintf("Omit the size, or set it to %d.", left))
	case d.ask.Hardware != "" || d.ask.Image != "":
		return cluster.InvalidUpdate("hardware", "Hardware and image don't apply when deleting nodes.", "Omit hardware and image.")
	}
	staying := slices.DeleteFunc(d.existingNodes(), func(n layout.ExistingNode) bool { return d.named[n.Name] })
	for _, s := range d.services {
		if !slices.ContainsFunc(staying, func(n layout.ExistingNode) bool { return slices.Contains(n.Services, s) }) {
			return &app.Error{Code: app.EInvalid, Field: "nodes", Reason: "last_of_service", Message: fmt.Sprintf("%s would no longer run on any node.", s),
				Hint: fmt.Sprintf("Remove %s first, or choose other nodes.", s)}
		}
	}
	change, err := a.changeLayout(ctx, d, layout.ChangeRequest{Nodes: staying, Size: left})
	if err != nil {
		return aboutNodes(err)
	}
	for _, n := range change.Nodes {
		if n.New || n.Deleted || len(n.Added)+len(n.Removed) > 0 {
			return &app.Error{Code: app.ENoLayout, Field: "nodes", Reason: "no_solution",
				Message: fmt.Sprintf("Without %s, %s would also have to change.", cluster.NodesInWords(d.ask.Nodes), n.Name), Hint: "Choose other nodes, or set only the size."}
		}
	}
	for i := range d.nodes {
		if d.named[d.nodes[i].Name] {
			d.nodes[i].Change = plan.NodeGone
		}
	}
	return nil
}

func aboutNodes(err error) error {
	e := *app.AsError(err)
	if e.Code == app.ENoLayout || e.Code == app.EInvalid {
		e.Field, e.Hint = "nodes", "Choose other nodes, or set only the size."
		return &e
	}
	return err
}

// addServices puts services of the catalog onto the cluster.
func addServices(ctx context.Context, a *Builder, d *updateBuilder) error {
	for _, s := range d.ask.Services {
		switch {
		case slices.Contains(d.services, s):
			return cluster.InvalidUpdate("services", fmt.Sprintf("%s is already on cluster %q.", s, d.Name), "Increase the size to run it on more nodes.")
		case d.catalog.Services[s] == nil:
			return cluster.InvalidUpdate("services", fmt.Sprintf("Service %q doesn't exist in the catalog.", s), humanize.DidYouMean(s, slices.Collect(maps.Keys(d.catalog.Services)), "See the services in the catalog."))
		}
	}
	err := d.change(ctx, a, layout.ChangeRequest{Nodes: d.existingNodes(), Add: d.ask.Services, Hardware: d.ask.Hardware, Image: d.ask.Image})
	if err != nil {
		return err
	}
	for _, s := range d.nodes.after().services() {
		if d.definition.Services[s] == nil {
			d.definition.Services[s] = d.catalog.Services[s]
			d.definition.Links = withLinks(d.definition.Links, d.catalog.Services[s].Links)
		}
	}
	return nil
}

// removeServices takes services off the cluster.
func removeServices(ctx context.Context, a *Builder, d *updateBuilder) error {
	if err := d.checkServices(d.ask.Services); err != nil {
		return err
	}
	if len(d.ask.Services) == len(d.services) {
		return cluster.InvalidUpdate("services", "This would remove all services.", "Delete the cluster instead.")
	}
	if err := d.change(ctx, a, layout.ChangeRequest{Nodes: d.existingNodes(), Remove: d.ask.Services}); err != nil {
		return err
	}
	for _, s := range d.ask.Services {
		delete(d.definition.Services, s)
	}
	d.definition.Links = slices.DeleteFunc(slices.Clone(d.definition.Links), d.onlyOfRemoved)
	return nil
}

// onlyOfRemoved reports whether a link came with a service that is removed, and with nothing else.
func (d *updateBuilder) onlyOfRemoved(l app.Link) bool {
	in := func(links []app.Link) bool {
		return slices.ContainsFunc(links, func(k app.Link) bool { return k.URL == l.URL })
	}
	if t := d.catalog.Templates[d.Template]; t != nil && in(t.Links) {
		return false
	}
	for _, s := range d.definition.Services {
		if in(s.Links) {
			return false
		}
	}
	return slices.ContainsFunc(d.ask.Services, func(s string) bool { return d.was.Services[s] != nil && in(d.was.Services[s].Links) })
}

// existingNodes returns the existing nodes, as the changer knows them: with the hardware that the layout chose, since constraints are about that.
func (d *updateBuilder) existingNodes() []layout.ExistingNode {
	out := make([]layout.ExistingNode, 0, len(d.standing.nodes))
	for _, n := range d.standing.nodes {
		out = append(out, layout.ExistingNode{Name: n.Name, Hardware: n.AskedHardware(), Image: n.Image, Zone: n.Zone, Services: slices.Sorted(slices.Values(n.Services))})
	}
	return out
}

// change finds the change of the layout and takes it over.
func (d *updateBuilder) change(ctx context.Context, a *Builder, r layout.ChangeRequest) error {
	change, err := a.changeLayout(ctx, d, r)
	if err != nil {
		return err
	}
	nodes := make([]cluster.UpdatedNode, 0, len(change.Nodes))
	for _, n := range change.Nodes {
		out := cluster.UpdatedNode{Name: n.Name, Hardware: d.hardwareOf(n), Image: n.Image, Zone: n.Zone, Services: orNone(n.Services), Added: n.Added, Removed: n.Removed, Reason: n.Why}
		switch {
		case n.New:
			d.last++
			out.Name, out.Change, out.Added = app.NodeName(d.last), plan.NodeNew, nil
			d.takeTypes(n.Hardware, n.Image)
		case n.Deleted:
			out.Change, out.Added, out.Removed = plan.NodeGone, nil, nil
		}
		nodes = append(nodes, out)
	}
	d.nodes = nodes
	d.takeFallbacks()
	if change.Unproven {
		d.note("Too many options to check them all. A change that affects fewer machines may exist.")
	}
	return nil
}

// takeTypes takes over from the catalog what new nodes are made of.
func (d *updateBuilder) takeTypes(hardware, image string) {
	if h := d.catalog.Hardware[hardware]; h != nil {
		if d.definition.Hardware == nil {
			d.definition.Hardware = map[string]template.Flavor{}
		}
		d.definition.Hardware[hardware] = h.Providers[d.Provider]
	}
	if i := d.catalog.Images[image]; i != nil {
		if d.definition.Images == nil {
			d.definition.Images = map[string]template.Image{}
		}
		d.definition.Images[image] = i.Providers[d.Provider]
	}
}

// hardwareOf returns what hardware a node is of that the changer speaks of.
func (d *updateBuilder) hardwareOf(n layout.ChangedNode) string {
	if !n.New {
		if is := d.node(n.Name); is != nil {
			return is.Hardware
		}
	}
	return n.Hardware
}

// takeFallbacks takes over from the template as it is now what new nodes may be made of instead.
func (d *updateBuilder) takeFallbacks() {
	t := d.catalog.Templates[d.Template]
	var fresh []template.Placed
	for _, n := range d.nodes {
		if n.Change == plan.NodeNew {
			fresh = append(fresh, template.Placed{Hardware: n.Hardware, Services: n.Services})
		}
	}
	if t != nil && len(fresh) > 0 {
		d.definition.TakeFallbacks(d.catalog, t, d.Provider, fresh)
	}
}

// changeLayout asks the changer, with the template and the provider of the cluster.
func (a *Builder) changeLayout(ctx context.Context, d *updateBuilder, r layout.ChangeRequest) (layout.Change, error) {
	if a.Changer == nil {
		return layout.Change{}, &app.Error{Code: app.EConflict, Reason: "no_changer", Message: "This server can't change cluster layouts.", Hint: "Ask the server's operator."}
	}
	if err := d.checkTemplate(); err != nil {
		return layout.Change{}, err
	}
	r.Template, r.Provider = d.Template, d.Provider
	change, err := a.Changer.Change(ctx, d.catalog, r)
	if e := app.AsError(err); err != nil && (e.Field == "add" || e.Field == "remove") {
		named := *e
		named.Field = "services" // as updates call them
		err = &named
	}
	return change, err
}

// checkTemplate refuses what needs the template's constraints when the catalog has no such template any more.
func (d *updateBuilder) checkTemplate() error {
	if d.catalog.Templates[d.Template] != nil {
		return nil
	}
	return &app.Error{Code: app.EConflict, Reason: "missing_template", Message: fmt.Sprintf("Cluster %q uses template %s, which is no longer in the catalog.", d.Name, d.Template),
		Hint: "Ask an admin to publish it again. You can still start, stop, restart, reconfigure and repair the cluster."}
}

// withLinks adds links that are not there yet.
func withLinks(links, more []app.Link) []app.Link {
	links = slices.Clone(links)
	for _, l := range more {
		if !slices.ContainsFunc(links, func(k app.Link) bool { return k.URL == l.URL }) {
			links = append(links, l)
		}
	}
	return links
}
