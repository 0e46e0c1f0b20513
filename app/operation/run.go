package operation

import (
	"context"
	"maps"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/template"
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
	fits, err := chooseAction(d)
	if err != nil {
		return err
	}
	var lost, locked []string
	runs := 0
	for i := range d.nodes {
		n := &d.nodes[i]
		has := func(s string) bool { return slices.Contains(n.Services, s) }
		switch {
		case !fits(n.Name), len(d.named) > 0 && !d.named[n.Name], len(d.ask.Services) > 0 && !slices.ContainsFunc(d.ask.Services, has):
		case d.lost(n.Name):
			lost = append(lost, n.Name)
		case d.node(n.Name) != nil && d.node(n.Name).Lock != nil:
			locked = append(locked, n.Name)
		default:
			n.Runs = true
			runs++
		}
	}
	switch {
	case runs == 0 && len(locked) > 0:
		return errLockedNodes(locked)
	case runs == 0 && len(lost) > 0:
		return &app.Error{Code: app.EConflict, Reason: "lost_machines", Field: "nodes", Message: "The machines of " + cluster.NodesInWords(lost) + " are gone.",
			Hint: "Repair the cluster first."}
	case runs == 0:
		return &app.Error{Code: app.EInvalid, Field: "nodes", Message: "No node is selected: no node matches all of the choices.",
			Hint: "Choose other nodes."}
	case len(lost) > 0:
		d.note("Skips %s: the machine is gone. Repair the cluster to replace it.", cluster.NodesInWords(lost))
	}
	if len(locked) > 0 {
		d.note("Skips %s, which an admin has locked.", cluster.NodesInWords(locked))
	}
	if words := batchWords(d.batch, runs); words != "" {
		d.note("%s", words)
	}
	return nil
}

func errLockedNodes(names []string) error {
	return &app.Error{Code: app.EConflict, Reason: app.Locked, Field: "nodes",
		Message: "Commands don't run on locked nodes: " + cluster.NodesInWords(names) + ".",
		Hint:    "Choose other nodes, or ask an admin to unlock them."}
}

// planRun has the planner know of the command, and of no other nodes than those on which it is run.
func planRun(d *updateBuilder, r *plan.Request) {
	if d.ask.Kind != app.OperationRun {
		return
	}
	r.Run, r.Between = d.run, nil
	runs := map[string]bool{}
	for _, n := range d.nodes {
		runs[n.Name] = n.Runs
	}
	r.Nodes = slices.DeleteFunc(r.Nodes, func(n plan.Node) bool { return !runs[n.Name] })
}

// runChanges shows the command to those who decide.
func runChanges(d *updateBuilder) []app.ValueChange {
	if d.ask.Kind != app.OperationRun {
		return nil
	}
	changes := []app.ValueChange{{Path: "command", After: d.run.Command}}
	if d.run.Action == "" {
		return changes
	}
	changes[0].Path = "actions." + d.run.Action
	for _, name := range slices.Sorted(maps.Keys(d.run.Parameters)) {
		changes = append(changes, app.ValueChange{Path: "parameters." + name, After: template.ParameterValueText(d.run.Parameters[name])})
	}
	return changes
}

// chooseAction finds what is run, and reports on which nodes it may be: an action says so itself.
func chooseAction(d *updateBuilder) (fits func(node string) bool, err error) {
	timeout, err := d.ask.RunTimeout()
	if err != nil {
		return nil, err
	}
	d.run = &plan.Run{Command: d.ask.Command, Timeout: timeout}
	if d.ask.Action == "" {
		return func(string) bool { return true }, nil
	}
	a, err := template.ActionNamed(d.was.Actions, d.ask.Action)
	if err != nil {
		return nil, err
	}
	if d.run.Parameters, err = a.Values(d.ask.Parameters); err != nil {
		return nil, err
	}
	d.run.Command, d.run.Action, d.approval = a.Run, a.Name, a.Approval
	if d.ask.Timeout == "" && a.Timeout > 0 {
		d.run.Timeout = a.Timeout
	}
	if d.batch == 0 {
		d.batch = a.Batch
	}
	if len(a.On) == 0 {
		return func(string) bool { return true }, nil
	}
	on, err := plan.Select(d.standing.nodes, a.On)
	if err != nil {
		return nil, err
	}
	chosen := map[string]bool{}
	for _, n := range on {
		chosen[n] = true
	}
	return func(node string) bool { return chosen[node] }, nil
}

// mayAct refuses an action to those whom its template doesn't let run it.
func mayAct(ctx context.Context, store BuilderStore, actor app.Actor, c app.Cluster, name string) error {
	if name == "" {
		return nil
	}
	definition, err := store.Definition(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	a, err := template.ActionNamed(definition.Actions, name)
	if err != nil {
		return err
	}
	return cluster.MayAct(actor, c, a)
}

// needApproval has someone approve an action whose template wants that, whatever policies say.
func needApproval(d *updateBuilder) {
	if !d.approval || d.decision.Outcome == policy.OutcomeRefuse {
		return
	}
	of := "action " + d.run.Action
	d.decision.Outcome = policy.OutcomeApprove
	d.decision.Needs = append(d.decision.Needs, policy.RequiredApproval{Policy: of, Reason: "The template requires approval of this action.",
		Approval: policy.Approval{Count: 1, Role: app.RoleApprover}})
	d.preview.Decision = &d.decision
}
