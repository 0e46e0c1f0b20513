package cluster

import (
	"context"
	"strings"
	"time"

	"muster/app"
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
func (a *Ownership) RenameCluster(ctx context.Context, actor app.Actor, cluster, name string) (View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "RenameCluster", cluster)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayChange("RenameCluster", c); err != nil {
		return View{}, err
	}
	name = strings.TrimSpace(name)
	if err := app.CheckClusterName(name); err != nil {
		return View{}, err
	}
	if c.Status == app.ClusterDeleted {
		return View{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	if name != c.Name {
		if err := a.Store.RenameCluster(ctx, Rename{Tenant: c.Tenant, Cluster: c.ID, Name: name, Who: actor, Now: a.Now()}); err != nil {
			return View{}, err
		}
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}
