package cluster

import (
	"time"

	"muster/app"
	"muster/app/cluster"
)

func ItOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// goesOnSoon tells that the latest operation failed and is about to be gone on with by itself, or to be found not to.
func goesOnSoon(c Show) bool {
	op := c.Operation()
	return op != nil && op.Status == app.OperationFailed && op.OnFailure.GoesOn() && c.Now.Sub(op.EndedAt) < 5*time.Second
}

// topUpWords say how what the cluster lacks stands.
func (c Show) topUpWords(u cluster.TopUp) string { return u.Words(c.View.Size, c.Now) + "." }
