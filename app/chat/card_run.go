package chat

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/secret"
)

// RunStore knows commands and how they ended.
type RunStore interface {
	// RunOf returns the command of an operation; ENotFound where it runs none.
	RunOf(ctx context.Context, tenant string, operation int64) (plan.Run, error)
	// RunExits returns how its steps ended that have an exit code, by index.
	RunExits(ctx context.Context, tenant string, operation int64) (map[int]plan.RunExit, error)
}

// Run is a command that a card follows. Its text and its parameters are left out: not everyone who sees the card may read them.
type Run struct {
	Action  string // of the template; "" is a command that a person typed
	Results []plan.RunResult
}

// addRun adds how far a command is on each node. If it failed, p.Lines are the last ones that it printed on nodes on which it did, with the node
// before each: a channel has more readers than the cluster, and what succeeded needs no look.
func (a *Cards) addRun(ctx context.Context, c Card, m *secret.Redactor, failed []app.Step, p *Progress) error {
	r, err := a.Runs.RunOf(ctx, c.Tenant, c.Operation)
	if err != nil {
		return err
	}
	steps, err := a.Store.Steps(ctx, c.Tenant, c.Operation)
	if err != nil {
		return err
	}
	exits, err := a.Runs.RunExits(ctx, c.Tenant, c.Operation)
	if err != nil {
		return err
	}
	p.Run = &Run{Action: r.Action, Results: plan.RunResults(cluster.MaskSteps(m, steps), exits)}
	p.Lines = nil
	if p.Operation.Status != app.OperationFailed {
		return nil
	}
	for _, s := range failed {
		lines, err := a.Store.Logs(ctx, c.Tenant, c.Cluster, cluster.LogFilter{Operation: c.Operation, Step: s.ID, Tail: true, Limit: failureLines})
		if err != nil {
			return err
		}
		for _, l := range lines {
			p.Lines = append(p.Lines, l.Node+" | "+m.Hide(l.Text))
		}
	}
	return nil
}
