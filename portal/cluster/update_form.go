package cluster

import (
	"slices"

	"muster/app/cluster"
	"muster/portal/page"
)

// Addable are the services that a cluster's template allows and that the cluster doesn't have.
func Addable(n *Form, v cluster.View, ticked []string) []page.Choice {
	t := n.Catalog.Templates[v.Template]
	if t == nil {
		return nil
	}
	var out []page.Choice
	for _, s := range Allowed(n.Catalog.Services, t.Compatibility.Services, t.Defaults.Services) {
		if !slices.Contains(v.Services, s) {
			out = append(out, page.Choice{Value: s, Label: n.Title("service", s), Help: n.Description(s), Chosen: slices.Contains(ticked, s)})
		}
	}
	return out
}
