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

// Manage is the page of a cluster's settings.
type Manage struct {
	Tabs  page.ClusterTabs
	Now   time.Time
	Actor app.Actor
	View  cluster.View
	// Schedule is the schedule for sleep and wake.
	Schedule schedule.ClusterSchedule
	// Wrong is what is wrong with the name of a clone.
	Wrong page.Complaint
}

// may reports whether the actor has the permission for a use case on this cluster.
func (m Manage) may(useCase string) bool {
	return m.View.Status != app.ClusterDeleted && m.Actor.MayIn(useCase, m.View.Cluster)
}

// path is an address under the cluster's.
func (m Manage) path(rest string) string { return "/clusters/" + m.View.ID + "/" + rest }

// Power is the confirmation page to put a cluster to sleep or wake it.
type Power struct {
	View    cluster.View
	Preview cluster.UpdatePreview
	Notice  string
	May     bool
}

// PowerTitle is the page's title.
func PowerTitle(k app.OperationKind, name string) string {
	if k == app.OperationWake {
		return "Wake " + name
	}
	return "Put " + name + " to sleep"
}

func (c Power) sentence() string {
	n := humanize.Count(len(c.View.Nodes), "machine")
	if c.Preview.Kind == app.OperationWake {
		return "Starts " + n + ", then the services in order of their dependencies."
	}
	return "Stops the services in order of their dependencies, then " + n + ". Data on the machines is kept."
}

func (c Power) price() string {
	return humanize.Price(c.Preview.Before.CostPerHour, c.Preview.Before.Currency) + " → " + humanize.Price(c.Preview.After.CostPerHour, c.Preview.After.Currency)
}

// Clone is the confirmation page for a clone.
type Clone struct {
	View    cluster.View
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
		return "no expiry"
	}
	return humanize.Duration(c.Preview.Lease)
}

// refused reports whether a policy refuses it.
func (c Clone) refused() bool {
	return c.Preview.Decision != nil && c.Preview.Decision.Outcome == policy.OutcomeRefuse
}

// refused reports whether a policy refuses it.
func (c Power) refused() bool {
	return c.Preview.Decision != nil && c.Preview.Decision.Outcome == policy.OutcomeRefuse
}

// Diff is the page of the differences between two states.
type Diff struct {
	View cluster.View
	Diff cluster.Diff
}

// operations are those whose results the cluster can be compared with.
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

// when writes a time in the schedule's zone.
func (m Manage) when(t schedule.ScheduledTime) string {
	text := t.At.UTC().Format("Mon 2 Jan 15:04 MST")
	if zone, err := time.LoadLocation(m.Schedule.Zone); err == nil {
		text = t.At.In(zone).Format("Mon 2 Jan 15:04 MST")
	}
	return text
}

func kindWord(k app.OperationKind) string {
	if k == app.OperationWake {
		return "wake"
	}
	return "sleep"
}
