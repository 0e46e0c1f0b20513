package solver

import (
	"fmt"
	"strings"
)

func amount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// names lists some names; of a long list only the beginning.
func names(list []string) string {
	const some = 8
	if len(list) > some {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:some], ", "), len(list)-some)
	}
	return strings.Join(list, ", ")
}

// and lists all names; clauses are about few.
func and(names []string) string { return listed(names, "and") }

func either(names []string) string { return listed(names, "or") }

func listed(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
