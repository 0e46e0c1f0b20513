package page

import "muster/app"

var visibilityWords = map[app.Visibility]string{app.VisiblePrivate: "Private", app.VisibleTenant: "Everyone in the tenant"}

// VisibilityChoices are the options for a new cluster.
func VisibilityChoices(chosen string) []Choice {
	out := []Choice{{Label: "the tenant's default"}}
	for _, v := range app.Visibilities {
		out = append(out, Choice{Value: string(v), Label: visibilityWords[v], Chosen: string(v) == chosen})
	}
	return out
}

// OwnerWords names who owns a cluster: ana, or ana and the group ops.
func OwnerWords(c app.Cluster) string {
	if c.OwnerGroup == "" {
		return c.Owner
	}
	return c.Owner + " and the group " + c.OwnerGroup
}
