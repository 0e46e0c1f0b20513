package health

import (
	"muster/app/store/db"
)

// isInterrupted narrows nodes n to those whose machines are taken away by their provider, as it has announced, or were.
const isInterrupted = `n.leaves_at > 0 AND n.status = 'ready' AND n.removal = 0`

const interruptedNodes = `SELECT n.name FROM nodes n WHERE n.cluster = ? AND ` + isInterrupted + ` ORDER BY n.number`

// names scans rows of one name into a list.
func names(into *[]string) func(db.Scanner) error {
	return func(row db.Scanner) error {
		var name string
		err := row.Scan(&name)
		*into = append(*into, name)
		return err
	}
}
