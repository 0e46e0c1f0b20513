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
	appidle "muster/app/idle"
	"muster/app/template"
	"muster/app/usage"
	"muster/portal/page"
)

// List is the page of all clusters, or of those that match a filter.
type List struct {
	Now       time.Time
	Actor     app.Actor
	Query     url.Values // of the request
	Filter    app.ClusterFilter
	Page      cluster.Page
	Idle      map[string]appidle.View // that sleep or are deleted soon, by id
	Counts    app.ClusterCounts       // by status, of those that match the rest of the filter
	Templates []string                // the options
	Providers []string
	New       bool           // the actor can create one
	Month     *usage.Sum     // what the actor's machines have cost this month; nil if unknown
	Error     page.Complaint // the filter's error
}

// Offer sets the options from a catalog. The current choices are always among them.
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

// moving reports whether anything on the page is about to change.
func (l List) moving() bool {
	return slices.ContainsFunc(l.Page.Clusters, func(c app.ClusterSummary) bool { return Running(c.Operation) })
}

// Narrowed reports whether a filter is set.
func (l List) Narrowed() bool {
	f := l.Filter
	return f.Owner != "" || f.Status != "" || f.Template != "" || f.Provider != "" || f.Text != "" || l.label() != ""
}

// clusterStates are the statuses in display order, with their words.
var clusterStates = []struct {
	Status app.ClusterStatus
	Word   string
}{{app.ClusterActive, "active"}, {app.ClusterPending, "in progress"}, {app.ClusterAsleep, "asleep"}, {app.ClusterFailed, "failed"}}

// Summary counts the clusters in one line: "3 clusters: 2 active and 1 in progress. 1.24 per hour in total."
func (l List) Summary() string {
	live := l.Counts.Live()
	if live == 0 && (l.Filter.Owner != "" || l.Filter.Template != "" || l.Filter.Provider != "" || l.Filter.Text != "" || l.label() != "") {
		return "No clusters match."
	}
	if live == 0 {
		return "" // the list itself says so
	}
	var parts []string
	for _, s := range clusterStates {
		if n := l.Counts.By[s.Status]; n > 0 {
			parts = append(parts, humanize.CountOf(n, s.Word, s.Word))
		}
	}
	out := humanize.Count(live, "cluster") + ": " + humanize.And(parts) + "."
	if l.Counts.CostPerHour > 0 {
		out += " " + humanize.PerHour(l.Counts.CostPerHour, l.Counts.Currency) + " in total."
	}
	return out
}

// At is the address of the list's first page with one filter changed; an empty value removes it.
func (l List) At(name, value string) string {
	q := maps.Clone(l.Query)
	if q == nil {
		q = url.Values{}
	}
	q.Del("after")
	q.Del("format")
	q.Del("select")
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

// Then is the address of the next page.
func (l List) Then() string { return l.At("after", l.Page.Next) }

// MaySelect reports whether the actor can do any of what is done to selected clusters; the use cases have the last word.
func (l List) MaySelect(c app.ClusterSummary) bool {
	deleting := Running(c.Operation) && c.Operation.Kind == app.OperationDelete
	return c.Status != app.ClusterDeleted && !deleting && (l.Actor.MayIn("DeleteCluster", c.Cluster) || l.Actor.MayIn("SleepCluster", c.Cluster))
}

// Ticks reports whether any cluster can be selected.
func (l List) Ticks() bool { return slices.ContainsFunc(l.Page.Clusters, l.MaySelect) }

// Ticked reports whether all that are shown are selected, as the link for it asks.
func (l List) Ticked() bool { return l.Query.Get("select") == "all" }

// TickAll is the address of the same page with all clusters selected, or none.
func (l List) TickAll(all bool) string {
	q := maps.Clone(l.Query)
	if q == nil {
		q = url.Values{}
	}
	if q.Del("select"); all {
		q.Set("select", "all")
	}
	if len(q) == 0 {
		return "/clusters"
	}
	return "/clusters?" + q.Encode()
}

// label is what the list is filtered by, as typed.
func (l List) label() string { return strings.TrimSpace(l.Query.Get("label")) }

// labeled is the address of the clusters with a label.
func labeled(text string) string { return "/clusters?" + url.Values{"label": {text}}.Encode() }

// owner is the value of the owner field.
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
		return "Name"
	case app.SortLease:
		return "Expiry"
	case app.SortCost:
		return "Cost"
	}
	return "Newest first"
}

func Running(op *app.Operation) bool { return op != nil && !op.Status.Ended() }

func servicesLine(s []string) string { return strings.Join(s, ", ") }

// MonthLine states what the actor has spent this month.
func (l List) MonthLine() string {
	if l.Month.NodeHours == 0 {
		return "You have no costs this month."
	}
	return fmt.Sprintf("Your machines have cost %s this month (%s node hours).", humanize.Money(l.Month.Cost, l.Counts.Currency), page.Amount2(l.Month.NodeHours))
}
