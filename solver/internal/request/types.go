package request

import (
	"slices"

	"muster/app"
)

// TypeSort says where the one or the other sort of type, hardware or image, stands in requests and templates.
type TypeSort struct {
	Name       string
	Asked      func(r *app.LayoutRequest) *string
	Usual      func(t *app.Template) *string
	Compatible func(t *app.Template) *[]string
	Accepted   func(c *app.ServiceConstraint) *[]string
}

// Hardware is the sort of hardware types.
var Hardware = TypeSort{"hardware",
	func(r *app.LayoutRequest) *string { return &r.Hardware },
	func(t *app.Template) *string { return &t.Defaults.Hardware },
	func(t *app.Template) *[]string { return &t.Compatibility.Hardware },
	func(c *app.ServiceConstraint) *[]string { return &c.Hardware },
}

// Images is the sort of image types.
var Images = TypeSort{"image",
	func(r *app.LayoutRequest) *string { return &r.Image },
	func(t *app.Template) *string { return &t.Defaults.Image },
	func(t *app.Template) *[]string { return &t.Compatibility.Images },
	func(c *app.ServiceConstraint) *[]string { return &c.Images },
}

// Others gives the types of a provider that a list does not have.
func Others(list, offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool { return slices.Contains(list, name) })
}
