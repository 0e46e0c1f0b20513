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

// findingMark is the state of a finding.
func findingMark(f family.Finding) (mark, word string) {
	switch {
	case f.OK:
		return string(app.StepSucceeded), "passed"
	case f.Warning:
		return string(app.StepAsked), "warning"
	}
	return string(app.StepFailed), "failed"
}

// checkWords is the result of a check.
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
		return humanize.Count(wrong, "problem") + " to fix before machines can be created."
	case warned > 0:
		return "Machines can be created. " + humanize.Count(warned, "warning") + "."
	}
	return "All checks passed. Machines can be created."
}

// sizeWords is the known size of a flavor.
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
	if f.GPUs > 0 {
		words = append(words, strings.TrimSpace(fmt.Sprintf("%s %s", humanize.Count(f.GPUs, "GPU"), f.GPU)))
	}
	return strings.Join(words, ", ")
}

func priceWords(f template.Flavor, currency string) string {
	if f.CostPerHour == 0 {
		return ""
	}
	return humanize.PerHour(f.CostPerHour, currency)
}

func providerPath(name, act string) string {
	return catalog.ActPath(template.CatalogKey{Kind: template.KindProvider, Name: name}, act)
}
