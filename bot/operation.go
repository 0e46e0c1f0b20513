package bot

import (
	"context"

	"muster/app"
	"muster/app/cluster"
)

// operations goes on with what has failed.
type operations struct {
	operations Operations
	rollBacks  RollBacks
}

func (op operations) resume(ctx context.Context, r request, d deed) (Answer, error) {
	v, err := op.operations.ResumeOperation(ctx, r.actor, d.Cluster, d.Operation)
	if err != nil {
		return Answer{}, err
	}
	return r.begun(v, d.Operation), nil
}

// rollBackAsk shows what a roll-back would do.
func (op operations) rollBackAsk(ctx context.Context, r request, d deed) (Answer, error) {
	p, err := op.rollBacks.PreviewRollBack(ctx, r.actor, d.Cluster, d.Operation)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Roll back the " + p.Operation.Kind.Words() + "?", Links: []Link{{"Open", r.Page(app.ClusterSubject(d.Cluster))}}}
	if len(p.GivesBack) > 0 {
		a.Lines = append(a.Lines, several(len(p.GivesBack), "machine")+" will be deleted, with all data: "+cluster.NodesInWords(p.GivesBack)+".")
	}
	if p.Untouched > 0 {
		a.Lines = append(a.Lines, several(p.Untouched, "other node")+" won't change.")
	}
	if p.Gone {
		a.Lines = append(a.Lines, "Nothing of the cluster remains.")
	}
	if p.Duration > 0 {
		a.Lines = append(a.Lines, "It takes "+takes(p.Duration, p.Plan.Expects)+".")
	}
	d = deed{Do: doRollBack, Cluster: d.Cluster, Operation: p.Operation.ID, Hash: p.PlanHash}
	a.Buttons = []Button{d.button("Roll back "+p.Operation.Kind.Words(), true)}
	return a, nil
}

func (op operations) rollBack(ctx context.Context, r request, d deed) (Answer, error) {
	v, err := op.rollBacks.RollBack(ctx, r.actor, d.Cluster, d.Operation, d.Hash)
	if err != nil {
		return Answer{}, err
	}
	return r.begun(v, 0), nil
}
