package operation

import (
	"fmt"
)

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
