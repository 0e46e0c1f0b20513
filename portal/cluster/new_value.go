package cluster

import (
	"cmp"
	"net/url"
	"slices"

	"muster/app"
	"muster/app/providervalue"
	"muster/portal/page"
	valuepage "muster/portal/providervalue"
	"muster/portal/site"
)

// providerFields are what users can set of one provider.
type providerFields struct {
	Provider, Title string
	Chosen          bool
	Inputs          []valuepage.Input
}

// providerValues sets the fields of all providers of which users can set something, and reads those of the chosen one. Typed is nil where
// nothing was submitted: a link never has values. A preview has none that depend on a secret: what is half typed would be tried in the
// account.
func (n *Form) providerValues(values site.ProviderValues, typed url.Values, preview bool) {
	v := &n.View
	if v.Template == nil {
		return
	}
	chosen := cmp.Or(v.Provider, v.Template.Defaults.Provider)
	for _, name := range site.Names(n.Catalog.Providers) {
		fields := values.FieldsIn(n.Catalog, name)
		if len(fields) == 0 {
			continue
		}
		p := providerFields{Provider: name, Title: n.Title("provider", name), Chosen: name == chosen}
		given := providervalue.Values{}
		for _, f := range fields {
			in := valuepage.Input{Field: f, Name: "provider_values." + name + "." + f.Name}
			if text := typed.Get(in.Name); text != "" && p.Chosen {
				given[f.Name] = text
				if !f.Sensitive {
					in.Value = text
				}
			}
			p.Inputs = append(p.Inputs, in)
		}
		v.ProviderFields = append(v.ProviderFields, p)
		secret := slices.ContainsFunc(fields, func(f providervalue.Field) bool { return f.Sensitive })
		if p.Chosen && len(given) > 0 && !(preview && secret) {
			n.request.ProviderValues = given
			if err := providervalue.Check(name, notRequired(fields, preview), given); err != nil {
				e := app.AsError(err)
				n.complain("provider_values", page.Complaint{Message: e.Message, Hint: e.Hint})
			}
		}
	}
}

func notRequired(fields []providervalue.Field, preview bool) []providervalue.Field {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].Required = fields[i].Required && !preview
	}
	return fields
}
