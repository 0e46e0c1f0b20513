package solver

import (
	"math/rand"
	"testing"

	"muster/app"
)

// TestRichConflictsAreSmallest does as TestConflictsAreSmallest for all the constraints that there are. What has a layout
// the solver says, which is held against enumeration elsewhere. Conflicts are not about preferences, so there is none.
func TestRichConflictsAreSmallest(t *testing.T) {
	checkExplanations(t, *explainRounds/4, *explainRounds, func(r *rand.Rand) (*app.Catalog, app.LayoutRequest) {
		c, q := richProblem(r)
		q.Prefer = ""
		return c, q
	})
}
