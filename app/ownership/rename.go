package ownership

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// Rename is another name of a cluster, as the store takes it.
type Rename struct {
	Tenant  string
	Cluster string
	Name    string
	Who     app.Actor
	Now     time.Time
}

// RenameCluster renames a cluster, under the rules that names have at a create. Its id and its host names stay: they are
// in its machines' own files and in what was made from them. The name that it has already changes nothing.
func (a *Service) RenameCluster(ctx context.Context, actor app.Actor, id, name string) (cluster.View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "RenameCluster", id)
	if err != nil {
		return cluster.View{}, err
	}
	if err := actor.MayChange("RenameCluster", c); err != nil {
		return cluster.View{}, err
	}
	name = strings.TrimSpace(name)
	if err := app.CheckClusterName(name); err != nil {
		return cluster.View{}, err
	}
	if c.Status == app.ClusterDeleted {
		return cluster.View{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	if name != c.Name {
		if err := a.Store.RenameCluster(ctx, Rename{Tenant: c.Tenant, Cluster: c.ID, Name: name, Who: actor, Now: a.Now()}); err != nil {
			return cluster.View{}, err
		}
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}
