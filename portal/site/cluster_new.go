package site

import (
	"slices"

	"muster/app/template"
)

// Reasons maps a solver's reasons to form fields.
var Reasons = map[string]string{
	"size": "size", "missing_template": "template", "missing_provider": "provider", "no_hardware_types": "hardware",
	"no_image_types": "image", "incompatible_services": "services", "missing_service": "services",
	"missing_dependency": "services", "conflict": "services", "cycle": "services", "no_solution": "size",
}

// TitlesOf returns the titles of catalog entries; the names of unknown ones.
func TitlesOf(c *template.Catalog) func(kind, name string) string {
	return func(kind, name string) string {
		switch kind {
		case "provider":
			if e := c.Providers[name]; e != nil {
				return e.Title()
			}
		case "hardware":
			if e := c.Hardware[name]; e != nil {
				return e.Title()
			}
		case "image":
			if e := c.Images[name]; e != nil {
				return e.Title()
			}
		case "service":
			if e := c.Services[name]; e != nil {
				return e.Title()
			}
		}
		return name
	}
}

func Names[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
