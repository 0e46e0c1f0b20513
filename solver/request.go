package solver

import (
	"fmt"
	"maps"
	"slices"

	"muster/app"
)

// Reasons of refusals, as app.Solver states them.
const (
	badRequest           = "bad_request"
	missingTemplate      = "missing_template"
	missingProvider      = "missing_provider"
	wrongSize            = "size"
	noHardwareTypes      = "no_hardware_types"
	noImageTypes         = "no_image_types"
	incompatibleServices = "incompatible_services"
	missingService       = "missing_service"
	missingDependency    = "missing_dependency"
	conflictingServices  = "conflict"
	noSolution           = "no_solution"
)

// refuse is an error with a reason and the field of the request that it is about.
func refuse(code app.Code, reason, field, format string, args ...any) *app.Error {
	return &app.Error{Code: code, Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)}
}

// allowed tells whether a type is the one that is wanted, if any is, and among those that are compatible, if they are listed.
func allowed(name, want string, compatible []string) bool {
	return (want == "" || name == want) && (len(compatible) == 0 || slices.Contains(compatible, name))
}

// preferred is what a request prefers, or else its template.
func preferred(asked app.Preference, t *app.Template) app.Preference {
	if asked == "" {
		return t.Defaults.Prefer
	}
	return asked
}

// distinct gives names in order, and each once.
func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// offered gives the hardware and image types that a provider has, by name.
func offered(c *app.Catalog, provider string) (hardware, images []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Hardware)) {
		if c.Hardware[name].Providers[provider].Flavor != "" {
			hardware = append(hardware, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Images)) {
		if c.Images[name].Providers[provider].Image != "" {
			images = append(images, name)
		}
	}
	return hardware, images
}
