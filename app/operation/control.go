package operation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
)

// ControlStore is what Controls needs of the database.
type ControlStore interface {
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	ControlOperation(ctx context.Context, c app.Control) (app.Operation, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
}

// ControlsConfig is what Controls is created from.
type ControlsConfig struct {
	Store      ControlStore
	Now        func() time.Time
	Views      *appcluster.Views
	Operations *Finder
}

// Controls cancels, pauses and resumes operations.
type Controls struct {
	ControlsConfig
}

// NewControls returns Controls on top of their needs.
func NewControls(c ControlsConfig) *Controls { return &Controls{ControlsConfig: c} }

// CancelOperation stops an operation: nothing new of it starts, what runs has to stop. With rollBack it is undone by
// itself once it has stopped. Operation 0 is the running one. EConflict says what is possible instead.
func (a *Controls) CancelOperation(ctx context.Context, actor app.Actor, cluster string, operation int64, rollBack bool) (appcluster.View, error) {
	return a.control(ctx, actor, "CancelOperation", cluster, operation, app.ActCancel, func(o app.Operation, c *app.Control) error {
		c.Act, c.RollBack = app.ControlCancel, rollBack
		if rollBack && !o.Kind.Undoable() {
			return o.Refuse(app.ActRollBack, true)
		}
		return nil
	})
}

// PauseOperation lets nothing new of an operation start, while what runs finishes. Operation 0 is the running one,
// way.
func (a *Controls) PauseOperation(ctx context.Context, actor app.Actor, cluster string, operation int64) (appcluster.View, error) {
	return a.control(ctx, actor, "PauseOperation", cluster, operation, app.ActPause, func(_ app.Operation, c *app.Control) error {
		c.Act = app.ControlPause
		return nil
	})
}

// ResumeOperation continues an operation that is paused or has failed. Steps that failed have all their tries again.
// Operation 0 is the running one, or else the latest.
func (a *Controls) ResumeOperation(ctx context.Context, actor app.Actor, cluster string, operation int64) (appcluster.View, error) {
	return a.control(ctx, actor, "ResumeOperation", cluster, operation, app.ActResume, func(o app.Operation, c *app.Control) error {
		c.Act = app.ControlResume
		if err := a.checkLocked(ctx, o, ""); err != nil {
			return err
		}
		return a.checkStuck(ctx, o, "")
	})
}

// ResumeCluster is ResumeOperation for the paused or failed operation.
func (a *Controls) ResumeCluster(ctx context.Context, actor app.Actor, id string) (appcluster.View, error) {
	if err := actor.Authorize("ResumeCluster"); err != nil {
		return appcluster.View{}, err
	}
	return a.ResumeOperation(ctx, actor, id, 0)
}

// RetryNode lets what failed on one node be tried again; what failed on others stays as it is. The operation is the one
// running, or else the latest where that has failed; one that is paused stays so.
func (a *Controls) RetryNode(ctx context.Context, actor app.Actor, cluster, node string) (appcluster.View, error) {
	return a.control(ctx, actor, "RetryNode", cluster, 0, app.ActRetryNode, func(o app.Operation, c *app.Control) error {
		c.Act, c.Node = app.ControlResume, node
		if err := a.checkRetry(ctx, o, node); err != nil {
			return err
		}
		if err := a.checkLocked(ctx, o, node); err != nil {
			return err
		}
		return a.checkStuck(ctx, o, node)
	})
}

// checkLocked refuses to continue a command, or one node of it, where it isn't done on a node that was locked meanwhile.
func (a *Controls) checkLocked(ctx context.Context, o app.Operation, node string) error {
	if o.Kind != app.OperationRun {
		return nil
	}
	nodes, err := a.Store.Nodes(ctx, o.Tenant, o.Cluster)
	if err != nil || !slices.ContainsFunc(nodes, func(n app.Node) bool { return n.Lock != nil }) {
		return err
	}
	steps, err := a.Store.Steps(ctx, o.Tenant, o.ID)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		left := func(s app.Step) bool { return s.Node == n.Name && s.State != app.StepSucceeded }
		if n.Lock != nil && (node == "" || node == n.Name) && slices.ContainsFunc(steps, left) {
			return errLockedNodes([]string{n.Name})
		}
	}
	return nil
}

