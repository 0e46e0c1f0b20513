package cluster

import (
	"time"

	"muster/app"
	"muster/app/cluster"
)

func Pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// retriedSoon tells that the latest operation failed, and that Muster is about to decide whether it continues with the nodes created.
func retriedSoon(c Show) bool {
	op := c.Operation()
	return op != nil && op.Status == app.OperationFailed && op.OnFailure.GoesOn() && c.Now.Sub(op.EndedAt) < 5*time.Second
}

// backfillWords say how the backfill of missing nodes is doing.
func (c Show) backfillWords(u cluster.Backfill) string { return u.Text(c.View.Size, c.Now) + "." }
