package cluster

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/portal/page"
)

// preferences are the placement options.
func preferences(chosen string, standard template.Preference) []page.Choice {
	out := []page.Choice{
		{Value: string(template.PreferPacked), Label: "Packed"},
		{Value: string(template.PreferCheapest), Label: "Cheapest"},
		{Value: string(template.PreferSpread), Label: "Spread out"},
	}
	if standard == "" {
		standard = template.PreferPacked
	}
	for i := range out {
		if out[i].Value == string(standard) { // the default is left to the template
			out[i].Value, out[i].Label = "", out[i].Label+" (default)"
		}
	}
	if chosen == string(standard) {
		chosen = ""
	}
	for i := range out {
		out[i].Chosen = out[i].Value == chosen
	}
	return withChosen(out, chosen)
}

// FailureChoices are the automatic actions after a failure. An operation that creates machines can continue with those
// created; partialResults is the template's setting for that.
func FailureChoices(chosen string, makes bool, partialResults *template.PartialResults) []page.Choice {
	standard := page.Choice{Label: "Keep as is (default)"}
	out := []page.Choice{standard, {Value: string(app.FailureRollBack), Label: "Roll back"}}
	if makes {
		out = append(out, page.Choice{Value: string(app.FailureAcceptPartial), Label: "Accept partial result"},
			page.Choice{Value: string(app.FailureAcceptPartialOrRollBack), Label: "Accept partial result, or roll back"})
		if partialResults != nil {
			out[0].Label = "Accept partial result (default)"
			out[2] = page.Choice{Value: string(app.FailureStay), Label: "Keep as is"}
		}
	}
	for i := range out {
		out[i].Chosen = out[i].Value == chosen
	}
	return withChosen(out, chosen)
}

// keepStandard says what happens to failed machines where a request doesn't say.
func keepStandard(k template.KeepTime) string {
	if k.For() > 0 {
		return "Keep for " + k.Words() + " (default)"
	}
	return "Delete them (default)"
}

// groupChoices are the groups that can own a cluster; nil if there are none to choose.
func groupChoices(groups []string, chosen string) []page.Choice {
	if len(groups) == 0 && chosen == "" {
		return nil
	}
	out := []page.Choice{{Label: "None (default)"}}
	for _, g := range groups {
		out = append(out, page.Choice{Value: g, Label: g, Chosen: g == chosen})
	}
	return withChosen(out, chosen)
}

// ChoosesFailure reports whether the choice exists.
func ChoosesFailure(chosen string) bool {
	return chosen == "" || slices.Contains(app.FailureChoices(), app.FailureChoice(chosen))
}

// leases are common durations that the template allows.
func leases(l template.Lease, chosen string) []page.Choice {
	out := []page.Choice{{Label: page.Lease(l.Initial) + " (default)", Chosen: chosen == ""}}
	for _, d := range l.Lengths() {
		out = append(out, page.Choice{Value: d.String(), Label: page.Lease(d), Chosen: chosen == d.String()})
	}
	if d, err := time.ParseDuration(chosen); err == nil && d > 0 && !slices.ContainsFunc(out, func(c page.Choice) bool { return c.Chosen }) {
		return append(out, page.Choice{Value: chosen, Label: page.Lease(d), Chosen: true})
	}
	return withChosen(out, chosen)
}
