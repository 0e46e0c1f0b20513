package app

import "context"

// ClusterConfig gives the configuration of a cluster to those who may amend it. What may be secret is HiddenValue.
func (a *App) ClusterConfig(ctx context.Context, actor Actor, cluster string) (map[string]any, error) {
	c, err := a.look(ctx, actor, "ClusterConfig", cluster)
	if err != nil {
		return nil, err
	}
	if err := actor.mayChange("ClusterConfig", c); err != nil {
		return nil, err
	}
	if c.Status == ClusterDeleted {
		return nil, Errorf(EConflict, "Cluster %q is gone, and its configuration with it.", c.Name)
	}
	d, err := a.Store.Definition(ctx, actor.Tenant, c.ID)
	if err != nil || d.Config == nil {
		return map[string]any{}, err
	}
	return concealed(d.Config).(map[string]any), nil
}
