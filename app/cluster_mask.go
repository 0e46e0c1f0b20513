package app

import (
	"slices"
	"strings"
)

// Masked are the terms without values of the configuration.
func (t *AmendTerms) Masked() *AmendTerms {
	if t == nil {
		return nil
	}
	out := *t
	out.Amendment.Parameters = nil
	out.Changes = slices.Clone(t.Changes)
	for i, c := range out.Changes {
		if c.Path != "config" && !strings.HasPrefix(c.Path, "config.") && !strings.HasPrefix(c.Path, "config[") {
			continue
		}
		if c.Before != "" {
			out.Changes[i].Before = HiddenValue
		}
		if c.After != "" {
			out.Changes[i].After = HiddenValue
		}
	}
	return &out
}
