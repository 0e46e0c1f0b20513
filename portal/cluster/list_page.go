package cluster

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
	"muster/app/usage"
	"muster/portal/page"
)

// List is the page of all clusters, or of those that a filter lets through.
type List struct {
	Now       time.Time
	Actor     app.Actor
	Query     url.Values // as it was asked for
	Filter    app.ClusterFilter
	Page      cluster.ClusterPage
	Counts    app.ClusterCounts // by status, of what the filter lets through otherwise
	Templates []string          // to choose from
	Providers []string
	New       bool            // the actor may create one
	Month     *usage.UsageSum // what the actor's machines cost this month so far; nil where that is not known
	Error     page.Complaint  // what is wrong with the filter
}

// Offer takes what can be chosen from a catalog; what is chosen now can be, whatever it is.
func (l *List) Offer(c *template.Catalog) {
	with := func(names []string, chosen string) []string {
		if chosen != "" && !slices.Contains(names, chosen) {
			names = append(names, chosen)
		}
		slices.Sort(names)
		return names
	}
	l.Templates = with(slices.Collect(maps.Keys(c.Templates)), l.Filter.Template)
	l.Providers = with(slices.Collect(maps.Keys(c.Providers)), l.Filter.Provider)
}

// moving tells whether anything on the page is about to change by itself.
func (l List) moving() bool {
	return slices.ContainsFunc(l.Page.Clusters, func(c app.ClusterSummary) bool { return Running(c.Operation) })
}

// Narrowed tells whether a filter leaves something out.
func (l List) Narrowed() bool {
	f := l.Filter
	return f.Owner != "" || f.Status != "" || f.Template != "" || f.Provider != "" || f.Text != ""
}

// clusterStates are the statuses in the order in which they are shown, with a word for people.
var clusterStates = []struct {
	Status app.ClusterStatus
	Word   string
}{{app.ClusterActive, "active"}, {app.ClusterPending, "in progress"}, {app.ClusterAsleep, "asleep"}, {app.ClusterFailed, "failed"}}

// Summary says in one sentence what is there: "3 clusters: 2 active and 1 in progress. 1.24 per hour in all."
func (l List) Summary() string {
	live := l.Counts.Live()
	if live == 0 && (l.Filter.Owner != "" || l.Filter.Template != "" || l.Filter.Provider != "" || l.Filter.Text != "") {
		return "No cluster that stands fits."
	}
	if live == 0 {
		return "No cluster is standing."
	}
	var parts []string
	for _, s := range clusterStates {
		if n := l.Counts.By[s.Status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.Word))
		}
	}
	out := humanize.Count(live, "cluster") + ": " + humanize.And(parts) + "."
	if l.Counts.CostPerHour > 0 {
		out += " " + humanize.Cost(l.Counts.CostPerHour) + " per hour in all."
	}
	return out
}

// At is the address of the list with one thing changed and from its beginning; an empty value leaves it out.
func (l List) At(name, value string) string {
	q := maps.Clone(l.Query)
	if q == nil {
		q = url.Values{}
	}
	q.Del("after")
	q.Del("format")
	if name == "status" {
		q.Del("deleted")
	}
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	for k, v := range q {
		if len(v) == 0 || v[0] == "" {
			q.Del(k)
		}
	}
	if len(q) == 0 {
		return "/clusters"
	}
	return "/clusters?" + q.Encode()
}

// Then is the address of what comes after the page.
func (l List) Then() string { return l.At("after", l.Page.Next) }

// MayDelete tells whether the actor may ask for a cluster to be deleted; the use case has the last word.
func (l List) MayDelete(c app.ClusterSummary) bool {
	deleting := Running(c.Operation) && c.Operation.Kind == app.OperationDelete
	return c.Status != app.ClusterDeleted && !deleting && l.Actor.MayIn("DeleteCluster", c.Cluster)
}

// Ticks tells whether there is anything to tick.
func (l List) Ticks() bool { return slices.ContainsFunc(l.Page.Clusters, l.MayDelete) }

// owner is what stands in the field for the owner.
func (l List) owner() string {
	if l.Filter.Owner == l.Actor.Name() {
		return "me"
	}
	return l.Filter.Owner
}

// RowID is the id of a cluster's row.
func RowID(c app.ClusterSummary) string { return "r-" + c.ID }

func sortWords(s app.ClusterSort) string {
	switch s {
	case app.SortName:
		return "name"
	case app.SortLease:
		return "end of the lease"
	case app.SortCost:
		return "cost"
	}
	return "newest first"
}

func Running(op *app.Operation) bool { return op != nil && !op.Status.Ended() }

func servicesLine(s []string) string { return strings.Join(s, ", ") }

// DeleteMany asks whether several clusters are to be deleted, or tells what happened to it.
type DeleteMany struct {
	Now      time.Time
	Clusters []app.ClusterSummary // that will be, or are being, deleted
	Not      []Undeletable
	Done     bool
}

// Undeletable is a cluster that is not deleted, and why.
type Undeletable struct{ ID, Name, Why string }

// Nodes and CostPerHour are those of all of them.
func (d DeleteMany) Nodes() (n int) {
	for _, c := range d.Clusters {
		n += c.Size
	}
	return n
}

// CostPerHour is what they cost together.
func (d DeleteMany) CostPerHour() (x float64) {
	for _, c := range d.Clusters {
		x += c.CostPerHour
	}
	return x
}

// Busy is how many of them something is at work on.
func (d DeleteMany) Busy() (n int) {
	for _, c := range d.Clusters {
		if Running(c.Operation) {
			n++
		}
	}
	return n
}

func (d DeleteMany) title() string {
	if d.Done {
		return humanize.CountOf(len(d.Clusters), "cluster is being deleted", "clusters are being deleted")
	}
	return "Delete " + humanize.Count(len(d.Clusters), "cluster") + "?"
}

// MonthLine says what the actor has spent this month.
func (l List) MonthLine() string {
	if l.Month.NodeHours == 0 {
		return "This month your machines have cost nothing so far."
	}
	return fmt.Sprintf("This month your machines have cost %s in %s node hours.", page.Amount2(l.Month.Cost), page.Amount2(l.Month.NodeHours))
}
