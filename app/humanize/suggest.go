package humanize

import (
	"fmt"
	"slices"
	"strings"
)

// longestName is the longest name that is compared with others, in bytes.
const longestName = 256

// Nearest returns the candidate with the fewest typing errors between it and what was written, up to a third of its
// length; the first by name among equals, "" where none is near.
func Nearest(written string, candidates []string) string {
	best, least := "", -1
	w := FoldName(written)
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		f := FoldName(c)
		d := EditDistance(w, f)
		if d <= max(1, max(len(w), len(f))/3) && (least < 0 || d < least) {
			best, least = c, d
		}
	}
	return best
}

// Suggest is a hint for a name that is not known: the nearest of those that are, or where none is near, all of them.
func Suggest(written string, known []string) string {
	if near := Nearest(written, known); near != "" {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	return "Known: " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + "."
}

// FoldName makes dnsSuffix, dns-suffix and dns_suffix one word, since people mix them up.
func FoldName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(s))
}

// EditDistance counts the bytes to add, drop, change or swap with their neighbour to make a into b. What is far too long
// or too different in length to be a typing error is len(a)+len(b) apart, without counting.
func EditDistance(a, b string) int {
	if max(len(a), len(b)) > longestName || len(a) > len(b)+len(b)/2+2 || len(b) > len(a)+len(a)/2+2 {
		return len(a) + len(b)
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

// DidYouMean returns the hint for a name that is not among the known ones.
func DidYouMean(written string, there []string, otherwise string) string {
	if near := Nearest(written, there); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	return otherwise
}
