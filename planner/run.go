package planner

import (
	"fmt"
	"slices"

	"muster/app"
	"muster/app/plan"
)

// run plans a command on nodes, batch after batch; all at once where there are no batches. A batch begins when the command has
// succeeded on all nodes of the one before.
func run(g *graph, r plan.Request) error {
	if r.Run == nil {
		return refuse("run", "There's no command to run.")
	}
	nodes := make([]int, 0, len(g.nodes))
	for n := range g.nodes {
		nodes = append(nodes, n)
	}
	gate, size := -1, max(r.Batch, 1)
	if r.Batch == 0 {
		size = max(len(nodes), 1)
	}
	batch := 1
	for part := range slices.Chunk(nodes, size) {
		steps := make([]int, 0, len(part))
		for _, n := range part {
			step := g.act(n, "", app.ActionRun)
			if gate >= 0 {
				g.need(step, gate)
			}
			steps = append(steps, step)
		}
		if gate = -1; batch*size < len(nodes) {
			batch++
			gate = g.add(plan.Step{ID: fmt.Sprintf("batch.%d", batch), Join: true}, joined)
			g.need(gate, steps...)
		}
	}
	return nil
}
