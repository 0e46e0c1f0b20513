package automators

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/automators/ansible"
	"muster/automators/chef"
	"muster/automators/docker"
	"muster/automators/puppet"
	"muster/automators/shell"
)

// list has every member, by the name that a service action's automator is given by. Keep it alphabetical.
var list = map[string]func() family.Automator{
	"ansible":   func() family.Automator { return ansible.New() },
	"chef-solo": func() family.Automator { return chef.New(settings.get().ChefPackages...) },
	"docker":    func() family.Automator { return docker.New() },
	"puppet":    func() family.Automator { return puppet.New() },
	"shell":     func() family.Automator { return shell.New() },
}

// Settings are what an installation says of members. The zero value leaves all to them.
type Settings struct {
	ChefPackages []chef.Package // for nodes whose distribution has neither Chef nor Cinc; see chef.ParsePackage
}

var settings held

type held struct {
	mu sync.RWMutex
	is Settings
}

func (h *held) get() Settings {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.is
}

// Configure says what holds for members that New makes from now on.
func Configure(s Settings) {
	settings.mu.Lock()
	defer settings.mu.Unlock()
	settings.is = s
}

// Names returns the names of all members, sorted.
func Names() []string {
	all := slices.AppendSeq(plugged.Names(), maps.Keys(list))
	slices.Sort(all)
	return all
}

// Descriptors returns what each member says of itself, sorted by name.
func Descriptors() []family.Descriptor {
	var out []family.Descriptor
	for _, name := range Names() {
		if a, err := New(name); err == nil {
			out = append(out, a.Descriptor())
		}
	}
	return out
}

// New makes the automator of that name. One whose program was removed is EForbidden. An unknown name is EInvalid, with field "automator" and the nearest name in the
// hint. An automator may serve any number of nodes at the same time.
func New(name string) (family.Automator, error) {
	if err := Removed(name); err != nil {
		e := *app.AsError(err)
		e.Field = "automator"
		return nil, &e
	}
	if a, ok := plugged.Member(name); ok {
		return a, nil
	}
	make, ok := list[name]
	if !ok {
		return nil, &app.Error{
			Code: app.EInvalid, Reason: "unknown_automator", Field: "automator",
			Message: "Automator " + quoted(name) + " doesn't exist.",
			Hint:    suggest(name, Names(), "Available automators: "),
		}
	}
	return make(), nil
}

// DryRuns reports whether a member can say what it would change; see family.DryRunner.
func DryRuns(name string) bool {
	a, err := New(name)
	if err != nil {
		return false
	}
	_, ok := a.(family.DryRunner)
	return ok
}

// Inputs returns what an action of a member sees of a configuration, or why its result may differ between nodes; see family.InputReader.
func Inputs(name string, fields map[string]string, config map[string]any) (seen map[string]any, why string) {
	a, err := New(name)
	if err != nil {
		return nil, app.AsError(err).ForPeople()
	}
	r, ok := a.(family.InputReader)
	if !ok {
		return nil, "its automator " + name + " passes facts of the node to it"
	}
	return r.Inputs(fields, config)
}

// ResourceTypes are the types of resources that a member declares; none where there is no such member.
func ResourceTypes(name string) []template.ResourceType {
	a, err := New(name)
	if err != nil {
		return nil
	}
	return a.Descriptor().ResourceTypes
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

// checkFields checks what a descriptor can tell: names, required fields, options, and numbers and truth values where that type was said; a default alone
// does not tell that 0.5 or 512m would be wrong. What is expanded for each node is known only there.
func checkFields(d family.Descriptor, fields map[string]string) error {
	var known []string
	for _, f := range d.Fields {
		known = append(known, f.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return &app.Error{
				Code: app.EInvalid, Reason: "unknown_field", Field: name,
				Message: "Automator " + d.Name + " has no field " + quoted(name) + ".",
				Hint:    suggest(name, known, "Available fields: "),
			}
		}
	}
	for _, f := range d.Fields {
		v := fields[f.Name]
		if f.Required && strings.TrimSpace(v) == "" {
			return &app.Error{
				Code: app.EInvalid, Reason: "missing_field", Field: f.Name,
				Message: "Automator " + d.Name + " needs the field " + quoted(f.Name) + ".", Hint: f.Help,
			}
		}
		if v != "" && len(f.Options) > 0 && !slices.Contains(f.Options, v) {
			return &app.Error{
				Code: app.EInvalid, Reason: "bad_option", Field: f.Name,
				Message: quoted(v) + " isn't an option of the field " + quoted(f.Name) + ".",
				Hint:    suggest(v, f.Options, "Options: "),
			}
		}
		if (f.Type == family.FieldInt || f.Type == family.FieldBool) && !strings.Contains(v, "%") {
			if e := f.Check(v); e != nil {
				e.Reason = "bad_value"
				return e
			}
		}
	}
	return nil
}
