package explain

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"muster/app"
	"muster/app/layout"
	"muster/solver"
	"muster/solver/solvertest"
)

// TestRichConflictsAreSmallest does as TestConflictsAreSmallest for all constraints. What has a layout
// the solver says, which is held against enumeration elsewhere.
func TestRichConflictsAreSmallest(t *testing.T) {
	t.Run("rich", func(t *testing.T) { checkExplanations(t, *rounds/4, 0, solvertest.Rich) })
	t.Run("hosted", func(t *testing.T) { checkExplanations(t, *rounds/4, 0, solvertest.Hosted) })
}

// TestPossibleMatchesSolve holds the short cut against the way round.
func TestPossibleMatchesSolve(t *testing.T) {
	for seed := range *rounds / 2 {
		problem := solvertest.Rich
		if seed%2 == 1 {
			problem = solvertest.Hosted
		}
		c, r := problem(rand.New(rand.NewSource(int64(seed) + 2e6)))
		_, want := solver.New().Solve(context.Background(), c, r)
		got := solver.New().Possible(context.Background(), c, r)
		if app.CodeOf(got) != app.CodeOf(want) || got != nil && app.AsError(got).Reason != app.AsError(want).Reason {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

// TestAnySolverWillDo explains with a solver that can do no more than solve.
func TestAnySolverWillDo(t *testing.T) {
	for seed := range *rounds / 20 {
		c, r := solvertest.Rich(rand.New(rand.NewSource(int64(seed) + 3e6)))
		want, _ := New(solver.New()).Explain(context.Background(), c, r)
		got, err := New(&patient{1 << 30}).Explain(context.Background(), c, r)
		if g, w := inText(got), inText(want); err != nil || g != w {
			t.Fatalf("seed %d: got %s, %v, want %s", seed, g, err, w)
		}
	}
}

func inText(e layout.Explanation) string {
	text := fmt.Sprintf("%v %+v", e.Minimal, e.Conflict)
	for _, p := range e.Problems {
		text += "\n" + p.Message
	}
	for _, f := range e.Fixes {
		text += "\n" + f.Text
		if f.Request != nil {
			text += fmt.Sprintf(" %+v", *f.Request)
		}
	}
	return text
}
