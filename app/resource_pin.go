package app

import (
	"maps"
	"slices"
)

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
