package operation

import (
	"context"
	"errors"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/window"
)

// windowChange is an update as maintenance windows see it.
func (d *updateBuilder) windowChange(who string, approved bool) window.Change {
	return window.Change{Tenant: d.Tenant, Cluster: d.ID, Kind: d.ask.Kind, Auto: who == app.HealthUser, Approved: approved, Harmless: harmless(d),
		Takes: d.preview.Duration}
}

// harmless reports whether an update disturbs nothing that runs, so that waiting for a window would only do harm: it brings an operation
// that failed to its end, or it touches only nodes that are new, or whose machines are gone or about
// to be.
func harmless(d *updateBuilder) bool {
	if d.ask.Kind == app.OperationRun || d.ask.Backfill || d.Status == app.ClusterFailed && d.kind() == app.OperationRepair {
		return true
	}
	// Machines that are taken away anyway don't wait for a window.
	urgent := func(n cluster.UpdatedNode) bool { return n.Change == plan.NodeReplaced && d.interrupted(n.Name) }
	if d.kind() == app.OperationRepair && slices.ContainsFunc(d.nodes, urgent) &&
		!slices.ContainsFunc(d.nodes, func(n cluster.UpdatedNode) bool {
			return n.Change == plan.NodeReplaced && !urgent(n) && !d.lost(n.Name)
		}) {
		return true
	}
	return !slices.ContainsFunc(d.nodes, func(n cluster.UpdatedNode) bool { return n.Touched() && n.Change != plan.NodeNew && !d.lost(n.Name) })
}

// foreseeWindow finds the window that an update waits for, and says so in its preview.
func (a *Submitter) foreseeWindow(ctx context.Context, who string, d *updateBuilder, approved bool) (err error) {
	if d.window, err = a.Windows.Wait(ctx, d.windowChange(who, approved)); err != nil || d.window.Window == nil {
		return err
	}
	d.preview.Window = &d.window
	d.preview.Notes = append(d.preview.Notes, d.window.Text)
	return nil
}

// passing are operations after which a cluster is what it was before: what waits for its window isn't given up because of them.
var passing = []app.OperationKind{app.OperationCompare, app.OperationSleep, app.OperationWake, app.OperationRestart, app.OperationRun}

// onlyPassed reports whether nothing has been done to a cluster since an operation but what leaves it as it was.
func onlyPassed(ops []app.Operation, since int64) bool {
	return !slices.ContainsFunc(ops, func(o app.Operation) bool {
		return o.ID > since && !(o.Status == app.OperationSucceeded && slices.Contains(passing, o.Kind))
	})
}

// passes reports whether what keeps a request from running may be over soon, so that it doesn't end by it.
func passes(reason string, r cluster.Request) bool {
	return reason == "operation_running" || reason == app.Locked || r.Status == cluster.RequestScheduled && reason == "cluster_"+string(app.ClusterAsleep)
}

// stillIll refuses a repair that Muster began by itself and that has waited, where its nodes are healthy by now.
func (a *Requests) stillIll(ctx context.Context, r cluster.Request, d *updateBuilder) error {
	if r.Owner != app.HealthUser || len(d.ask.Nodes) == 0 {
		return nil
	}
	ill, err := a.Builder.unhealthyNodes(ctx, d.standing)
	if err != nil {
		return err
	}
	var well []string
	for _, n := range d.ask.Nodes {
		if !slices.Contains(ill, n) {
			well = append(well, n)
		}
	}
	if len(well) == 0 {
		return nil
	}
	return clusterChanged(cluster.NodesInWords(well) + " became healthy again.")
}

