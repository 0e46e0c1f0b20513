package operation

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
)

// runCommand marks the nodes on which a command is run: those that are named, or that have one of the services, or all. Nothing of the
// cluster changes.
func runCommand(_ context.Context, _ *Builder, d *updateBuilder) error {
	if err := d.checkServices(d.ask.Services); err != nil {
		return err
	}
	if err := d.checkNodes(d.ask.Nodes); err != nil {
		return err
	}
	var lost []string
	runs := 0
	for i := range d.nodes {
		n := &d.nodes[i]
		has := func(s string) bool { return slices.Contains(n.Services, s) }
		switch {
		case len(d.named) > 0 && !d.named[n.Name], len(d.ask.Services) > 0 && !slices.ContainsFunc(d.ask.Services, has):
		case d.lost(n.Name):
			lost = append(lost, n.Name)
		default:
			n.Runs = true
			runs++
		}
	}
	switch {
	case runs == 0 && len(lost) > 0:
		return &app.Error{Code: app.EConflict, Reason: "lost_machines", Field: "nodes", Message: "The machines of " + cluster.NodesInWords(lost) + " are gone.",
			Hint: "Repair the cluster first."}
	case runs == 0:
		return &app.Error{Code: app.EInvalid, Field: "nodes", Message: "No node is selected: none of the nodes has one of the services.",
			Hint: "Choose other nodes or services."}
	case len(lost) > 0:
		d.note("Skips %s: the machine is gone. Repair the cluster to replace it.", cluster.NodesInWords(lost))
	}
	if words := batchWords(d.batch, runs); words != "" {
		d.note("%s", words)
	}
	return nil
}

// planRun has the planner know of the command, and of no other nodes than those on which it is run.
func planRun(d *updateBuilder, r *plan.Request) {
	if d.ask.Kind != app.OperationRun {
		return
	}
	timeout, _ := d.ask.RunTimeout() // checked
	r.Run, r.Between = &plan.Run{Command: d.ask.Command, Timeout: timeout}, nil
	r.Nodes = slices.DeleteFunc(r.Nodes, func(n plan.Node) bool {
		return !slices.ContainsFunc(d.nodes, func(u cluster.UpdatedNode) bool { return u.Name == n.Name && u.Runs })
	})
}

// runChanges shows the command to those who decide.
func runChanges(d *updateBuilder) []app.ValueChange {
	if d.ask.Kind != app.OperationRun {
		return nil
	}
	return []app.ValueChange{{Path: "command", After: d.ask.Command}}
}
