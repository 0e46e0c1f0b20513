package automators

import (
	"strconv"
	"strings"

	"muster/app/humanize"
)

func quoted(s string) string { return strconv.Quote(s) }

// suggest suggests the nearest of the known names, or all of them where none is near.
func suggest(name string, known []string, all string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := humanize.EditDistance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return "Did you mean " + quoted(best) + "?"
	}
	return all + strings.Join(known, ", ") + "."
}
