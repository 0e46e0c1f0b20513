package page

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
)

// ClusterList is the page of all clusters.
type ClusterList struct {
	Now      time.Time
	Clusters []app.ClusterSummary
	Deleted  bool          // those that are gone are shown too
	New      bool          // the actor may create one
	Month    *app.UsageSum // what the actor's machines cost this month so far; nil where that is not known
}

// Moving tells whether anything on the page is about to change by itself.
func (l ClusterList) Moving() bool {
	for _, c := range l.Clusters {
		if running(c.Operation) {
			return true
		}
	}
	return false
}

// Summary says in one sentence what is there: "3 clusters: 2 active and 1 in progress. 1.24 per hour in all."
func (l ClusterList) Summary() string {
	count := map[app.ClusterStatus]int{}
	live, cost := 0, 0.0
	for _, c := range l.Clusters {
		count[c.Status]++
		if c.Status != app.ClusterDeleted {
			live++
			cost += c.CostPerHour
		}
	}
	if live == 0 {
		return "No cluster is standing."
	}
	var parts []string
	for _, p := range []struct {
		s    app.ClusterStatus
		word string
	}{{app.ClusterActive, "active"}, {app.ClusterPending, "in progress"}, {app.ClusterAsleep, "asleep"}, {app.ClusterFailed, "failed"}} {
		if count[p.s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[p.s], p.word))
		}
	}
	out := Count(live, "cluster") + ": " + List(parts) + "."
	if cost > 0 {
		out += " " + Cost(cost) + " per hour in all."
	}
	return out
}

// Here is the address of the page as it is shown.
func (l ClusterList) Here() string {
	if l.Deleted {
		return "/clusters?deleted=true"
	}
	return "/clusters"
}

func running(op *app.Operation) bool { return op != nil && !op.Status.Ended() }

func servicesLine(s []string) string { return strings.Join(s, ", ") }