// checkStuck refuses to continue an operation, or one node of it, where what is left to do needs machines that are gone.
func (a *Controls) checkStuck(ctx context.Context, o app.Operation, node string) error {
	if o.Status != app.OperationFailed {
		return nil
	}
	c, err := a.Store.Cluster(ctx, o.Tenant, o.Cluster)
	if err != nil {
		return err
	}
	p, err := a.Views.RecoveryOf(ctx, c)
	if err != nil || p.Latest.ID != o.ID {
		return err
	}
	if ways := p.Ways(); node == "" && !slices.Contains(ways, appcluster.RecoveryResume) && p.Open.Stuck || node != "" && slices.Contains(p.Lost, node) {
		verbs := make([]string, 0, len(ways))
		for _, w := range ways {
			verbs = append(verbs, w.Verb())
		}
		e := &app.Error{Code: app.EConflict, Reason: "lost_machines", Message: fmt.Sprintf("%s can't continue: the machine of %s is gone.", humanize.Upper(o.Kind.The()), p.LostWords()),
			Hint: "You can " + humanize.Or(verbs) + "."}
		if len(p.Lost) > 1 {
			e.Message = fmt.Sprintf("%s can't continue: the machines of %s are gone.", humanize.Upper(o.Kind.The()), p.LostWords())
		}
		return e
	}
	return nil
}

// checkRetry tells a node that is not there from one on which nothing failed.
func (a *Controls) checkRetry(ctx context.Context, o app.Operation, node string) error {
	steps, err := a.Store.Steps(ctx, o.Tenant, o.ID)
	if err != nil {
		return err
	}
	var nodes, failed []string
	for _, s := range steps {
		nodes = append(nodes, s.Node)
		if s.State == app.StepFailed {
			failed = append(failed, s.Node)
		}
	}
	nodes, failed = slices.Compact(nodes), slices.Compact(failed)
	if slices.Contains(failed, node) {
		return nil
	}
	e := &app.Error{Code: app.EConflict, Reason: "nothing_failed", Message: fmt.Sprintf("No step of this operation failed on %s.", node), Field: "node"}
	if !slices.Contains(nodes, node) {
		e.Code, e.Reason, e.Message = app.ENotFound, "missing_node", fmt.Sprintf("This operation has no node %q.", node)
		if near := humanize.Nearest(node, nodes); near != "" {
			e.Hint = "Did you mean " + near + "? "
		}
	}
	if len(failed) > 0 {
		e.Hint += "The failed nodes are " + humanize.Some(failed, 5) + "."
	}
	return e
}

// control is the part that all acts share: find it, ask whether the actor and its state allow it, do it. The store has
// the last word, since the state may change in between.
func (a *Controls) control(ctx context.Context, actor app.Actor, useCase, cluster string, operation int64, act app.Act, fill func(app.Operation, *app.Control) error) (appcluster.View, error) {
	if err := actor.Authorize(useCase); err != nil {
		return appcluster.View{}, err
	}
	c, o, latest, err := a.Operations.FindOperation(ctx, actor, cluster, operation)
	if err != nil {
		return appcluster.View{}, err
	}
	if err := actor.MayChange(useCase, c); err != nil && (act != app.ActCancel || !app.CancelsOwnRun(actor, o, c)) {
		return appcluster.View{}, err
	}
	if err := o.Allows(act, latest); err != nil {
		return appcluster.View{}, err
	}
	order := app.Control{Tenant: actor.Tenant, Operation: o.ID, Who: actor.User, Now: a.Now()}
	if err := fill(o, &order); err != nil {
		return appcluster.View{}, err
	}
	if _, err := a.Store.ControlOperation(ctx, order); err != nil {
		return appcluster.View{}, err
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}

// FindOperation finds an operation of a cluster that the actor may see, and reports whether it is the latest one. 0 is the one
// that is running or paused, or else the latest.
func (a *Finder) FindOperation(ctx context.Context, actor app.Actor, cluster string, id int64) (c app.Cluster, o app.Operation, latest bool, err error) {
	if c, err = a.Clusters.FindCluster(ctx, actor, cluster); err != nil {
		return c, o, false, err
	}
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return c, o, false, err
	}
	at := slices.IndexFunc(ops, func(o app.Operation) bool {
		return id != 0 && o.ID == id || id == 0 && !o.Status.Ended() && o.Status != app.OperationWaiting
	})
	if at < 0 && id == 0 { // nothing is running
		at = slices.IndexFunc(ops, func(o app.Operation) bool { return !o.StartedAt.IsZero() || !o.Status.Ended() })
	}
	switch {
	case at >= 0:
		// What was called off before it began has changed nothing.
		followed := slices.ContainsFunc(ops[:at], func(o app.Operation) bool { return !o.StartedAt.IsZero() || !o.Status.Ended() })
		return c, ops[at], !followed, nil
	case id != 0:
		return c, o, false, app.Errorf(app.ENotFound, "Cluster %q has no operation %d.", c.Name, id)
	case len(ops) == 0:
		return c, o, false, app.Errorf(app.EConflict, "Cluster %q has no operations yet.", c.Name)
	}
	return c, ops[0], true, nil // all were called off before they began
}
