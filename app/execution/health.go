package execution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/quarantine"
	"muster/app/template"
)

// HealthStore keeps what checks have found.
type HealthStore interface {
	// CheckHealth has the next check batch of a live cluster be due at once, unless one is running.
	CheckHealth(ctx context.Context, r CheckRequest) error
	// ClusterHealth returns how a cluster is; nil where it has no health checks.
	ClusterHealth(ctx context.Context, tenant, cluster string) (*health.ClusterHealth, error)
	NodeReports(ctx context.Context, tenant string, cluster string, node string, limit int) ([]health.NodeReport, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	// NoteRepair keeps what happened to the last look at a cluster that is to be repaired.
	NoteRepair(ctx context.Context, n RepairNote) error
	// RepairsDue returns clusters of which nodes have been ill for so long that they are to be repaired by themselves now.
	RepairsDue(ctx context.Context, now time.Time, limit int) ([]RepairDue, error)
}

// HealthConfig is what Health is created from. Only what says so may be nil.
type HealthConfig struct {
	Store    HealthStore
	Now      func() time.Time
	Clusters *appcluster.Finder
	Masks    *appcluster.Masks
	Views    *appcluster.Views
	Updates  *operation.Updates
}

// Health tells how clusters are, and has unhealthy nodes repaired.
type Health struct {
	HealthConfig
}

// NewHealth returns one on top of what c holds.
func NewHealth(c HealthConfig) *Health { return &Health{HealthConfig: c} }

// RepairUnhealthy begins the repairs that are due, where the templates say so and no brake holds them, and tells how many. Several servers
// may do this at the same time: a cluster takes one operation of two.
func (a *Health) RepairUnhealthy(ctx context.Context) (begun int, err error) {
	due, err := a.Store.RepairsDue(ctx, a.Now(), repairsAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, d := range due {
		began, err := a.repairUnhealthy(ctx, d)
		if began {
			begun++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("repairing %s: %w", d.Cluster.ID, err))
		}
	}
	return begun, errors.Join(errs...)
}

func (a *Health) repairUnhealthy(ctx context.Context, d RepairDue) (begun bool, err error) {
	c := d.Choose()
	now := a.Now()
	n := RepairNote{Tenant: d.Cluster.Tenant, Cluster: d.Cluster.ID, Now: now, Failures: c.Failure, Note: c.Note, Operation: d.Repair}
	if c.Judged {
		n.Operation = 0
	}
	if c.After > 0 {
		n.NextAt = now.Add(c.After)
	}
	if c.Braked {
		n.Tell = d.tell(now, fmt.Sprintf("Automatic repair of cluster %s is paused.", d.Cluster.Name), c.Note)
	}
	if c.Failure > d.Failures {
		n.Tell = d.tell(now, fmt.Sprintf("The repair of cluster %s failed.", d.Cluster.Name), c.Note)
	}
	if len(c.Nodes) > 0 {
		m, who := appcluster.Update{Kind: app.OperationRepair, Nodes: c.Nodes}, app.System(d.Cluster.Tenant, app.HealthUser)
		answer, err := a.Updates.Update(ctx, who, d.Cluster.ID, m)
		if quarantine.Refused(err) { // a healthy cluster matters more than what is kept
			m.KeepFailed = template.KeepOff
			answer, err = a.Updates.Update(ctx, who, d.Cluster.ID, m)
		}
		switch code := app.CodeOf(err); {
		case err == nil && answer.Operation > 0:
			begun = true
			n.Operation, n.Note = answer.Operation, fmt.Sprintf("Operation %d is repairing %s.", answer.Operation, humanize.Some(c.Nodes, 10))
		case err == nil && answer.Request != nil && answer.Request.Window != nil:
			w := answer.Request.Window
			n.NextAt, n.Note = w.Start.Add(firstRepairGap), "A repair is waiting for the maintenance window: "+w.Text()+"."
			n.Tell = d.tell(now, fmt.Sprintf("A repair of cluster %s is waiting for the maintenance window.", d.Cluster.Name), w.Text()+".")
		case code == app.EConflict && app.AsError(err).Reason == "already_scheduled":
			n.NextAt, n.Note = now.Add(firstRepairGap), app.AsError(err).ForPeople()
		case err == nil: // it waits for an approval
			n.NextAt, n.Note = now.Add(firstRepairGap), "A repair is waiting for approval."
		case code == app.EConflict: // an operation is running
			n.Note = app.AsError(err).ForPeople()
		case code == app.EInternal || code == app.ETransient || code == app.ETimeout || code == app.ERateLimit:
			return false, err
		default:
			n.Failures++
			n.NextAt = now.Add(min(firstRepairGap<<min(n.Failures-1, 10), longRepairGap))
			n.Note = "Automatic repair isn't possible: " + app.AsError(err).ForPeople()
			n.Tell = d.tell(now, fmt.Sprintf("Cluster %s can't be repaired automatically.", d.Cluster.Name), n.Note)
		}
	}
	return begun, a.Store.NoteRepair(ctx, n)
}

// Health tells how a cluster and its nodes are. Without health checks, the state is unknown and Note says why.
func (a *Health) Health(ctx context.Context, actor app.Actor, cluster string) (health.ClusterHealth, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Health", cluster)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	h, err := a.Views.ClusterHealth(ctx, c, nodes)
	switch {
	case err != nil:
		return health.ClusterHealth{}, err
	case h != nil:
		m, err := a.Masks.MaskFor(ctx, actor, c)
		if err != nil {
			return health.ClusterHealth{}, err
		}
		return *appcluster.MaskHealth(m, h), nil
	case c.Status == app.ClusterDeleted:
		return health.ClusterHealth{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	return health.ClusterHealth{State: health.Unknown, Nodes: []health.NodeHealth{}, Repair: template.RepairOff,
		Note: noHealthChecks}, nil
}

// CheckHealth has the next check of a cluster's health start at once instead of when it is due. What it returns is what is known before that
// check: it has ended when LookedAt is later.
func (a *Health) CheckHealth(ctx context.Context, actor app.Actor, cluster string) (health.ClusterHealth, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "CheckHealth", cluster)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	if err := actor.MayChange("CheckHealth", c); err != nil {
		return health.ClusterHealth{}, err
	}
	if c.Status == app.ClusterDeleted {
		return health.ClusterHealth{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	h, err := a.Store.ClusterHealth(ctx, c.Tenant, c.ID)
	if err != nil {
		return health.ClusterHealth{}, err
	}
	if h == nil {
		return health.ClusterHealth{}, &app.Error{Code: app.EConflict, Message: noHealthChecks, Hint: "Add a health check to the template, then upgrade the cluster."}
	}
	if why := health.Unchecked(c, len(health.LostNodes(c, nodes)) > 0); why != "" {
		return health.ClusterHealth{}, &app.Error{Code: app.EConflict, Message: why}
	}
	if err := a.Store.CheckHealth(ctx, CheckRequest{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: a.Now()}); err != nil {
		return health.ClusterHealth{}, err
	}
	return a.Health(ctx, actor, c.ID)
}

// NodeReports tells what the nodes of a cluster, or the named one, were found to be when they were bootstrapped last. Nodes
// that were not bootstrapped so far have none. ENotFound where there is no such node.
func (a *Health) NodeReports(ctx context.Context, actor app.Actor, cluster, node string) ([]health.NodeReport, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "NodeReports", cluster)
	if err != nil {
		return nil, err
	}
	reports, err := a.Store.NodeReports(ctx, actor.Tenant, c.ID, node, health.MaxNodeReports)
	if err != nil || node == "" || len(reports) > 0 {
		return reports, err
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Name == node {
			return reports, nil
		}
	}
	return nil, app.Errorf(app.ENotFound, "Cluster %q has no node %q.", c.Name, node)
}
