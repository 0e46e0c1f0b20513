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

// again is the address of the form that runs the same command again, on the same nodes or those on which it failed.
func (s Show) again(failed bool) string {
	q := url.Values{"kind": {string(app.OperationRun)}, "again": {strconv.FormatInt(s.Operation.ID, 10)}}
	if failed {
		q.Set("failed", "yes")
	}
	return "/clusters/" + s.Cluster.ID + "/change?" + q.Encode()
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
