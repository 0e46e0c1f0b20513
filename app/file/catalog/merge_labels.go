package catalog

import (
	"maps"

	"muster/app/label"
)

// labels adds those of a layer, key by key: whatever one of them requires is required.
func (m *merging) labels(of *label.Rules) {
	if of == nil {
		return
	}
	had := m.out.Labels
	if had == nil {
		had = &label.Rules{}
	}
	all := &label.Rules{Defaults: maps.Clone(had.Defaults), Required: maps.Clone(had.Required)} // the layers below keep theirs
	for key, value := range of.Defaults {
		if all.Defaults == nil {
			all.Defaults = label.Labels{}
		}
		all.Defaults[key] = value
		m.took("labels.defaults."+key, "labels")
	}
	for key, hint := range of.Required {
		if all.Required == nil {
			all.Required = map[string]string{}
		}
		all.Required[key] = hint
		m.took("labels.required."+key, "labels")
	}
	m.out.Labels = all
}
