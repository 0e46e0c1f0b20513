package execution

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/template"
)

// repairsAtOnce is the maximum number of clusters repaired in one batch.
const repairsAtOnce = 20

// RepairDue is a cluster of which nodes have been ill for long, with all that decides whether Muster repairs it by itself.
type RepairDue struct {
	Cluster app.Cluster
	Policy  template.HealthPolicy
	Nodes   int                 // that the cluster has
	Ill     []health.NodeHealth // all that are unhealthy or unreachable, in number order
	// Interrupted are the nodes whose machines are taken away by their provider, as it has announced, or were, in number order.
	Interrupted []string
	Failures    int    // repairs in a row that did not succeed
	Note        string // that was kept last
	// The operation that was begun for it last, as it is now; 0 for none, or when it was judged.
	Repair       int64
	RepairStatus app.OperationStatus
	RepairVeto   string // why a hook did not let it happen; "" where none said no
	// Of the tenant.
	TenantNodes int   // of clusters with health checks
	TenantIll   int   // ill ones of them, and those that were repaired by themselves in the last hour
	Repairing   int64 // an operation that repairs another cluster of the tenant by itself, and has not ended; 0 for none
}

// RepairNote keeps what happened to it.
type RepairNote struct {
	Tenant    string
	Cluster   string
	Now       time.Time
	NextAt    time.Time // when to see to it again; zero: when nodes are ill next
	Operation int64     // that was begun; 0: none is to be judged
	Failures  int
	Note      string      // for people
	Tell      *app.Notice // written where the note is another one than before
}

// RepairChoice is what to do now.
type RepairChoice struct {
	Nodes   []string // to repair; none: nothing now
	Braked  bool     // too many are ill at once
	After   time.Duration
	Note    string
	Failure int // Failures from now on
	Judged  bool
}

const (
	// RepairWindow is how long nodes that were repaired by themselves count against the brake of their tenant.
	RepairWindow   = time.Hour
	repairLook     = 30 * time.Second // until the next look whether an obstacle is gone
	firstRepairGap = 10 * time.Minute // after a repair that failed; it doubles with each
	longRepairGap  = 6 * time.Hour
)

// brake is how many of so many nodes may be ill: the share of them, and one in any case.
func brake(nodes, percent int) int { return max(nodes*percent/100, 1) }

// Choose decides what to do about nodes that have been ill for long. It is pure.
func (d RepairDue) Choose() RepairChoice {
	c := RepairChoice{Failure: d.Failures, After: repairLook}
	if d.Repair > 0 {
		switch {
		case !d.RepairStatus.Ended():
			c.Note = fmt.Sprintf("Operation %d is repairing the cluster.", d.Repair)
			return c
		case d.RepairStatus == app.OperationSucceeded:
			c.Failure, c.Judged = 0, true
		default:
			c.Failure, c.Judged = d.Failures+1, true
			c.After = min(firstRepairGap<<min(c.Failure-1, 10), longRepairGap)
			c.Note = fmt.Sprintf("Repair operation %d is %s. Next attempt in %s.", d.Repair, d.RepairStatus, humanize.Duration(c.After))
			if d.RepairVeto != "" {
				c.Note = fmt.Sprintf("Repair operation %d is %s. %s Next attempt in %s.", d.Repair, d.RepairStatus, d.RepairVeto, humanize.Duration(c.After))
			}
			return c
		}
	}
	if d.Policy.Repair != template.RepairAuto {
		c.After = 0
		return c
	}
	ill := len(d.Ill)
	for _, n := range d.Ill {
		if n.Checks >= d.Policy.Rounds() || slices.Contains(d.Interrupted, n.Node) {
			c.Nodes = append(c.Nodes, n.Node)
		}
	}
	urgent := len(d.Interrupted) > 0 // to wait doesn't keep their machines
	for _, name := range d.Interrupted {
		if !slices.Contains(c.Nodes, name) {
			ill, c.Nodes = ill+1, append(c.Nodes, name)
		}
	}
	if len(c.Nodes) == 0 {
		c.After = 0
		return c
	}
	unwell := "unhealthy"
	if urgent {
		unwell = "unhealthy or about to be interrupted"
	}
	switch most, mostOfTenant := brake(d.Nodes, d.Policy.Share()), brake(d.TenantNodes, d.Policy.Share()); {
	case ill > most:
		c.Note = fmt.Sprintf("Automatic repair is paused: %d of %d nodes are %s at once, more than the limit of %d%%. Check for a common cause.",
			ill, d.Nodes, unwell, d.Policy.Share())
		c.Nodes, c.Braked = nil, true
	case d.TenantIll > mostOfTenant:
		c.Note = fmt.Sprintf("Automatic repair is paused: %d of the tenant's %d nodes are %s or were repaired within the last hour, more than the limit of %d%%.",
			d.TenantIll, d.TenantNodes, unwell, d.Policy.Share())
		c.Nodes, c.Braked = nil, true
	case d.Repairing > 0 && !urgent:
		c.Note = fmt.Sprintf("Operation %d is repairing another cluster. Clusters are repaired one at a time.", d.Repairing)
		c.Nodes = nil
	}
	return c
}

// tell is a notice about a repair that is not made, or went wrong.
func (d RepairDue) tell(at time.Time, title, text string) *app.Notice {
	return &app.Notice{At: at, Tenant: d.Cluster.Tenant, Kind: app.NoticeHealth, Cluster: d.Cluster.ID, Users: []string{d.Cluster.Owner}, About: app.ClusterSubject(d.Cluster.ID),
		Title: title, Text: text}
}

// HealthNotice tells that a cluster became unhealthy or well.
func HealthNotice(at time.Time, c app.Cluster, h health.ClusterHealth) app.Notice {
	n := app.Notice{At: at, Tenant: c.Tenant, Kind: app.NoticeHealth, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID)}
	if h.State == health.Healthy {
		n.Title, n.Text = fmt.Sprintf("Cluster %s is healthy again.", c.Name), "All health checks pass."
	} else {
		n.Title, n.Text = fmt.Sprintf("Cluster %s is unhealthy.", c.Name), h.Reason
	}
	return n
}
