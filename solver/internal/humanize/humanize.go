package humanize

import (
	"fmt"
	"strings"
)

// Count says how many of something there are: "1 node", "3 nodes".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Names lists some names; of a long list only the beginning.
func Names(list []string) string {
	const some = 8
	if len(list) > some {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:some], ", "), len(list)-some)
	}
	return strings.Join(list, ", ")
}

// And lists all names, the last with "and"; of few things only.
func And(names []string) string { return listed(names, "and") }

// Or lists all names, the last with "or".
func Or(names []string) string { return listed(names, "or") }

func listed(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}
