package request

import (
	"slices"

	"muster/app/humanize"
)

// someNear is how many near names are offered at most.
const someNear = 3

// nearNames returns the names that someone may have meant, nearest first: those with few typing errors, as many as a third
// of the letters at most.
func nearNames(written string, names []string) []string {
	type near struct {
		name   string
		errors int
	}
	var found []near
	w := humanize.FoldName(written)
	for _, name := range Distinct(names) {
		n := humanize.FoldName(name)
		if d := humanize.EditDistance(w, n); d <= max(1, max(len(w), len(n))/3) {
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
