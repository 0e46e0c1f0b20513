package fleet

import (
	"fmt"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/template"
	"muster/portal/catalog"
)

// findingMark is how a finding looks.
func findingMark(f family.Finding) (mark, word string) {
	switch {
	case f.OK:
		return string(app.StepSucceeded), "well"
	case f.Warning:
		return string(app.StepAsked), "look at this"
	}
	return string(app.StepFailed), "wrong"
}

// checkWords sums a check up.
func checkWords(c fleet.ProviderCheck) string {
	wrong, warned := 0, 0
	for _, f := range c.Findings {
		switch {
		case f.OK:
		case f.Warning:
			warned++
		default:
			wrong++
		}
	}
	switch {
	case wrong > 0:
		return humanize.CountOf(wrong, "thing is wrong", "things are wrong") + ". Machines may not be made here until that is mended."
	case warned > 0:
		return "Machines can be made here; " + humanize.CountOf(warned, "thing is", "things are") + " worth a look."
	}
	return "All is well: machines can be made here."
}

// sizeWords tells what a flavor is, as far as it is known.
func sizeWords(f template.Flavor) string {
	var words []string
	if f.CPU > 0 {
		words = append(words, fmt.Sprintf("%g CPU", f.CPU))
	}
	if f.MemoryGB > 0 {
		words = append(words, fmt.Sprintf("%g GB memory", f.MemoryGB))
	}
	if f.DiskGB > 0 {
		words = append(words, fmt.Sprintf("%g GB disk", f.DiskGB))
	}
	return strings.Join(words, ", ")
}

func priceWords(f template.Flavor, currency string) string {
	if f.CostPerHour == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%.4f %s", f.CostPerHour, currency))
}

func providerPath(name, act string) string {
	return catalog.ActPath(template.CatalogKey{Kind: template.KindProvider, Name: name}, act)
}
