package policy

import (
	"context"
	"time"

	"muster/app/plan"
)

// PaceStore keeps how long steps took. They are taken in by the ledger, in the transaction of the step's report.
type PaceStore interface {
	// Paces gives what is known of those of the kinds of which anything is.
	Paces(ctx context.Context, kinds []plan.PaceKey) (plan.Paces, error)
}

// PaceMemory is for how long kinds are kept of which nothing is seen.
const PaceMemory = 400 * 24 * time.Hour
