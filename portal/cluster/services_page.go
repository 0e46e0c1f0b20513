package cluster

import (
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	apphealth "muster/app/health"
	"muster/app/humanize"
	"muster/app/template"
	"muster/portal/output"
	"muster/portal/quarantine"

	"github.com/a-h/templ"
	"muster/portal/idle"
)

// ServiceLine is a service of a cluster with its nodes, state and links.
type ServiceLine struct {
	Name, Title string
	Nodes       []string // that have it
	Ready       int      // of them, the number that is ready
	Lost        int      // of them, the number whose machine is lost
	Stopped     []string // of them, those where it was stopped
	Unhealthy   []string // of them, those where its check fails or the machine is lost
	Why         string   // the problem on the first of those
	Links       []app.Link
}

// newServiceLines returns the services of a cluster by name, each with the links that it declares.
func newServiceLines(v cluster.View, c *template.Catalog, title func(kind, name string) string) []ServiceLine {
	var list []ServiceLine
	at := map[string]int{}
	for _, n := range existingNodes(v) {
		health := apphealth.NodeHealth{}
		if v.Health != nil && n.Status == app.NodeReady {
			health = v.Health.Of(n.Name)
		}
		for _, s := range n.Services {
			if _, ok := at[s]; !ok {
				at[s] = len(list)
				list = append(list, ServiceLine{Name: s, Title: title("service", s)})
			}
			l := &list[at[s]]
			l.Nodes = append(l.Nodes, n.Name)
			if n.Status == app.NodeReady && !n.Lost() {
				l.Ready++
			}
			if n.Lost() {
				l.Lost++
			}
			if slices.Contains(n.Stopped, s) {
				l.Stopped = append(l.Stopped, n.Name)
			} else if why := serviceTrouble(health, s); why != "" || n.Lost() {
				if n.Lost() {
					why = "The machine no longer exists."
				}
				if l.Unhealthy = append(l.Unhealthy, n.Name); l.Why == "" {
					l.Why = why
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b ServiceLine) int { return strings.Compare(a.Name, b.Name) })
	for i := range list {
		list[i].Links = linksOfService(v, c, list[i].Name)
	}
	return list
}

// serviceTrouble says what is wrong with a service of an unhealthy node; "" for nothing.
func serviceTrouble(h apphealth.NodeHealth, service string) string {
	if !h.Ill() {
		return ""
	}
	for _, r := range h.Reasons {
		if why, ok := strings.CutPrefix(r, service+": "); ok {
			return why
		}
	}
	if h.State == apphealth.Unreachable {
		return h.Text()
	}
	return ""
}

// linksOfService are those of the cluster's links that a service of the catalog declares.
func linksOfService(v cluster.View, c *template.Catalog, service string) []app.Link {
	if c == nil || c.Services[service] == nil {
		return nil
	}
	var out []app.Link
	for _, l := range followable(v) {
		if slices.ContainsFunc(c.Services[service].Links, func(d app.Link) bool { return d.Label == l.Label }) {
			out = append(out, l)
		}
	}
	return out
}

// state is a service's state as a mark and a few words.
func (l ServiceLine) state(c Show) (mark, words string) {
	switch {
	case c.View.Status == app.ClusterAsleep:
		return "ready", "asleep"
	case len(l.Unhealthy) > 0:
		return "failed", "unhealthy on " + cluster.NodesInWords(l.Unhealthy)
	case len(l.Stopped) == len(l.Nodes):
		return "dropped", "stopped"
	case len(l.Stopped) > 0:
		return "queued", "stopped on " + cluster.NodesInWords(l.Stopped)
	case Running(c.Operation()):
		done, all := stepsOfServices(c, l.Name)
		if all > done {
			return "running", fmt.Sprintf("%d of %s", done, humanize.Count(all, "step"))
		}
	}
	switch {
	case l.Ready < len(l.Nodes):
		return "waiting", "not ready yet"
	case c.View.Health != nil && c.View.Health.State != apphealth.Unknown:
		return "succeeded", "healthy"
	case c.View.Status == app.ClusterFailed:
		return "waiting", "unknown"
	}
	return "succeeded", "started"
}

// nodesThere counts the nodes with a machine that aren't being removed.
func (c Show) nodesThere() (n int) {
	for _, node := range existingNodes(c.View) {
		if !node.Lost() {
			n++
		}
	}
	return n
}

// servicesChange reports whether services can be started or stopped now.
func (c Show) servicesChange() bool {
	return c.Change != nil && !c.Change.Busy && len(powers(c.View.Actions.Cluster)) > 0
}

// stepsOfServices counts the steps of the latest operation that are about a service.
func stepsOfServices(c Show, service string) (done, all int) {
	for _, s := range c.Steps {
		if s.Service == service && !s.Join {
			all++
			if s.State.Ended() {
				done++
			}
		}
	}
	return done, all
}

// Part is a piece of a page that updates live; its root element has the id.
type Part struct {
	ID        string
	Component templ.Component
}

// Parts are the pieces of the cluster's page that update live, besides its plan, nodes and log.
func (c Show) Parts() []Part {
	if c.Pinned != nil {
		return []Part{{"now", OperationNow(c)}}
	}
	parts := []Part{
		{"head", Head(c)}, {"now", Current(c)}, {"idle", idle.Banner(c.Idle, c.Now)}, {"questions", ManualSteps(c)}, {"waiting", Wait(c)},
		{"facts", Facts(c)}, {"outputs", output.Section(c.Outputs)},
		{"services", Services(c)}, {"change", Change(c)}, {"more", More(c)}, {"kept", quarantine.Section(c.Actor, c.Now, c.Kept)},
	}
	if c.Lease != nil {
		parts = append(parts, Part{"lease", Lease(*c.Lease)})
	}
	return parts
}

// nodesInWords counts the nodes by state.
func (c Show) nodesInWords() string {
	count := map[string]int{}
	for _, n := range c.View.Nodes {
		count[n.State()]++
	}
	var parts []string
	for _, s := range []string{"lost", string(app.NodeReady), string(app.NodeCreated), string(app.NodePlanned), string(app.NodeDeleted)} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(parts, ", ")
}
