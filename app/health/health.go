package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/template"
)

// State says in one word how a node or a cluster is.
type State string

// The states of health.
const (
	Unknown     State = "unknown"     // no one has looked yet
	Healthy     State = "healthy"     // all that was looked at works
	Unhealthy   State = "unhealthy"   // a service fails its check again and again; of a cluster: a node is unhealthy or unreachable
	Unreachable State = "unreachable" // no one gets in, again and again
)

// Text is the state as people read it.
func (s State) Text() string {
	if s == Unhealthy {
		return "unhealthy"
	}
	return string(s)
}

// missesToUnreachable is how often in a row a node must not have answered to count as unreachable.
const missesToUnreachable = 3

// NodeHealth is how a node is. Nodes that aren't listed are as healthy as their cluster was looked at.
type NodeHealth struct {
	Node    string    `json:"node"`
	State   State     `json:"state"`
	Since   time.Time `json:"since,omitzero"`
	Reasons []string  `json:"reasons"` // "web: GET :80/: connection refused"
	// Rounds in a row that it was unhealthy or unreachable, up to as many as matter; 0 where the machine that was is another one by now.
	Checks int `json:"checks,omitempty"`

	Machine string         `json:"-"` // that this was found of
	Misses  int            `json:"-"` // rounds in a row that it was not reached
	Counts  map[string]int `json:"-"` // failures in a row, by service
}

// Plain reports whether there is nothing to remember of the node.
func (h NodeHealth) Plain() bool {
	return h.State == Healthy && h.Misses == 0 && len(h.Counts) == 0
}

// Ill reports whether something is known to be wrong with the node.
func (h NodeHealth) Ill() bool { return h.State == Unhealthy || h.State == Unreachable }

// NodeFinding is what one check batch found of a node. The zero value: all works.
type NodeFinding struct {
	Node        string            `json:"node"`
	Unreachable string            `json:"unreachable,omitempty"` // why it could not be asked
	Wrong       map[string]string `json:"wrong,omitempty"`       // by service
}

// After is the node's health after a check batch. Need is after how many failures in a row a service is unhealthy, by service; most is how
// many check batches are counted.
func (h NodeHealth) After(f NodeFinding, machine string, need map[string]int, most int, at time.Time) NodeHealth {
	after := NodeHealth{Node: f.Node, State: h.State, Since: h.Since, Machine: machine, Reasons: []string{}}
	rounds, misses, counts := h.Checks, h.Misses, h.Counts
	if h.Machine != machine { // what was counted was another machine's
		rounds, misses, counts = 0, 0, nil
	}
	switch {
	case f.Unreachable != "":
		after.Misses, after.Counts = min(misses+1, missesToUnreachable), counts
		if after.Misses >= missesToUnreachable {
			after.State = Unreachable
		}
		after.Reasons = append(after.Reasons, f.Unreachable)
	default:
		unhealthy := false
		for _, s := range slices.Sorted(maps.Keys(f.Wrong)) {
			if after.Counts == nil {
				after.Counts = map[string]int{}
			}
			limit := max(need[s], 1)
			after.Counts[s] = min(counts[s]+1, limit)
			unhealthy = unhealthy || after.Counts[s] >= limit
			after.Reasons = append(after.Reasons, s+": "+f.Wrong[s])
		}
		switch {
		case unhealthy:
			after.State = Unhealthy
		case len(f.Wrong) == 0:
			after.State = Healthy
		case h.State == Unreachable: // it answers, and what it says has not been heard often enough
			after.State = Healthy
		}
	}
	if after.State == "" {
		after.State = Unknown
	}
	if after.State != h.State {
		after.Since = at
	}
	if after.Ill() {
		after.Checks = min(rounds+1, most)
	}
	return after
}

// Text says it in a line for people.
func (h NodeHealth) Text() string {
	if len(h.Reasons) == 0 {
		return h.Node + " is " + h.State.Text()
	}
	return fmt.Sprintf("%s is %s: %s", h.Node, h.State.Text(), strings.Join(h.Reasons, "; "))
}

