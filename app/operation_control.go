package app

import (
	"context"
	"fmt"
	"slices"
)

// CancelOperation stops an operation: nothing new of it starts, what runs is told to stop. With rollBack it is undone by
// itself once it has stopped. Operation 0 is the one under way. EConflict says what is possible instead.
func (a *App) CancelOperation(ctx context.Context, actor Actor, cluster string, operation int64, rollBack bool) (ClusterView, error) {
	return a.control(ctx, actor, "CancelOperation", cluster, operation, ActCancel, func(o Operation, c *Control) error {
		c.Act, c.RollBack = ControlCancel, rollBack
		if rollBack && !o.Kind.undoable() {
			return o.refuse(ActRollBack, true)
		}
		return nil
	})
}

// PauseOperation lets nothing new of an operation start, while what runs goes on to its end. Operation 0 is the one under
// way.
func (a *App) PauseOperation(ctx context.Context, actor Actor, cluster string, operation int64) (ClusterView, error) {
	return a.control(ctx, actor, "PauseOperation", cluster, operation, ActPause, func(_ Operation, c *Control) error {
		c.Act = ControlPause
		return nil
	})
}

// ResumeOperation goes on with an operation that is paused or has failed. Steps that failed have all their tries again.
// Operation 0 is the one under way, or else the latest.
func (a *App) ResumeOperation(ctx context.Context, actor Actor, cluster string, operation int64) (ClusterView, error) {
	return a.control(ctx, actor, "ResumeOperation", cluster, operation, ActResume, func(o Operation, c *Control) error {
		c.Act = ControlResume
		return a.checkStuck(ctx, o, "")
	})
}

// ResumeCluster is ResumeOperation for the operation that stands still.
func (a *App) ResumeCluster(ctx context.Context, actor Actor, id string) (ClusterView, error) {
	if err := actor.may("ResumeCluster"); err != nil {
		return ClusterView{}, err
	}
	return a.ResumeOperation(ctx, actor, id, 0)
}

// RetryNode lets what failed on one node be tried again; what failed on others stays as it is. The operation is the one
// under way, or else the latest where that has failed; one that is paused stays so.
func (a *App) RetryNode(ctx context.Context, actor Actor, cluster, node string) (ClusterView, error) {
	return a.control(ctx, actor, "RetryNode", cluster, 0, ActRetryNode, func(o Operation, c *Control) error {
		c.Act, c.Node = ControlResume, node
		if err := a.checkRetry(ctx, o, node); err != nil {
			return err
		}
		return a.checkStuck(ctx, o, node)
	})
}

// checkStuck refuses to go on with an operation, or on one node with it, where what is left to do needs machines that are gone.
func (a *App) checkStuck(ctx context.Context, o Operation, node string) error {
	if o.Status != OperationFailed {
		return nil
	}
	c, err := a.Store.Cluster(ctx, o.Tenant, o.Cluster)
	if err != nil {
		return err
	}
	p, err := a.plightOf(ctx, c)
	if err != nil || p.latest.ID != o.ID {
		return err
	}
	if ways := p.ways(); node == "" && !slices.Contains(ways, WayResume) && p.open.Stuck || node != "" && slices.Contains(p.lost, node) {
		verbs := make([]string, 0, len(ways))
		for _, w := range ways {
			verbs = append(verbs, w.Verb())
		}
		e := &Error{Code: EConflict, Reason: "lost_machines", Message: fmt.Sprintf("The %s can't go on: nothing can be done on %s, whose machine is gone.", o.Kind.Words(), p.lostWords()),
			Hint: "You can " + orList(verbs) + "."}
		if len(p.lost) > 1 {
			e.Message = fmt.Sprintf("The %s can't go on: nothing can be done on %s, whose machines are gone.", o.Kind.Words(), p.lostWords())
		}
		return e
	}
	return nil
}

