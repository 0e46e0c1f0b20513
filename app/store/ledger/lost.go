package ledger

import (
	"time"

	"muster/app/operation"
	"muster/app/store/db"
)

// lostOf returns the nodes of a cluster whose machines are lost, the first of them by name and how many more.
func lostOf(t *db.Tx, cluster string) (names []string, err error) {
	err = t.Each(func(row db.Scanner) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT name FROM nodes WHERE cluster = ? AND lost_at > 0 AND removal = 0 AND status IN ('created', 'ready') ORDER BY number`, cluster)
	return names, err
}

// failLost makes a cluster that counts as active one that has lost machines, where an operation left them out.
func failLost(t *db.Tx, now time.Time, cluster string) (message string, err error) {
	names, err := lostOf(t, cluster)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return operation.LostWords(names), t.Exec(`UPDATE clusters SET lost_at = ? WHERE id = ?`, db.Micros(now), cluster)
}
