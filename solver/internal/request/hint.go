package request

import (
	"slices"
	"strings"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
)

// mostHints is how many hints are put together at most.
const mostHints = 4

// Advised completes a refusal: the hint says what would fix it, with near names, and what else is wrong with the
// request, so that one need not find that out one by one.
func Advised(c *template.Catalog, r layout.Request, err error) error {
	e := app.AsError(err)
	var fixes, also []string
	for _, f := range Flaws(c, r) {
		switch {
		case f.Reason != e.Reason || f.Field != e.Field:
			also = append(also, f.Message)
		case f.Hint != "" && !slices.Contains(fixes, f.Hint) && len(fixes) < mostHints:
			fixes = append(fixes, f.Hint)
		}
	}
	if e.Hint != "" {
		fixes = []string{e.Hint}
	}
	if len(also) > 0 {
		fixes = append(fixes, "Besides: "+strings.Join(also[:min(len(also), mostHints)], " "))
	}
	out := *e
	out.Hint = strings.Join(fixes, " ")
	return &out
}
