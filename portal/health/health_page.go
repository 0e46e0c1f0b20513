package health

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/template"
	"muster/portal/page"
)

// Health is the page that tells how a cluster is, and where it is not what it should be.
type Health struct {
	Tabs   page.ClusterTabs
	Now    time.Time
	View   cluster.ClusterView
	Health health.ClusterHealth
	Drift  *operation.Drift // nil: not for this person
	Amends bool             // there are pages to amend it

	CanCheck bool // now, and this person may
	Started  bool // a check was asked for just now
}

// HealthMark is the mark of a state of health.
func HealthMark(s health.HealthState) string {
	switch s {
	case health.HealthHealthy:
		return "succeeded"
	case health.HealthSick, health.HealthUnreachable:
		return "failed"
	}
	return "waiting"
}

// HealthWords says in a line how a cluster is.
func HealthWords(now time.Time, h health.ClusterHealth) string {
	text := strings.ToUpper(string(h.State[:1])) + string(h.State[1:])
	switch {
	case h.State == health.HealthHealthy:
	case h.Reason != "":
		text += ": " + h.Reason
	case h.State == health.HealthUnknown && h.Note != "":
		return text + ": " + h.Note // it says when the last check was where that is why
	}
	if !h.LookedAt.IsZero() {
		text = strings.TrimSuffix(text, ".") + ". Looked at " + humanize.Ago(now, h.LookedAt) + "."
	}
	return text
}

// counts says how many nodes are how.
func (c Health) counts() string {
	var parts []string
	for _, x := range []struct {
		n    int
		word health.HealthState
	}{{c.Health.Healthy, health.HealthHealthy}, {c.Health.Sick, health.HealthSick}, {c.Health.Unreachable, health.HealthUnreachable}, {c.Health.Unknown, health.HealthUnknown}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	return strings.Join(parts, ", ")
}

func (c Health) repair() string {
	if c.Health.Repair == template.RepairAuto {
		return "by itself"
	}
	return "by people"
}

// mendURL leads to the form of the amendment that would mend something.
func (c Health) mendURL(m *cluster.Amendment) string {
	q := url.Values{"kind": {string(m.Kind)}}
	for _, n := range m.Nodes {
		q.Add("nodes", n)
	}
	return "/clusters/" + c.View.ID + "/change?" + q.Encode()
}

func mendWord(m *cluster.Amendment) string {
	if m.Kind == app.OperationUpgrade {
		return "Upgrade"
	}
	return "Repair"
}
