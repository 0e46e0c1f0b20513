package store

import (
	"time"

	"muster/app"
)

// beginLease notes when a lease was set, and when its first warning is due.
func (t *tx) beginLease(cluster string, from, until time.Time) error {
	return t.exec(`UPDATE clusters SET expires_at = ?, lease_from = ?, warn_at = ? WHERE id = ?`, micros(until), micros(from),
		micros(app.LeaseTimes{From: from, Until: until}.NextWarning(from)), cluster)
}
