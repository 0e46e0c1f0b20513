package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// didYouMean gives a hint that names the candidate nearest to what was written, or "" where none is near.
func didYouMean(written string, candidates []string) string {
	if n := nearest(written, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// nearest gives the candidate with the fewest typing errors between it and what was written, up to a third of its
// length; the first by name among equals, "" where none is near.
func nearest(written string, candidates []string) string {
	if len(written) > 256 {
		return ""
	}
	best, bestDistance := "", -1
	w := fold(written)
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		f := fold(c)
		d := distance(w, f)
		if d > max(1, max(len(w), len(f))/3) {
			continue
		}
		if bestDistance < 0 || d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// fold makes dnsSuffix, dns-suffix and dns_suffix one word, since people mix them up.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(s))
}

// distance counts the letters to add, drop, change or swap with their neighbour to make a into b.
func distance(a, b string) int {
	if len(a) > len(b)+len(b)/2+2 || len(b) > len(a)+len(a)/2+2 {
		return len(a) + len(b) // far apart without counting
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
