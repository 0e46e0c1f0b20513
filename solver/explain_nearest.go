package solver

import (
	"slices"
	"strings"
)

// someNear is how many near names are offered at most.
const someNear = 3

// nearNames gives the names that someone may have meant, nearest first: those with few typing errors, as many as a third
// of the letters at most.
func nearNames(written string, names []string) []string {
	type near struct {
		name   string
		errors int
	}
	var found []near
	w := plainName(written)
	for _, name := range distinct(names) {
		n := plainName(name)
		if d := editDistance(w, n); d <= max(1, max(len(w), len(n))/3) {
			found = append(found, near{name, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.errors - b.errors })
	var out []string
	for _, f := range found[:min(len(found), someNear)] {
		out = append(out, f.name)
	}
	return out
}

// plainName makes mongo-db, mongo_db and MongoDB one, since people mix them up.
func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(s))
}

// longestName is the longest name that is compared with others.
const longestName = 256

// editDistance counts the letters to add, drop, change or swap with their neighbour to make a into b.
func editDistance(a, b string) int {
	apart := max(len(a), len(b)) - min(len(a), len(b))
	if apart > max(1, max(len(a), len(b))/3) || len(a) > longestName {
		return len(a) + len(b) // far without counting
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(row[j-1]+1, last[j]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
