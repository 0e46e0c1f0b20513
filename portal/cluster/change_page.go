package cluster

import (
	"fmt"
	"net/url"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
	"muster/portal/page"
)

// ChangePanel holds the changes that can be requested for a cluster.
type ChangePanel struct {
	View      cluster.View
	Use       bool   // the actor can act on services only
	Busy      bool   // an operation is in progress, so no other can be requested
	Sizes     string // how many nodes the template allows, in words; "" if unknown
	Addable   []page.Choice
	Newer     string   // what an upgrade would change, in a few words; "" for nothing
	Unhealthy []string // nodes that a repair would replace
}

// Can reports whether a kind of change is possible in the cluster's current state.
func (p ChangePanel) Can(kind app.OperationKind) bool {
	return slices.Contains(p.View.Actions.Cluster, kind)
}

// link is the address of a change's preview. More holds names and values for its query.
func (p ChangePanel) link(kind app.OperationKind, more ...string) string {
	q := url.Values{"kind": {string(kind)}}
	for i := 0; i+1 < len(more); i += 2 {
		q.Add(more[i], more[i+1])
	}
	return "/clusters/" + p.View.ID + "/change?" + q.Encode()
}

// nodeLinks are the actions on one node.
func (p ChangePanel) nodeLinks(n app.Node) (links []app.Link) {
	can := p.View.Actions.On(n)
	add := func(k app.OperationKind, words string) {
		if slices.Contains(can, k) {
			links = append(links, app.Link{Label: words, URL: p.link(k, "nodes", n.Name)})
		}
	}
	for _, k := range powerKinds {
		add(k, humanize.Upper(string(k))+" services")
	}
	add(app.OperationRun, "Run command")
	add(app.OperationRepair, "Replace node")
	add(app.OperationResize, "Remove node")
	return links
}

// serviceLink is link for one service; "" for all.
func (p ChangePanel) serviceLink(kind app.OperationKind, service string) string {
	if service == "" {
		return p.link(kind)
	}
	return p.link(kind, "services", service)
}

// unhealthySentence names the nodes that a repair would replace.
func (p ChangePanel) unhealthySentence() string {
	what := "lost or unhealthy"
	if slices.ContainsFunc(p.View.Nodes, app.Node.Interrupted) {
		what = "lost, unhealthy or about to be interrupted"
	}
	return fmt.Sprintf("%s %s: %s.", humanize.CountOf(len(p.Unhealthy), "node is", "nodes are"), what, cluster.NodesInWords(p.Unhealthy))
}

// newChangePanel returns the changes possible for a cluster. Addable are services that the template allows.
func newChangePanel(v cluster.View, t *template.Template, addable []page.Choice) *ChangePanel {
	p := &ChangePanel{View: v, Addable: addable}
	if t != nil {
		p.Sizes = page.Sizes(t.Constraints.Size)
	}
	return p
}

// powerKinds are the actions on services, in the order of their buttons.
var powerKinds = []app.OperationKind{app.OperationRestart, app.OperationStop, app.OperationStart}

// powers are those of powerKinds that are possible now.
func powers(of []app.OperationKind) []app.OperationKind {
	return slices.DeleteFunc(slices.Clone(powerKinds), func(k app.OperationKind) bool { return !slices.Contains(of, k) })
}

// existingNodes are the nodes that exist and aren't being removed.
func existingNodes(v cluster.View) []app.Node {
	return slices.DeleteFunc(slices.Clone(v.Nodes), func(n app.Node) bool { return n.Status == app.NodeDeleted || n.Leaving })
}