// checkRetry tells a node that is not there from one on which nothing failed.
func (a *App) checkRetry(ctx context.Context, o Operation, node string) error {
	steps, err := a.Store.Steps(ctx, o.Tenant, o.ID)
	if err != nil {
		return err
	}
	var nodes, failed []string
	for _, s := range steps {
		nodes = append(nodes, s.Node)
		if s.State == StepFailed {
			failed = append(failed, s.Node)
		}
	}
	nodes, failed = slices.Compact(nodes), slices.Compact(failed)
	if slices.Contains(failed, node) {
		return nil
	}
	e := &Error{Code: EConflict, Reason: "nothing_failed", Message: fmt.Sprintf("Nothing of the %s failed on %s.", o.Kind.Words(), node), Field: "node"}
	if !slices.Contains(nodes, node) {
		e.Code, e.Reason, e.Message = ENotFound, "missing_node", fmt.Sprintf("The %s has no node %q.", o.Kind.Words(), node)
		if near := Nearest(node, nodes); near != "" {
			e.Hint = "Did you mean " + near + "? "
		}
	}
	if len(failed) > 0 {
		e.Hint += "It failed on " + someOf(failed, 5) + "."
	}
	return e
}

// someOf lists up to n names, and how many more there are.
func someOf(names []string, n int) string {
	if len(names) > n {
		return fmt.Sprintf("%s and %d more", joinNames(names[:n]), len(names)-n)
	}
	if len(names) < 2 {
		return joinNames(names)
	}
	return joinNames(names[:len(names)-1]) + " and " + names[len(names)-1]
}

func joinNames(names []string) string {
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}

// control is the part that all acts share: find it, ask whether the actor and its state allow it, do it. The store has
// the last word, since the state may change in between.
func (a *App) control(ctx context.Context, actor Actor, useCase, cluster string, operation int64, act Act, fill func(Operation, *Control) error) (ClusterView, error) {
	if err := actor.may(useCase); err != nil {
		return ClusterView{}, err
	}
	c, o, latest, err := a.operation(ctx, actor, cluster, operation)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange(useCase, c); err != nil {
		return ClusterView{}, err
	}
	if err := o.allows(act, latest); err != nil {
		return ClusterView{}, err
	}
	order := Control{Tenant: actor.Tenant, Operation: o.ID, Who: actor.User, Now: a.Now()}
	if err := fill(o, &order); err != nil {
		return ClusterView{}, err
	}
	if _, err := a.Store.ControlOperation(ctx, order); err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, c.ID)
}

// operation finds an operation of a cluster that the actor may see, and tells whether it is the latest one. 0 is the one
// that is under way or paused, or else the latest.
func (a *App) operation(ctx context.Context, actor Actor, cluster string, id int64) (c Cluster, o Operation, latest bool, err error) {
	if c, err = a.find(ctx, actor, cluster); err != nil {
		return c, o, false, err
	}
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return c, o, false, err
	}
	at := slices.IndexFunc(ops, func(o Operation) bool {
		return id != 0 && o.ID == id || id == 0 && !o.Status.Ended() && o.Status != OperationWaiting
	})
	if at < 0 && id == 0 { // nothing is under way
		at = slices.IndexFunc(ops, func(o Operation) bool { return !o.StartedAt.IsZero() || !o.Status.Ended() })
	}
	switch {
	case at >= 0:
		// What was called off before it began has changed nothing.
		followed := slices.ContainsFunc(ops[:at], func(o Operation) bool { return !o.StartedAt.IsZero() || !o.Status.Ended() })
		return c, ops[at], !followed, nil
	case id != 0:
		return c, o, false, Errorf(ENotFound, "Cluster %q has no operation %d.", c.Name, id)
	case len(ops) == 0:
		return c, o, false, Errorf(EConflict, "Nothing was asked of cluster %q yet.", c.Name)
	}
	return c, ops[0], true, nil // all were called off before they began
}
