package app

import "fmt"

// SomeOf lists up to n names, and how many more there are.
func SomeOf(names []string, n int) string {
	if len(names) > n {
		return fmt.Sprintf("%s and %d more", JoinNames(names[:n]), len(names)-n)
	}
	if len(names) < 2 {
		return JoinNames(names)
	}
	return JoinNames(names[:len(names)-1]) + " and " + names[len(names)-1]
}

func JoinNames(names []string) string {
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}
