package health

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Settle makes unknown what the latest check batch found where that was too long ago, and counts nodes as unreachable whose machines the provider
// doesn't have any more, whatever a check batch found before.
func (h *ClusterHealth) Settle(c app.Cluster, nodes []app.Node, now time.Time) {
	lost := LostNodes(c, nodes)
	total := h.Healthy + h.Unhealthy + h.Unreachable + h.Unknown
	stale := h.Stale(c, len(lost) > 0, total, now)
	if stale != "" {
		h.Nodes, h.Since, h.Note = []NodeHealth{}, h.CheckedAt, stale
	}
	for _, name := range lost {
		h.Nodes = slices.DeleteFunc(h.Nodes, func(n NodeHealth) bool { return n.Node == name })
		h.Nodes = append(h.Nodes, NodeHealth{Node: name, State: Unreachable, Reasons: []string{"machine deleted or stopped at the provider"}})
	}
	if stale == "" && len(lost) == 0 {
		return
	}
	slices.SortStableFunc(h.Nodes, func(x, y NodeHealth) int { return NodesInOrder(x.Node, y.Node) })
	h.Sum(total, stale == "" && !h.CheckedAt.IsZero())
}

// Stale says why what was found last tells nothing of now. A check batch may be late by another one, and by the time that it takes.
func (h *ClusterHealth) Stale(c app.Cluster, lost bool, nodes int, now time.Time) string {
	if h.CheckedAt.IsZero() {
		return ""
	}
	age, why := now.Sub(h.CheckedAt), Unchecked(c, lost)
	switch {
	case c.Status == app.ClusterAsleep:
		return why
	case age <= h.Every:
	case why != "":
		return why
	case age > 2*h.Every+CheckBatchTime(nodes):
		return fmt.Sprintf("Last health check %s ago; expected every %s.", humanize.Duration(age), humanize.Exact(h.Every))
	}
	return ""
}

// Unchecked says why no check batch looks at a cluster as it is now; "" where check batches do.
func Unchecked(c app.Cluster, lost bool) string {
	switch {
	case c.Status == app.ClusterAsleep:
		return "Health isn't checked while the cluster is asleep."
	case c.Status == app.ClusterPending:
		return "Health isn't checked while an operation is running."
	case c.Status == app.ClusterFailed && !lost:
		return "Health isn't checked after a failed operation until the cluster is repaired."
	}
	return ""
}
