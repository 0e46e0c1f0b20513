package solver

import (
	"context"
	"flag"
	"math/rand"
	"strings"
	"testing"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
	"muster/solver/solvertest"
)

var (
	bruteRounds  = flag.Int("rounds", 5000, "how many random problems to compare with brute force")
	bruteLayouts = flag.Int("layouts", 3000, "how many layouts a problem may have that is compared with all of them")
)

func TestSameAsBruteForce(t *testing.T) {
	t.Run("small", func(t *testing.T) { compareWithBrute(t, *bruteRounds, solvertest.Small) })
	t.Run("tight", func(t *testing.T) { compareWithBrute(t, *bruteRounds/40, solvertest.Tight) })
}

func compareWithBrute(t *testing.T, rounds int, problem func(*rand.Rand) (*template.Catalog, layout.Request)) {
	t.Helper()
	if testing.Short() {
		rounds /= 8
	}
	possible := 0
	for seed := range rounds {
		c, r := problem(rand.New(rand.NewSource(int64(seed))))
		if len(r.Services) == 0 {
			continue
		}
		want, ok := solvertest.BruteForce(c, r)
		got, err := New().Solve(context.Background(), c, r)
		if !ok {
			if e := app.AsError(err); err == nil || e.Reason != request.NoSolution || !strings.Contains(e.Message, " can't be placed on ") {
				t.Fatalf("seed %d: got %v, %v, want no solution\n%+v\n%+v", seed, got, err, c.Templates["t"].Constraints, r)
			}
			continue
		}
		possible++
		if err != nil || inWords(got.Groups) != inWords(want) {
			t.Fatalf("seed %d: got %v\n%s\nwant\n%s\n%+v\n%+v", seed, err, inWords(got.Groups), inWords(want),
				c.Templates["t"].Constraints, r)
		}
		var cost float64
		for _, g := range want {
			cost += float64(g.Count) * c.Hardware[g.Hardware].Providers["p"].CostPerHour
		}
		if got.CostPerHour != cost {
			t.Fatalf("seed %d: got cost %v, want %v", seed, got.CostPerHour, cost)
		}
	}
	if possible < rounds/4 || possible > rounds*9/10 {
		t.Errorf("%d of %d problems were possible, which tests one side too little", possible, rounds)
	}
}
