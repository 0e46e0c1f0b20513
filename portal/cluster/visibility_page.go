package cluster

import (
	"muster/app"
	"muster/portal/page"
)

// visibilityChoices are the options for a new cluster.
func visibilityChoices(chosen string) []page.Choice {
	out := []page.Choice{{Label: "Tenant default"}}
	for _, v := range app.Visibilities {
		out = append(out, page.Choice{Value: string(v), Label: page.VisibilityWord(v), Chosen: string(v) == chosen})
	}
	return out
}