// ClusterHealth is how a cluster is, from its nodes.
type ClusterHealth struct {
	State       State                 `json:"state"`
	Since       time.Time             `json:"since,omitzero"`
	Reason      string                `json:"reason,omitempty"`    // in a sentence; "" where it is healthy
	CheckedAt   time.Time             `json:"checked_at,omitzero"` // when the latest check batch ended
	NextAt      time.Time             `json:"next_at,omitzero"`    // when the next one is due; a cluster with a running operation, or asleep, waits
	Healthy     int                   `json:"healthy"`             // nodes
	Unhealthy   int                   `json:"unhealthy"`           // nodes
	Unreachable int                   `json:"unreachable"`         // nodes
	Unknown     int                   `json:"unknown"`             // nodes
	Nodes       []NodeHealth          `json:"nodes"`               // those of which there is more to say than that they are healthy, in number order
	Repair      template.HealthRepair `json:"repair"`
	Every       time.Duration         `json:"-"`              // from one check batch to the next
	Note        string                `json:"note,omitempty"` // what automatic repair waits for
}

// Of returns the health of a node by its name.
func (h *ClusterHealth) Of(node string) NodeHealth {
	for _, n := range h.Nodes {
		if n.Node == node {
			return n
		}
	}
	if h.State == Unknown {
		return NodeHealth{Node: node, State: Unknown, Reasons: []string{}}
	}
	return NodeHealth{Node: node, State: Healthy, Since: h.Since, Reasons: []string{}}
}

// mostReasonNodes is how many nodes are named in one sentence.
const mostReasonNodes = 5

// Sum works out state and reason of a cluster with so many nodes from those of which there is something to say. Looked reports whether a
// check batch has ended.
func (h *ClusterHealth) Sum(nodes int, looked bool) {
	h.Healthy, h.Unhealthy, h.Unreachable, h.Unknown = 0, 0, 0, 0
	var said []string
	reported := 0
	for _, n := range h.Nodes {
		reported++
		switch n.State {
		case Healthy:
			h.Healthy++
		case Unhealthy:
			h.Unhealthy++
		case Unreachable:
			h.Unreachable++
		default:
			h.Unknown++
		}
		if n.Ill() {
			said = append(said, n.Text())
		}
	}
	if looked {
		h.Healthy += max(nodes-reported, 0)
	} else {
		h.Unknown += max(nodes-reported, 0)
	}
	switch {
	case h.Unhealthy+h.Unreachable > 0:
		h.State = Unhealthy
	case !looked || nodes == h.Unknown:
		h.State = Unknown
	default:
		h.State = Healthy
	}
	if more := len(said) - mostReasonNodes; more > 0 {
		said = append(said[:mostReasonNodes], fmt.Sprintf("and %d more", more))
	}
	if h.Reason = strings.Join(said, "; "); h.Reason != "" {
		h.Reason += "."
	}
}

// LostMachines is how the message of a cluster begins of which machines are gone.
const LostMachines = "Lost machines: "

// LostNodes returns the nodes whose machines a cluster is said to have lost.
func LostNodes(c app.Cluster, nodes []app.Node) (lost []string) {
	for _, n := range nodes {
		if n.Lost() {
			lost = append(lost, n.Name)
		}
	}
	list, is := strings.CutPrefix(c.Message, LostMachines)
	if len(lost) > 0 || !is || c.Status != app.ClusterFailed {
		return lost
	}
	list, _, _ = strings.Cut(list, ".")
	for _, name := range strings.Split(list, ", ") {
		if slices.ContainsFunc(nodes, func(n app.Node) bool { return n.Name == name }) {
			lost = append(lost, name)
		}
	}
	return lost
}

func NodesInOrder(a, b string) int {
	if d := app.NodeNumber(a) - app.NodeNumber(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// CheckBatchTime is how long a check batch of so many nodes may take.
func CheckBatchTime(nodes int) time.Duration {
	return 2*time.Minute + time.Duration(nodes)*time.Second/8
}
