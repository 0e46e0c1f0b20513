package operation

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/cluster"
)

// undoneBy returns the operation that is undone where another one is rolled back: an accepted partial result is undone together with what it continued.
func (a *RollBacks) undoneBy(ctx context.Context, c app.Cluster, o app.Operation) (app.Operation, error) {
	if o.Kind != app.OperationAcceptPartial {
		return o, nil
	}
	ops, err := a.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return o, err
	}
	for _, of := range ops {
		if of.ID == o.Accepts {
			return of, nil
		}
	}
	return o, app.Errorf(app.EInternal, "operation %d, whose partial result %d accepts, doesn't exist", o.Accepts, o.ID)
}

// stepsToUndo returns what is to be undone where an operation is rolled back.
func (a *RollBacks) stepsToUndo(ctx context.Context, o, undone app.Operation, nodes []app.Node) ([]app.Step, error) {
	steps, err := a.Store.StepsAndJoins(ctx, o.Tenant, undone.ID)
	if err != nil || o.ID == undone.ID {
		return steps, err
	}
	more, err := a.Store.StepsAndJoins(ctx, o.Tenant, o.ID)
	if err != nil {
		return nil, err
	}
	return stepsTogether(steps, more, nodes), nil
}

// stepsTogether returns the steps of an operation and of the one that continued it as if they had been one. A step of both was begun
// where either has begun it. What only the second one does comes behind. Machines that the second one has given back are gone; those
// that it has still to give back count as made.
func stepsTogether(first, second []app.Step, nodes []app.Node) []app.Step {
	gone := map[string]bool{}
	for _, n := range nodes {
		if n.Status == app.NodeDeleted {
			gone[n.Name] = true
		}
	}
	var all []app.Step
	place := map[string]int{} // in all, by id
	last := -1
	for _, s := range first {
		last = max(last, s.Index)
		if s.Node != "" && gone[s.Node] {
			continue
		}
		if !s.Join {
			place[s.ID] = len(all)
		}
		all = append(all, s)
	}
	index := map[int]int{} // of the second one's steps, as they are numbered together
	for _, s := range second {
		if at, both := place[s.ID]; both && !s.Join {
			index[s.Index] = all[at].Index
			if s.Attempt > 0 || s.State == app.StepSucceeded {
				all[at].Attempt = max(all[at].Attempt, 1)
			}
			continue
		}
		if s.Action == app.ActionDelete && !s.Join {
			continue
		}
		own := s
		own.Index = last + 1 + s.Index
		own.Needs = nil
		for _, need := range s.Needs {
			if n, known := index[need]; known {
				own.Needs = append(own.Needs, n)
			}
		}
		slices.Sort(own.Needs)
		own.Needs = slices.Compact(own.Needs)
		if own.Join {
			own.ID = "accept_partial." + own.ID
		}
		index[s.Index] = own.Index
		all = append(all, own)
	}
	return all
}

// withoutPartial puts back what an accepted partial result has made of nodes that existed before what it continued.
func (a *RollBacks) withoutPartial(ctx context.Context, o app.Operation, change *cluster.Change) error {
	if o.Kind != app.OperationAcceptPartial || change == nil {
		return nil
	}
	before, _, err := a.Store.ChangeOf(ctx, o.Tenant, o.ID)
	if err != nil {
		return err
	}
	for node, services := range before.Nodes {
		if _, known := change.Nodes[node]; !known && !slices.Contains(change.Leaving, node) {
			change.Nodes[node] = services
		}
	}
	return nil
}
