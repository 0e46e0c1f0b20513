package automators

import (
	"strconv"
	"strings"
)

func quoted(s string) string { return strconv.Quote(s) }

// instead suggests the nearest of the known names, or all of them where none is near.
func instead(name string, known []string, all string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return "Did you mean " + quoted(best) + "?"
	}
	return all + strings.Join(known, ", ") + "."
}

// distance counts the bytes to change, add or drop to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
