package bot

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
)

// operations resumes failed operations or rolls them back.
type operations struct {
	operations Operations
	rollBacks  RollBacks
}

func (op operations) resume(ctx context.Context, r request, d action) (Answer, error) {
	v, err := op.operations.ResumeOperation(ctx, r.actor, d.Cluster, d.Operation)
	if err != nil {
		return Answer{}, err
	}
	return r.begun(v, d.Operation), nil
}

// rollBackAsk previews a rollback.
func (op operations) rollBackAsk(ctx context.Context, r request, d action) (Answer, error) {
	p, err := op.rollBacks.PreviewRollBack(ctx, r.actor, d.Cluster, d.Operation, "")
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Roll back " + p.Operation.Kind.The() + "?", Links: []Link{{"View cluster", r.Page(app.ClusterSubject(d.Cluster))}}}
	if len(p.Deletes) > 0 {
		a.Lines = append(a.Lines, humanize.Count(len(p.Deletes), "machine")+" will be deleted with all data: "+cluster.NodesInWords(p.Deletes)+".")
	}
	if words := p.Kept.Words(); words != "" {
		a.Lines = append(a.Lines, words)
	}
	if p.Unchanged > 0 {
		a.Lines = append(a.Lines, humanize.Count(p.Unchanged, "other node")+" won't change.")
	}
	if p.DeletesCluster {
		a.Lines = append(a.Lines, "The whole cluster will be deleted.")
	}
	if p.Duration > 0 {
		a.Lines = append(a.Lines, "Takes "+takes(p.Duration, p.Plan.Expects)+".")
	}
	d = action{Do: doRollBack, Cluster: d.Cluster, Operation: p.Operation.ID, Hash: p.PlanHash}
	a.Buttons = []Button{d.button("Roll back", true)}
	return a, nil
}

func (op operations) rollBack(ctx context.Context, r request, d action) (Answer, error) {
	v, err := op.rollBacks.RollBack(ctx, r.actor, d.Cluster, d.Operation, d.Hash, "")
	if err != nil {
		return Answer{}, err
	}
	return r.begun(v, 0), nil
}
