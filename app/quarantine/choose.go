package quarantine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/template"
)

// MostKept is how many machines of a tenant are kept at the same time.
const MostKept = 10

// Choice is a failed machine that is kept.
type Choice struct {
	Node   string `json:"node"`
	Reason string `json:"reason"` // what failed, such as "n3.app.install failed"; nothing secret is in it

	node app.Node
}

// Selection is what is kept of an operation's failed machines.
type Selection struct {
	For      time.Duration `json:"for,omitempty"` // at first
	Machines []Choice      `json:"machines,omitempty"`
	Notes    []string      `json:"notes,omitempty"` // why others are deleted
}

// Nodes names the nodes whose machines are kept.
func (s Selection) Nodes() []string {
	var names []string
	for _, m := range s.Machines {
		names = append(names, m.Node)
	}
	return names
}

// Words say in a sentence what is kept; "" for nothing.
func (s Selection) Words() string {
	if len(s.Machines) == 0 {
		return ""
	}
	return fmt.Sprintf("Keeps %s for inspection for %s instead of deleting: %s.", humanize.Count(len(s.Machines), "failed machine"), humanize.Duration(s.For),
		strings.Join(s.Nodes(), ", "))
}

// Choose decides which of the machines of failed nodes are kept: those that exist and that the cluster's key opens, in the order of their numbers, as far
// as there is room. Failed says by node what failed. It is pure.
func Choose(keep template.KeepTime, nodes []app.Node, failed map[string]string, room int) Selection {
	s := Selection{For: keep.For()}
	if s.For == 0 || len(failed) == 0 {
		return Selection{}
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b app.Node) int { return health.NodesInOrder(a.Name, b.Name) })
	for _, n := range nodes {
		reason, is := failed[n.Name]
		switch {
		case !is:
		case n.MachineID == "" || n.Status == app.NodePlanned || n.Status == app.NodeDeleted:
			s.Notes = append(s.Notes, fmt.Sprintf("%s has no machine to keep.", n.Name))
		case n.Lost():
			s.Notes = append(s.Notes, fmt.Sprintf("The machine of %s is lost, so it can't be kept.", n.Name))
		case n.TakenFrom != "" && n.Pool != "":
			s.Notes = append(s.Notes, fmt.Sprintf("%s still has the key of its pool, so it can't be kept.", n.Name))
		case len(s.Machines) >= room:
			s.Notes = append(s.Notes, fmt.Sprintf("%s isn't kept: a tenant can keep at most %d failed machines.", n.Name, MostKept))
		default:
			s.Machines = append(s.Machines, Choice{Node: n.Name, Reason: reason, node: n})
		}
	}
	return s
}

// FailedIn returns, by node, what failed of steps: of each node the first step that ended with an error.
func FailedIn(steps []app.Step) map[string]string {
	failed := map[string]string{}
	for _, s := range steps {
		if s.Join || s.Node == "" || s.Error == "" || s.State != app.StepFailed && s.State != app.StepDropped || failed[s.Node] != "" {
			continue
		}
		failed[s.Node] = s.ID + " failed"
	}
	return failed
}

// Refused reports whether an operation was refused only because of the machines that it keeps: there is no room for them, by quota or by number.
// Without them it may be accepted.
func Refused(err error) bool {
	e := app.AsError(err)
	return err != nil && (e.Code == app.EQuota || e.Reason == ReasonFull || e.Reason == ReasonGone)
}

// Reasons of refusals.
const (
	ReasonFull = "kept_full"         // the tenant keeps as many as it may
	ReasonGone = "kept_machine_gone" // there is no machine to keep any more
)
