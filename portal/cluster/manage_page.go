package cluster

import (
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/app/schedule"
	"muster/portal/page"
)

// Manage is the page of what can be done with a cluster besides its plans.
type Manage struct {
	Tabs  page.ClusterTabs
	Now   time.Time
	Actor app.Actor
	View  cluster.ClusterView
	// Schedule is when it sleeps and wakes.
	Schedule schedule.ClusterSchedule
	// Sharing is nil for those who may not change it. The others are what was typed into a form, and what is wrong with it.
	Sharing *cluster.ClusterSharing
	Who     string
	Access  app.Access
	Wrong   page.Complaint
}

// may tells whether the actor may do something to this cluster.
func (m Manage) may(useCase string) bool {
	return m.View.Status != app.ClusterDeleted && m.Actor.MayIn(useCase, m.View.Cluster)
}

// path is an address below the cluster's.
func (m Manage) path(rest string) string { return "/clusters/" + m.View.ID + "/" + rest }

// Power asks whether a cluster is to sleep, or to wake.
type Power struct {
	View    cluster.ClusterView
	Preview cluster.AmendPreview
	Notice  string
	May     bool
}

// PowerTitle is what the page is about.
func PowerTitle(k app.OperationKind, name string) string {
	if k == app.OperationWake {
		return "Wake " + name
	}
	return "Put " + name + " to sleep"
}

func (c Power) sentence() string {
	n := humanize.Count(len(c.View.Nodes), "machine")
	if c.Preview.Kind == app.OperationWake {
		return "Its " + n + " are started, and then its services, those that others need first."
	}
	return "Its services stop, those that need others first, and then its " + n + ". What is on them stays."
}

func (c Power) price() string {
	return humanize.Cost(c.Preview.Before.CostPerHour) + " → " + humanize.Cost(c.Preview.After.CostPerHour)
}

// Clone asks whether a clone is what is wanted.
type Clone struct {
	View    cluster.ClusterView
	Name    string
	Preview cluster.Preview
	Notice  string
}

func (c Clone) groups() []string {
	var out []string
	for _, g := range c.Preview.Layout.Groups {
		out = append(out, strconv.Itoa(g.Count)+" × "+g.Hardware+" with "+g.Image+": "+strings.Join(g.Services, ", "))
	}
	return out
}

func (c Clone) lease() string {
	if c.Preview.Lease == 0 {
		return "no end"
	}
	return humanize.Duration(c.Preview.Lease)
}

// refused tells that a policy says no.
func (c Clone) refused() bool {
	return c.Preview.Decision != nil && c.Preview.Decision.Outcome == policy.OutcomeRefuse
}

// refused tells that a policy says no.
func (c Power) refused() bool {
	return c.Preview.Decision != nil && c.Preview.Decision.Outcome == policy.OutcomeRefuse
}

// Diff is what two moments differ in, side by side.
type Diff struct {
	View cluster.ClusterView
	Diff cluster.ClusterDiff
}

// operations are the moments that the cluster can be compared with.
func (m Manage) operations() []app.Operation {
	var out []app.Operation
	for _, o := range m.View.Operations {
		if o.Status.Ended() && !o.StartedAt.IsZero() && len(out) < 20 {
			out = append(out, o)
		}
	}
	return out
}

func (m Manage) moment(o app.Operation) string {
	return m.View.ID + "@" + strconv.FormatInt(o.ID, 10)
}

// when writes a moment by the clock of the schedule's zone.
func (m Manage) when(t schedule.ScheduledTime) string {
	text := t.At.Format("Mon 2 Jan 15:04")
	if zone, err := time.LoadLocation(m.Schedule.Zone); err == nil {
		text = t.At.In(zone).Format("Mon 2 Jan 15:04 MST")
	}
	return text
}

func kindWord(k app.OperationKind) string {
	if k == app.OperationWake {
		return "wakes"
	}
	return "goes to sleep"
}
