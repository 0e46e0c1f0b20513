package health

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/health"
	"muster/app/humanize"
	"muster/portal/page"
)

// Checks is the page of a cluster's node checks.
type Checks struct {
	Tabs    page.ClusterTabs
	Cluster app.Cluster
	Now     time.Time
	Reports []health.NodeReport
	Nodes   int // of the cluster
}

// Sentence sums up the results.
func (c Checks) Sentence() string {
	if len(c.Reports) == 0 {
		return "No results yet. Muster checks each node when it bootstraps the node."
	}
	var failed, advised int
	for _, r := range c.Reports {
		switch {
		case len(r.Failed(health.NodeRequired)) > 0:
			failed++
		case len(r.Failed(health.NodeAdvised)) > 0:
			advised++
		}
	}
	text := fmt.Sprintf("%d of %s checked. ", len(c.Reports), humanize.Count(c.Nodes, "node"))
	if len(c.Reports) == c.Nodes {
		text = "All nodes checked. "
	}
	switch {
	case failed > 0:
		return text + humanize.Count(failed, "node") + " can't run services."
	case advised > 0:
		return text + "All can run services, but " + humanize.CountOf(advised, "node has", "nodes have") + " warnings."
	}
	return text + "No problems found."
}

// Ordered returns the nodes with problems first.
func (c Checks) Ordered() []health.NodeReport {
	trouble := func(r health.NodeReport) int {
		return 100*len(r.Failed(health.NodeRequired)) + len(r.Failed(health.NodeAdvised))
	}
	return slices.SortedStableFunc(slices.Values(c.Reports), func(x, y health.NodeReport) int { return trouble(y) - trouble(x) })
}

// checkMark is a check's result in a word.
func checkMark(c app.NodeCheck) string {
	switch {
	case c.Skipped != "":
		return "skipped"
	case c.OK:
		return "passed"
	case c.Level == health.NodeAdvised:
		return "warning"
	}
	return "failed"
}
