package operation

import (
	"muster/app/humanize"
)

// batchWords says in which steps so many nodes are worked on; "" where that is all at once.
func batchWords(batch, nodes int) string {
	if batch <= 0 || nodes <= batch {
		return ""
	}
	return humanize.Count(batch, "node") + " at a time. If one fails, the rest stay unchanged."
}
