package operation

import (
	"fmt"

	"muster/app/plan"
)

// batched counts the nodes on which something is done batch by batch: services that only start or stop are not.
func (d *amended) batched() (n int) {
	for _, node := range d.nodes {
		for _, w := range node.Work {
			if w != plan.WorkStart && w != plan.WorkStop && w != plan.WorkStopConfigure {
				n++
				break
			}
		}
	}
	return n
}

// batchWords says in which steps so many nodes are worked on; "" where that is all at once.
func batchWords(batch, nodes int) string {
	small := []string{"", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	switch {
	case batch <= 0 || nodes <= batch:
		return ""
	case batch == 1:
		return "It is done on one node after the other; one that fails halts the rest."
	case batch < len(small):
		return fmt.Sprintf("It is done on %s nodes at a time; one that fails halts the rest.", small[batch])
	}
	return fmt.Sprintf("It is done on %d nodes at a time; one that fails halts the rest.", batch)
}
