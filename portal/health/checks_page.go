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

// Checks is the page that tells what the nodes of a cluster were found to be.
type Checks struct {
	Tabs    page.ClusterTabs
	Cluster app.Cluster
	Now     time.Time
	Reports []health.NodeReport
	Nodes   int // that the cluster has
}

// Sentence sums it up.
func (c Checks) Sentence() string {
	if len(c.Reports) == 0 {
		return "No node was looked at so far. Nodes are looked at when they are bootstrapped."
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
	text := fmt.Sprintf("%d of %s looked at. ", len(c.Reports), humanize.Count(c.Nodes, "node"))
	if len(c.Reports) == c.Nodes {
		text = "All nodes were looked at. "
	}
	switch {
	case failed > 0:
		return text + humanize.Count(failed, "node") + " cannot take services."
	case advised > 0:
		return text + "All are fit for services; " + humanize.Count(advised, "node") + " may give some of them trouble."
	}
	return text + "All are as services need them."
}

// Ordered returns the nodes with trouble first.
func (c Checks) Ordered() []health.NodeReport {
	trouble := func(r health.NodeReport) int {
		return 100*len(r.Failed(health.NodeRequired)) + len(r.Failed(health.NodeAdvised))
	}
	return slices.SortedStableFunc(slices.Values(c.Reports), func(x, y health.NodeReport) int { return trouble(y) - trouble(x) })
}

// checkMark says in a word how a check came out.
func checkMark(c app.NodeCheck) string {
	switch {
	case c.Skipped != "":
		return "not checked"
	case c.OK:
		return "good"
	case c.Level == health.NodeAdvised:
		return "take care"
	}
	return "not fit"
}
