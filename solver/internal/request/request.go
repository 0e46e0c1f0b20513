package request

import (
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/template"
)

// Reasons of refusals, as app.Solver states them.
const (
	BadRequest           = "bad_request"
	MissingTemplate      = "missing_template"
	MissingProvider      = "missing_provider"
	WrongSize            = "size"
	NoHardwareTypes      = "no_hardware_types"
	NoImageTypes         = "no_image_types"
	IncompatibleServices = "incompatible_services"
	MissingService       = "missing_service"
	MissingDependency    = "missing_dependency"
	ConflictingServices  = "conflict"
	NoSolution           = "no_solution"
)

// Refuse is an error with a reason and the field of the request that it is about.
func Refuse(code app.Code, reason, field, format string, args ...any) *app.Error {
	return &app.Error{Code: code, Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Allowed reports whether a type is the one that is wanted, if any is, and among those that are compatible, if they are listed.
func Allowed(name, want string, compatible []string) bool {
	return (want == "" || name == want) && (len(compatible) == 0 || slices.Contains(compatible, name))
}

// Preferred is what a request prefers, or else its template.
func Preferred(asked template.Preference, t *template.Template) template.Preference {
	if asked == "" {
		return t.Defaults.Prefer
	}
	return asked
}

// Distinct returns names in order, and each once.
func Distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// Offered returns the hardware and image types that a provider has, by name.
func Offered(c *template.Catalog, provider string) (hardware, images []string) {
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
