package app

import (
	"context"
	"strings"
	"time"
)

// ClusterRename is another name of a cluster, as the store takes it.
type ClusterRename struct {
	Tenant  string
	Cluster string
	Name    string
	Who     Actor
	Now     time.Time
}

// RenameCluster gives a cluster another name, under the rules that names have at a create. Its id and its host names stay: they are
// in its machines' own files and in what was made from them. The name that it has already changes nothing.
func (a *App) RenameCluster(ctx context.Context, actor Actor, cluster, name string) (ClusterView, error) {
	c, err := a.look(ctx, actor, "RenameCluster", cluster)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange("RenameCluster", c); err != nil {
		return ClusterView{}, err
	}
	name = strings.TrimSpace(name)
	if err := CheckClusterName(name); err != nil {
		return ClusterView{}, err
	}
	if c.Status == ClusterDeleted {
		return ClusterView{}, Errorf(EConflict, "Cluster %q is gone.", c.Name)
	}
	if name != c.Name {
		if err := a.Store.RenameCluster(ctx, ClusterRename{Tenant: c.Tenant, Cluster: c.ID, Name: name, Who: actor, Now: a.Now()}); err != nil {
			return ClusterView{}, err
		}
	}
	return a.Cluster(ctx, actor, c.ID)
}
