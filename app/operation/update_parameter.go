package operation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/template"
)

// setParameters lays values of the template's parameters over the configuration, by the limits that the template has now. Null, or
// nothing where that is no value, takes a value back: then it is what the template says. Parameters of how a cluster is made, such as
// its hardware, cannot be changed so.
func (d *updateBuilder) setParameters() error {
	if len(d.ask.Parameters) == 0 {
		return nil
	}
	t := d.catalog.Templates[d.Template]
	if t == nil {
		return &app.Error{Code: app.EConflict, Reason: "missing_template", Field: "parameters",
			Message: fmt.Sprintf("Template %s of cluster %q is no longer in the catalog, so its parameters are unknown.", d.Template, d.Name),
			Hint:    "Change the configuration directly, or ask an admin to restore the template."}
	}
	given := maps.Clone(d.was.Parameters)
	if given == nil {
		given = map[string]any{}
	}
	set := template.Resolved{}
	for _, name := range slices.Sorted(maps.Keys(d.ask.Parameters)) {
		i := slices.IndexFunc(t.Parameters, func(p template.Parameter) bool { return p.Name == name })
		if i < 0 {
			return t.UnknownParameter(name)
		}
		p := t.Parameters[i]
		for _, to := range p.Targets() {
			if !strings.HasPrefix(to, "config.") {
				return &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "parameters." + name,
					Message: fmt.Sprintf("%s sets the %s of new clusters and can't be changed afterwards.", p.Title(), strings.ReplaceAll(to, "_", " ")),
					Hint:    "Omit it. Use resize to change the size, hardware or image of new nodes."}
			}
		}
		v, err := p.Value(d.ask.Parameters[name])
		if err != nil {
			return err
		}
		delete(given, name)
		if v != nil {
			given[name] = v
		} else if v, _ = p.Read(p.Default); v == nil && p.Required {
			return &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "parameters." + name,
				Message: fmt.Sprintf("%s is required in template %s.", p.Title(), t.Name), Hint: p.Hint()}
		}
		if v != nil {
			set.Lay(p, v, t.Defaults.Config)
			continue
		}
		d.layBack(p, t, &set)
	}
	if err := d.was.CheckImmutable(template.Override{Config: set.Config}); err != nil {
		return err
	}
	d.definition.Parameters = nil
	if len(given) > 0 {
		d.definition.Parameters = given
	}
	d.definition.Config = overlay(d.definition.Config, set.Config)
	d.definition.Overrides = keepWhereThere(d.definition.Overrides, set.Config)
	return nil
}

// layBack says again what the template itself says where a parameter without a value would set something.
func (d *updateBuilder) layBack(p template.Parameter, t *template.Template, set *template.Resolved) {
	for _, to := range p.Targets() {
		keys := template.KeysOf(t.Defaults.Config, strings.TrimPrefix(to, "config."))
		if set.Config == nil {
			set.Config = map[string]any{}
		}
		template.SetAt(set.Config, keys, cluster.ValueAt(t.Defaults.Config, keys)) // nil takes it out
	}
}

// keepWhereThere returns a map with the values of another one at those places that it has itself. So what was once asked for beside the
// template does not come before a parameter at the next upgrade, and what was not is left to the parameter.
func keepWhereThere(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	for k, v := range over {
		had, is := out[k]
		if !is {
			continue
		}
		b, isMap := had.(map[string]any)
		if o, both := v.(map[string]any); both && isMap {
			out[k] = keepWhereThere(b, o)
			continue
		}
		out[k] = v
	}
	return out
}
