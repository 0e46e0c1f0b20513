package execution

import (
	"context"
	"errors"
	"fmt"

	"muster/app"
	"muster/app/cluster"
)

// repairsAtOnce is how many clusters are seen to in one go.
const repairsAtOnce = 20

// RepairSick begins the repairs that are due, where the templates say so and no brake holds them, and tells how many. Several servers
// may do this at the same time: a cluster takes one operation of two.
func (a *Service) RepairSick(ctx context.Context) (begun int, err error) {
	due, err := a.Store.RepairsDue(ctx, a.Now(), repairsAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, d := range due {
		began, err := a.repairSick(ctx, d)
		if began {
			begun++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("repair of %s: %w", d.Cluster.ID, err))
		}
	}
	return begun, errors.Join(errs...)
}

func (a *Service) repairSick(ctx context.Context, d RepairDue) (begun bool, err error) {
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
		n.Tell = d.Tell(now, fmt.Sprintf("Cluster %s is not repaired by itself.", d.Cluster.Name), c.Note)
	}
	if c.Failure > d.Failures {
		n.Tell = d.Tell(now, fmt.Sprintf("The repair of cluster %s did not succeed.", d.Cluster.Name), c.Note)
	}
	if len(c.Nodes) > 0 {
		answer, err := a.Updates.Amend(ctx, app.System(d.Cluster.Tenant, app.HealthUser), d.Cluster.ID, cluster.Amendment{Kind: app.OperationRepair, Nodes: c.Nodes})
		switch code := app.CodeOf(err); {
		case err == nil && answer.Operation > 0:
			begun = true
			n.Operation, n.Note = answer.Operation, fmt.Sprintf("Operation %d repairs %s.", answer.Operation, listWords(c.Nodes))
		case err == nil: // it waits for an approval
			n.NextAt, n.Note = now.Add(FirstRepairGap), "A repair waits for an approval."
		case code == app.EConflict: // an operation is under way
			n.Note = app.AsError(err).ForPeople()
		case code == app.EInternal || code == app.ETransient || code == app.ETimeout || code == app.ERateLimit:
			return false, err
		default:
			n.Failures++
			n.NextAt = now.Add(min(FirstRepairGap<<min(n.Failures-1, 10), LongRepairGap))
			n.Note = "It cannot be repaired by itself: " + app.AsError(err).ForPeople()
			n.Tell = d.Tell(now, fmt.Sprintf("Cluster %s cannot be repaired by itself.", d.Cluster.Name), n.Note)
		}
	}
	return begun, a.Store.NoteRepair(ctx, n)
}

func listWords(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%v and %d more", names[:most], more)
	}
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}
