package execution

import (
	"fmt"
)

// repairsAtOnce is how many clusters are seen to in one go.
const repairsAtOnce = 20

func listWords(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%v and %d more", names[:most], more)
	}
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}
