package automators

import (
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/automators/shell"
)

// list has every member, by the name that a service action's automator is given by. Keep it alphabetical.
var list = map[string]func() app.Automator{
	"shell": func() app.Automator { return shell.New() },
}

// Names gives the names of all members, sorted.
func Names() []string { return slices.Sorted(maps.Keys(list)) }

// New makes the automator of that name. An unknown name is EInvalid, with field "automator" and the nearest name in the
// hint. An automator may serve any number of nodes at the same time.
func New(name string) (app.Automator, error) {
	make, ok := list[name]
	if !ok {
		return nil, &app.Error{
			Code: app.EInvalid, Reason: "unknown_automator", Field: "automator",
			Message: "There is no automator " + quoted(name) + ".",
			Hint:    instead(name, Names(), "The automators are "),
		}
	}
	return make(), nil
}

// Check validates the fields of a service action, first against the automator's descriptor and then by the automator
// itself. The error is EInvalid with Field set.
func Check(name string, fields map[string]string) error {
	a, err := New(name)
	if err != nil {
		return err
	}
	if err := checkFields(a.Descriptor(), fields); err != nil {
		return err
	}
	return a.Check(fields)
}

// checkFields checks what a descriptor can tell: names, required fields, options.
func checkFields(d app.Descriptor, fields map[string]string) error {
	var known []string
	for _, f := range d.Fields {
		known = append(known, f.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return &app.Error{
				Code: app.EInvalid, Reason: "unknown_field", Field: name,
				Message: "The automator " + d.Name + " has no field " + quoted(name) + ".",
				Hint:    instead(name, known, "Its fields are "),
			}
		}
	}
	for _, f := range d.Fields {
		v := fields[f.Name]
		if f.Required && strings.TrimSpace(v) == "" {
			return &app.Error{
				Code: app.EInvalid, Reason: "missing_field", Field: f.Name,
				Message: "The automator " + d.Name + " needs the field " + quoted(f.Name) + ".", Hint: f.Help,
			}
		}
		if v != "" && len(f.Options) > 0 && !slices.Contains(f.Options, v) {
			return &app.Error{
				Code: app.EInvalid, Reason: "bad_option", Field: f.Name,
				Message: quoted(v) + " is not an option of the field " + quoted(f.Name) + ".",
				Hint:    instead(v, f.Options, "The options are "),
			}
		}
	}
	return nil
}
