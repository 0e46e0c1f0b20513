package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/planner"
)

// A command has a step on each node, and a batch begins when the one before has succeeded on all of its nodes.
func TestCommandsRunInBatches(t *testing.T) {
	r := plan.Request{Kind: app.OperationRun, Run: &plan.Run{Command: "uptime"}}
	for i := range 5 {
		r.Nodes = append(r.Nodes, plan.Node{Name: app.NodeName(i + 1)})
	}
	for batch, want := range map[int]string{
		0: "n1.run[] n2.run[] n3.run[] n4.run[] n5.run[]",
		2: "n1.run[] n2.run[] batch.2[n1.run n2.run] n3.run[batch.2] n4.run[batch.2] batch.3[n3.run n4.run] n5.run[batch.3]",
		5: "n1.run[] n2.run[] n3.run[] n4.run[] n5.run[]",
		9: "n1.run[] n2.run[] n3.run[] n4.run[] n5.run[]",
	} {
		r.Batch = batch
		p, err := planner.New().Plan(r)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.Steps {
			needs := []string{}
			for _, n := range s.Needs {
				needs = append(needs, p.Steps[n].ID)
			}
			got = append(got, fmt.Sprintf("%s%v", s.ID, needs))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("batches of %d:\n%s\nwant\n%s", batch, text, want)
		}
		other := r
		other.Run = &plan.Run{Command: "reboot"}
		q, err := planner.New().Plan(other)
		if err != nil || q.Hash() == p.Hash() {
			t.Errorf("another command has the same plan: %v", err)
		}
	}
	if _, err := planner.New().Plan(plan.Request{Kind: app.OperationRun}); app.AsError(err).Reason != "run" {
		t.Errorf("no command: %v", err)
	}
}
