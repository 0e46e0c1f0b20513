package cluster

import (
	"muster/app"
	"muster/portal/page"
)

var visibilityWords = map[app.Visibility]string{app.VisiblePrivate: "Private", app.VisibleTenant: "Everyone in the tenant"}

// visibilityChoices are the options for a new cluster.
func visibilityChoices(chosen string) []page.Choice {
	out := []page.Choice{{Label: "Tenant default"}}
	for _, v := range app.Visibilities {
		out = append(out, page.Choice{Value: string(v), Label: visibilityWords[v], Chosen: string(v) == chosen})
	}
	return out
}

// OwnerWords names the owner of a cluster: ana, or ana and group ops.
func OwnerWords(c app.Cluster) string {
	if c.OwnerGroup == "" {
		return c.Owner
	}
	return c.Owner + " and group " + c.OwnerGroup
}
