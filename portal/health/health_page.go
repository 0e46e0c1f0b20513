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

// Health is the page of a cluster's health and drift.
type Health struct {
	Tabs    page.ClusterTabs
	Now     time.Time
	View    cluster.View
	Health  health.ClusterHealth
	Drift   *operation.Drift // nil: the actor can't see it
	Updates bool             // the actor can change the cluster

	CanCheck bool // the actor can start a check now
	Started  bool // a check was just requested
}

// Mark is the mark of a state of health.
func Mark(s health.State) string {
	switch s {
	case health.Healthy:
		return "succeeded"
	case health.Unhealthy, health.Unreachable:
		return "failed"
	}
	return "waiting"
}

// Words describes a cluster's health in one line.
func Words(now time.Time, h health.ClusterHealth) string {
	word := h.State.Text()
	text := strings.ToUpper(word[:1]) + word[1:]
	switch {
	case h.State == health.Healthy:
	case h.Reason != "":
		text += ": " + h.Reason
	case h.State == health.Unknown && h.Note != "":
		return text + ": " + h.Note // which says when the last check was, if that's the reason
	}
	if !h.CheckedAt.IsZero() {
		text = strings.TrimSuffix(text, ".") + ". Checked " + humanize.Ago(now, h.CheckedAt) + "."
	}
	return text
}

// counts counts the nodes by state.
func (c Health) counts() string {
	var parts []string
	for _, x := range []struct {
		n    int
		word health.State
	}{{c.Health.Healthy, health.Healthy}, {c.Health.Unhealthy, health.Unhealthy}, {c.Health.Unreachable, health.Unreachable}, {c.Health.Unknown, health.Unknown}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.word.Text()))
		}
	}
	return strings.Join(parts, ", ")
}

func (c Health) repair() string {
	if c.Health.Repair == template.RepairAuto {
		return "automatic"
	}
	return "manual"
}

// repairURL is the address of the form for the change that repairs an item.
func (c Health) repairURL(m *cluster.Update) string {
	q := url.Values{"kind": {string(m.Kind)}}
	for _, n := range m.Nodes {
		q.Add("nodes", n)
	}
	return "/clusters/" + c.View.ID + "/change?" + q.Encode()
}

func repairWord(m *cluster.Update) string {
	if m.Kind == app.OperationUpgrade {
		return "Upgrade"
	}
	return "Repair"
}
