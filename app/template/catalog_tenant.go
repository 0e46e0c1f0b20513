package template

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// TemplatesBeside returns the templates that are not those of another catalog, to be kept as versions.
func (c *Catalog) TemplatesBeside(base *Catalog, by string, at time.Time) (list []CatalogVersion) {
	add := func(t *Template) {
		text := CatalogText(t)
		list = append(list, CatalogVersion{Kind: KindTemplate, Name: t.Name, Hash: Digest(text), Text: text, At: at, By: by})
	}
	for name, t := range c.Templates {
		if base.Templates[name] != t {
			add(t)
		}
	}
	for name, t := range c.Written {
		if t.Partial && base.Written[name] != t {
			add(t)
		}
	}
	slices.SortFunc(list, func(x, y CatalogVersion) int { return cmp.Compare(x.Name, y.Name) })
	return list
}

// Resources lists what the service's actions use; none if the service is nil.
func (s *Service) Resources() (list []ResourceRef) {
	if s == nil {
		return nil
	}
	for _, act := range ServiceActions {
		if action := s.Actions[act]; action != nil {
			list = append(list, action.Resources...)
		}
	}
	return list
}

// Runs reports whether a service has something run on its nodes.
func (s *Service) Runs() bool {
	for _, a := range s.Actions {
		if a.Person == nil {
			return true
		}
	}
	return s.Health != nil && s.Health.Command != ""
}

// WithOwnActions is a copy whose actions and their resources can be written to.
func (s *Service) WithOwnActions() *Service {
	out := *s
	out.Actions = maps.Clone(s.Actions)
	for name, action := range out.Actions {
		if action != nil {
			own := *action
			own.Resources = slices.Clone(action.Resources)
			out.Actions[name] = &own
		}
	}
	return &out
}
