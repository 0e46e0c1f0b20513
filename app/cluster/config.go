package cluster

import (
	"context"

	"muster/app"
)

// ClusterConfig returns the configuration of a cluster to those who may update it. What may be secret is HiddenValue.
func (a *Specs) ClusterConfig(ctx context.Context, actor app.Actor, cluster string) (map[string]any, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterConfig", cluster)
	if err != nil {
		return nil, err
	}
	if err := actor.MayChange("ClusterConfig", c); err != nil {
		return nil, err
	}
	if c.Status == app.ClusterDeleted {
		return nil, app.Errorf(app.EConflict, "Cluster %q was deleted, along with its configuration.", c.Name)
	}
	d, err := a.Store.Definition(ctx, actor.Tenant, c.ID)
	if err != nil || d.Config == nil {
		return map[string]any{}, err
	}
	return Concealed(d.Config).(map[string]any), nil
}
