package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/template"
)

// updated previews and asks for an update, waits for its end, and checks that what was shown is what ran, step for step. It
// returns what scripts have noted meanwhile.
func (e *engine) updated(id string, m cluster.Update) (cluster.View, []string) {
	e.Helper()
	before := len(e.effects())
	p, err := e.app.Operation.Updates.PreviewUpdate(e.ctx, e.admin, id, m)
	if err != nil {
		e.Fatal(err)
	}
	m.PlanHash = p.PlanHash
	a, err := e.app.Operation.Updates.Update(e.ctx, e.admin, id, m)
	if err != nil {
		e.Fatal(err)
	}
	v := e.await(id)
	e.want(v, app.ClusterActive)
	if op := v.Operations[0]; op.ID != a.Operation || op.PlanHash != p.PlanHash || op.Status != app.OperationSucceeded {
		e.Fatalf("%s was previewed as %s and ran as %+v", m.Kind, p.PlanHash, op)
	}
	steps, err := e.app.Cluster.Activity.Steps(e.ctx, e.admin, id, a.Operation)
	if err != nil {
		e.Fatal(err)
	}
	var planned, ran []string
	for _, s := range p.Plan.Steps {
		if !s.Join {
			planned = append(planned, s.ID)
		}
	}
	for _, s := range steps {
		ran = append(ran, s.ID)
	}
	if !slices.Equal(planned, ran) {
		e.Errorf("%s: planned were %v, and these ran: %v", m.Kind, planned, ran)
	}
	return v, e.effects()[before:]
}

func TestUpdatedClusterRunsAsItWasShown(t *testing.T) {
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		front := c.Services["front"]
		line := `echo "$MUSTER_NODE front.%s $CONFIG_PORT $CONFIG_PEERS" >>` + fmt.Sprintf("%q", e.effect) + "\n"
		for _, a := range []app.Action{app.ActionConfigure, app.ActionReload, app.ActionStop} {
			front.Actions[a] = script(fmt.Sprintf(line, a))
		}
		front.Reads = []string{"peers", "port"}
		c.Services["back"].Actions[app.ActionStop] = script("true")
		c.Templates["web"].Defaults.Config["port"] = 80
	})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	front := func(v cluster.View) (nodes []string) {
		for _, n := range v.Nodes {
			if slices.Contains(n.Services, "front") {
				nodes = append(nodes, n.Hostname)
			}
		}
		return nodes
	}

	v, effects := e.updated(v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	if e.machines() != 4 || v.Size != 4 || len(front(v)) != 3 {
		t.Fatalf("grown to %d machines, size %d, fronts %v", e.machines(), v.Size, front(v))
	}
	reload := fmt.Sprintf("front.reload 80 %s", strings.Join(front(v), " "))
	if n := count(effects, reload); n != 1 {
		t.Errorf("the existing front was configured for the new ones %d times; effects:\n%s", n, strings.Join(effects, "\n"))
	}

	v, effects = e.updated(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	if e.machines() != 3 || v.Size != 3 || len(v.Nodes) != 3 {
		t.Fatalf("shrunk to %d machines, size %d, nodes %d", e.machines(), v.Size, len(v.Nodes))
	}
	if n := count(effects, fmt.Sprintf("front.reload 80 %s", strings.Join(front(v), " "))); n != 2 {
		t.Errorf("%d fronts were configured without the deleted one, want 2; effects:\n%s", n, strings.Join(effects, "\n"))
	}

	_, effects = e.updated(v.ID, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 81}, Batch: 1})
	if n := count(effects, "front.reload 81 "); n != 2 || len(effects) != 4 {
		t.Errorf("the new port was read %d times; effects:\n%s", n, strings.Join(effects, "\n"))
	}

	_, effects = e.updated(v.ID, cluster.Update{Kind: app.OperationRestart, Services: []string{"back"}})
	if count(effects, "front.stop") != 2 || count(effects, "front.start") != 2 || count(effects, "back.start") != 1 {
		t.Errorf("effects of a restart of back with what needs it:\n%s", strings.Join(effects, "\n"))
	}

	_, effects = e.updated(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{v.Nodes[2].Name}})
	if e.machines() != 3 || count(effects, "front.install") != 1 {
		t.Errorf("%d machines after a repair; effects:\n%s", e.machines(), strings.Join(effects, "\n"))
	}

	if _, err := e.app.Cluster.Deletes.DeleteCluster(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}

func count(lines []string, part string) (n int) {
	for _, l := range lines {
		if strings.Contains(l+" ", part) {
			n++
		}
	}
	return n
}
