package site

import (
	"net/http"

	"muster/app"
	"muster/app/cluster"
	"muster/portal/page"
)

// ClusterFrame is the frame of a cluster's pages.
func (p *Site) ClusterFrame(r *http.Request, title string) page.Frame {
	f := p.Frame(r, title)
	f.At, f.Styles, f.Scripts = "clusters", append(f.Styles, "plan.css", "cluster.css"), append(f.Scripts, "cluster.js")
	return f
}

// ClusterTabs are the cluster's pages that the person can open.
func (p *Site) ClusterTabs(a app.Actor, v cluster.View, at string) page.ClusterTabs {
	return page.ClusterTabs{ID: v.ID, At: at, Deleted: v.Status == app.ClusterDeleted, Shares: a.MayIn("ShareCluster", v.Cluster)}
}

// IfSeen is where to redirect after an act that may have removed the actor's own access to a cluster.
func (p *Site) IfSeen(r *http.Request, a app.Actor, cluster, to, otherwise string) string {
	if _, err := p.Clusters.Cluster(r.Context(), a, cluster); app.CodeOf(err) == app.ENotFound {
		return otherwise
	}
	return to
}
