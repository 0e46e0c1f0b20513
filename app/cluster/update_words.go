package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/plan"
)

// Title says in a few words what an update makes of its cluster: "Grow from 3 to 5 nodes".
func (p UpdatePreview) Title() string {
	switch p.Kind {
	case app.OperationResize:
		from, to := p.Before.Nodes, p.After.Nodes
		switch {
		case to > from:
			return fmt.Sprintf("Grow from %d to %s", from, humanize.Count(to, "node"))
		case to < from:
			return fmt.Sprintf("Shrink from %d to %s", from, humanize.Count(to, "node"))
		}
		return "Stay at " + humanize.Count(to, "node")
	case app.OperationAddServices:
		return "Add " + orServices(p.moved(func(n UpdatedNode) []string { return n.Added }))
	case app.OperationRemoveServices:
		return "Remove " + orServices(p.moved(func(n UpdatedNode) []string { return n.Removed }))
	case app.OperationReconfigure:
		return "Change configuration"
	case app.OperationStart, app.OperationStop, app.OperationRestart:
		services := p.moved(func(n UpdatedNode) []string { return slices.Collect(maps.Keys(n.Work)) })
		all := p.moved(func(n UpdatedNode) []string { return n.Services })
		if len(services) == len(all) && len(all) > 1 {
			return humanize.Upper(string(p.Kind)) + " all services"
		}
		return humanize.Upper(string(p.Kind)) + " " + orServices(services)
	case app.OperationCompare:
		return "Compare " + orServices(p.moved(func(n UpdatedNode) []string { return slices.Collect(maps.Keys(n.Work)) })) + " with current state"
	case app.OperationRun:
		return p.runTitle()
	case app.OperationUpgrade:
		return "Upgrade to the current catalog"
	case app.OperationRepair:
		if unhealthy := p.named(plan.NodeReplaced); len(unhealthy) > 0 {
			return "Repair " + NodesInWords(unhealthy)
		}
	}
	return humanize.Upper(p.Kind.Verb())
}

// Effects say what happens to whom, each in a sentence: "n4 and n5 are made." There are none where nothing is to be done.
func (p UpdatePreview) Effects() []string {
	var out []string
	say := func(nodes []string, one, many string) {
		switch len(nodes) {
		case 0:
		case 1:
			out = append(out, nodes[0]+" "+one)
		default:
			out = append(out, NodesInWords(nodes)+" "+many)
		}
	}
	say(p.named(plan.NodeNew), "is created.", "are created.")
	say(p.named(plan.NodeReplaced), "is replaced and keeps its name and services.", "are replaced and keep their names and services.")
	say(p.named(plan.NodeGone), "hands over its services and is deleted.", "hand over their services and are deleted.")
	for _, s := range p.moved(func(n UpdatedNode) []string { return n.Added }) {
		if on := p.standing(func(n UpdatedNode) bool { return slices.Contains(n.Added, s) }); len(on) > 0 {
			out = append(out, fmt.Sprintf("%s is added to %s.", s, NodesInWords(on)))
		}
	}
	for _, s := range p.moved(func(n UpdatedNode) []string { return n.Removed }) {
		if on := p.standing(func(n UpdatedNode) bool { return slices.Contains(n.Removed, s) }); len(on) > 0 {
			out = append(out, fmt.Sprintf("%s is removed from %s.", s, NodesInWords(on)))
		}
	}
	for _, s := range p.moved(func(n UpdatedNode) []string { return slices.Collect(maps.Keys(n.Work)) }) {
		for _, w := range serviceWorks {
			if on := p.standing(func(n UpdatedNode) bool { return n.Work[s] == w }); len(on) > 0 {
				out = append(out, fmt.Sprintf("%s is %s on %s.", s, w.Done(), NodesInWords(on)))
			}
		}
	}
	return out
}

// serviceWorks are the kinds of work, from what is felt least to what is felt most.
var serviceWorks = []plan.ServiceWork{plan.WorkCompare, plan.WorkConfigure, plan.WorkReload, plan.WorkStart, plan.WorkRestart, plan.WorkUpgrade, plan.WorkStop, plan.WorkStopConfigure}

// Touched reports whether anything is done on the node.
func (n UpdatedNode) Touched() bool {
	return n.Change != "" || len(n.Added)+len(n.Removed)+len(n.Work) > 0 || n.Runs
}

// named returns the nodes with a change.
func (p UpdatePreview) named(c plan.NodeChange) []string {
	var out []string
	for _, n := range p.Nodes {
		if n.Change == c {
			out = append(out, n.Name)
		}
	}
	return out
}

// standing returns those that stay and of which something is true.
func (p UpdatePreview) standing(is func(UpdatedNode) bool) []string {
	var out []string
	for _, n := range p.Nodes {
		if n.Change == "" && is(n) {
			out = append(out, n.Name)
		}
	}
	return out
}

// moved returns services of all nodes, sorted, each once.
func (p UpdatePreview) moved(of func(UpdatedNode) []string) []string {
	all := map[string]bool{}
	for _, n := range p.Nodes {
		for _, s := range of(n) {
			all[s] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// NodesInWords names nodes, in number order: "n1, n2 and n4", or of many "n3 to n9" or how many they are.
func NodesInWords(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "no nodes"
	case n <= 4:
		return humanize.And(names)
	case app.NodeNumber(names[0]) > 0 && app.NodeNumber(names[n-1])-app.NodeNumber(names[0]) == n-1:
		return names[0] + " to " + names[n-1]
	}
	return humanize.And([]string{strings.Join(names[:3], ", "), humanize.Count(len(names)-3, "other node")})
}

func orServices(names []string) string {
	if len(names) == 0 {
		return "services"
	}
	return humanize.And(names)
}
