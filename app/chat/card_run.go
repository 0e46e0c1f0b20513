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

// addRun adds how far a command is on each node. Once it ended, p.Lines are the last ones that it printed, with the node before each: those of
// nodes on which it failed, if there are any.
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
	if !p.Operation.Status.Ended() {
		return nil
	}
	filters := []cluster.LogFilter{{}}
	if len(failed) > 0 {
		filters = filters[:0]
		for _, s := range failed {
			filters = append(filters, cluster.LogFilter{Step: s.ID})
		}
	}
	p.Lines = nil
	for _, f := range filters {
		f.Operation, f.Tail, f.Limit = c.Operation, true, failureLines
		lines, err := a.Store.Logs(ctx, c.Tenant, c.Cluster, f)
		if err != nil {
			return err
		}
		for _, l := range lines {
			p.Lines = append(p.Lines, l.Node+" | "+m.Hide(l.Text))
		}
	}
	return nil
}
