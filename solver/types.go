package solver

import (
	"slices"

	"muster/app"
)

// typeSort says where the one or the other sort of type, hardware or image, stands in requests and templates.
type typeSort struct {
	name       string
	asked      func(r *app.LayoutRequest) *string
	usual      func(t *app.Template) *string
	compatible func(t *app.Template) *[]string
	accepted   func(c *app.ServiceConstraint) *[]string
}

// hardwareOf is the sort of hardware types.
var hardwareOf = typeSort{"hardware",
	func(r *app.LayoutRequest) *string { return &r.Hardware },
	func(t *app.Template) *string { return &t.Defaults.Hardware },
	func(t *app.Template) *[]string { return &t.Compatibility.Hardware },
	func(c *app.ServiceConstraint) *[]string { return &c.Hardware },
}

// imagesOf is the sort of image types.
var imagesOf = typeSort{"image",
	func(r *app.LayoutRequest) *string { return &r.Image },
	func(t *app.Template) *string { return &t.Defaults.Image },
	func(t *app.Template) *[]string { return &t.Compatibility.Images },
	func(c *app.ServiceConstraint) *[]string { return &c.Images },
}

// others gives the types of a provider that a list does not have.
func others(list, offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool { return slices.Contains(list, name) })
}