// startScheduled starts a request whose maintenance window is open, or has it wait for another. Several servers may do this at once: one of
// them finds it as it was.
func (a *Requests) startScheduled(ctx context.Context, r cluster.Request) error {
	who := app.System(r.Tenant, app.Retrier)
	m := cluster.RequestMove{Tenant: r.Tenant, ID: r.ID, Act: cluster.RequestStart, Who: who, Now: a.Now()}
	err := a.start(ctx, &m, r)
	switch e := app.AsError(err); {
	case err == nil, e.Code == app.ENotFound, e.Reason == "cluster_changed", e.Code == app.ECancelled:
		return nil // it has ended, or another server was faster
	case e.Code == app.EInternal:
		return err
	case e.Reason == "requester_gone":
		return a.lapse(ctx, r, err)
	default:
		m.Reason = cutReason(strings.TrimSuffix(e.ForPeople(), "."))
	}
	// It can't run now. It is tried again while its window is open, and then in the next one.
	next, ok, err := a.retryIn(ctx, r)
	if err != nil || !ok {
		return err
	}
	m.Reason = "It couldn't start yet: " + m.Reason + "."
	m.Cluster, m.Operation, m.Window = nil, nil, &next
	_, err = a.Store.MoveRequest(ctx, m)
	if errors.Is(err, cluster.ErrNotReady) {
		return nil
	}
	return err
}

// start is a move of a request that is due.
func (a *Requests) start(ctx context.Context, m *cluster.RequestMove, r cluster.Request) error {
	if err := a.makeReady(ctx, m, r); err != nil {
		return err
	}
	if m.Window != nil && !r.Window.End.After(m.Now) {
		m.Reason = "Its maintenance window was missed."
	}
	_, err := a.Store.MoveRequest(ctx, *m)
	if errors.Is(err, cluster.ErrNotReady) {
		return nil
	}
	return err
}

// retryIn returns the window in which a request is tried again. Where there are none any more, it is tried soon.
func (a *Requests) retryIn(ctx context.Context, r cluster.Request) (window.Opening, bool, error) {
	now := a.Now()
	v, err := a.Windows.Of(ctx, app.Cluster{Tenant: r.Tenant, ID: r.Cluster})
	if err != nil {
		return window.Opening{}, false, err
	}
	soon := now.Add(window.RetryInterval)
	next := v.Now()
	if next == nil {
		o := *r.Window
		o.RetryAt = soon
		return o, true, nil
	}
	o := *next
	if !o.Start.After(now) {
		if o.RetryAt = soon; !o.End.After(soon) {
			if len(v.Next) < 2 {
				return o, true, nil
			}
			o = v.Next[1]
		}
	}
	return o, true, nil
}

// RunNow starts a request before its maintenance window, for admins, approvers, and those who may set the windows of a cluster that has its
// own. It takes a reason, which the requester gets to read.
func (a *Requests) RunNow(ctx context.Context, actor app.Actor, id int64, planHash, reason string) (cluster.Request, error) {
	if err := actor.Authorize("RunNow"); err != nil {
		return cluster.Request{}, err
	}
	r, err := a.request(ctx, actor, id)
	if err != nil {
		return cluster.Request{}, err
	}
	if err := a.mayRunNow(ctx, actor, r); err != nil {
		return cluster.Request{}, err
	}
	return a.move(ctx, cluster.RequestMove{Tenant: actor.Tenant, ID: id, Act: cluster.RequestRunNow, Who: actor, PlanHash: planHash, Reason: reason})
}

func (a *Requests) mayRunNow(ctx context.Context, actor app.Actor, r cluster.Request) error {
	if r.Status != cluster.RequestScheduled {
		return nil // the move says why not
	}
	c, err := a.Clusters.FindCluster(ctx, actor, r.Cluster)
	if app.CodeOf(err) == app.ENotFound {
		c, err = app.Cluster{Tenant: r.Tenant, ID: r.Cluster}, nil // an approver may see the request only
	}
	if err != nil {
		return err
	}
	v, err := a.Windows.Of(ctx, c)
	if err != nil || v.MayRunNow(actor, c) {
		return err
	}
	return &app.Error{Code: app.EForbidden, Reason: "not_runner", Message: "You aren't allowed to start changes before their maintenance window.",
		Hint: "Ask an approver or an admin."}
}
