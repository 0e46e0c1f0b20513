package run

import (
	"net/url"
	"strconv"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/run"
	"muster/app/template"
	"muster/portal/page"
)

// Show is the page of a command.
type Show struct {
	run.View
	Now       time.Time
	Cluster   app.Cluster
	Tabs      page.ClusterTabs
	Nodes     []Node
	Cut       bool // there are more lines than are shown
	May       bool // run it again
	MayCancel bool
}

// Node is a node with what the command said there.
type Node struct {
	plan.RunResult
	Lines []app.LogLine
	Open  bool
}

// ID is that of the node's element.
func (n Node) ID() string { return "run-" + n.Node }

// openNodes is up to how many nodes are unfolded; of more, those on which it failed.
const openNodes = 4

func newShow(v run.View, lines []app.LogLine) Show {
	s := Show{View: v, Cut: len(lines) == mostLines}
	of := map[string][]app.LogLine{}
	for _, l := range lines {
		of[l.Node] = append(of[l.Node], l)
	}
	for _, r := range v.Results {
		open := len(v.Results) <= openNodes || r.State == app.StepFailed
		s.Nodes = append(s.Nodes, Node{RunResult: r, Lines: of[r.Node], Open: open})
	}
	return s
}

// took is how long the command ran on the node, or has run so far; "" before it began.
func (n Node) took(now time.Time) string {
	switch {
	case n.StartedAt.IsZero():
		return ""
	case n.EndedAt.After(n.StartedAt):
		return humanize.Duration(n.EndedAt.Sub(n.StartedAt))
	case n.State == app.StepRunning:
		return humanize.Duration(now.Sub(n.StartedAt).Truncate(time.Second))
	}
	return ""
}

// count is on how many nodes the command is in a state.
func (s Show) count(states ...app.StepState) (n int) {
	for _, r := range s.Results {
		for _, st := range states {
			if r.State == st {
				n++
			}
		}
	}
	return n
}

// word is the state of all of it.
func (s Show) word() string {
	switch s.Operation.Status {
	case app.OperationSucceeded:
		return "Succeeded"
	case app.OperationFailed:
		return "Failed"
	}
	return humanize.Upper(string(s.Operation.Status))
}

// again is the address of the form with the same command on nodes.
func (s Show) again(nodes []string) string {
	q := url.Values{"kind": {string(app.OperationRun)}, "nodes": nodes}
	if s.Run.Action == "" {
		q.Set("command", s.Run.Command)
	} else {
		q.Set("action", s.Run.Action)
	}
	for name, v := range s.Run.Parameters {
		q.Set("set-"+name, template.ParameterValueText(v))
	}
	return "/clusters/" + s.Cluster.ID + "/change?" + q.Encode()
}

// mostNamed is up to how many nodes an address names.
const mostNamed = 50

// failed are the nodes on which the command didn't succeed; none where they are too many for an address.
func (s Show) failed() (names []string) {
	for _, n := range s.Nodes {
		if n.State != app.StepSucceeded {
			names = append(names, n.Node)
		}
	}
	if len(names) > mostNamed {
		return nil
	}
	return names
}

// all are the nodes of the command; none where they are too many for an address, which then means all of the cluster.
func (s Show) all() (names []string) {
	for _, n := range s.Nodes[:min(len(s.Nodes), mostNamed+1)] {
		names = append(names, n.Node)
	}
	if len(names) > mostNamed {
		return nil
	}
	return names
}

func (s Show) logs(node string) string {
	q := url.Values{"operation": {strconv.FormatInt(s.Operation.ID, 10)}}
	if node != "" {
		q.Set("node", node)
	}
	return "/clusters/" + s.Cluster.ID + "/logs?" + q.Encode()
}

// streamClass is the class of a line.
func streamClass(s app.Stream) string {
	switch s {
	case family.StreamErr:
		return "l-err"
	case family.StreamSystem:
		return "l-sys"
	}
	return "l-out"
}
