package cluster

import (
	"context"
	"strings"
	"time"

	"muster/app"
)

// ClusterRename is another name of a cluster, as the store takes it.
type ClusterRename struct {
	Tenant  string
	Cluster string
	Name    string
	Who     app.Actor
	Now     time.Time
}

// RenameCluster gives a cluster another name, under the rules that names have at a create. Its id and its host names stay: they are
// in its machines' own files and in what was made from them. The name that it has already changes nothing.
func (a *Ownership) RenameCluster(ctx context.Context, actor app.Actor, cluster, name string) (ClusterView, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "RenameCluster", cluster)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.MayChange("RenameCluster", c); err != nil {
		return ClusterView{}, err
	}
	name = strings.TrimSpace(name)
	if err := app.CheckClusterName(name); err != nil {
		return ClusterView{}, err
	}
	if c.Status == app.ClusterDeleted {
		return ClusterView{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	if name != c.Name {
		if err := a.Store.RenameCluster(ctx, ClusterRename{Tenant: c.Tenant, Cluster: c.ID, Name: name, Who: actor, Now: a.Now()}); err != nil {
			return ClusterView{}, err
		}
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}
