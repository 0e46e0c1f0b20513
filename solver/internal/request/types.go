package request

import (
	"slices"

	"muster/app/layout"
	"muster/app/template"
)

// TypeSort says where the one or the other sort of type, hardware or image, is in requests and templates.
type TypeSort struct {
	Name       string
	Asked      func(r *layout.Request) *string
	Usual      func(t *template.Template) *string
	Compatible func(t *template.Template) *[]string
	Accepted   func(c *template.ServiceConstraint) *[]string
}

// Hardware is the sort of hardware types.
var Hardware = TypeSort{"hardware",
	func(r *layout.Request) *string { return &r.Hardware },
	func(t *template.Template) *string { return &t.Defaults.Hardware },
	func(t *template.Template) *[]string { return &t.Compatibility.Hardware },
	func(c *template.ServiceConstraint) *[]string { return &c.Hardware },
}

// Images is the sort of image types.
var Images = TypeSort{"image",
	func(r *layout.Request) *string { return &r.Image },
	func(t *template.Template) *string { return &t.Defaults.Image },
	func(t *template.Template) *[]string { return &t.Compatibility.Images },
	func(c *template.ServiceConstraint) *[]string { return &c.Images },
}

// Others returns the types of a provider that a list does not have.
func Others(list, offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool { return slices.Contains(list, name) })
}
