package client

import (
	"context"
	"net/http"

	"muster/app/window"
)

// Maintenance are maintenance windows.
type Maintenance part

func maintenancePath(cluster string) string {
	if cluster == "" {
		return "/maintenance"
	}
	return ClusterPath(cluster, "maintenance")
}

// Get returns the windows of the tenant, or with an id those of a cluster.
func (c *Maintenance) Get(ctx context.Context, cluster string) (v window.View, err error) {
	err = c.client.CallInto(ctx, maintenancePath(cluster), nil, &v)
	return v, err
}

// Set sets the windows of the tenant, or with an id a cluster's own.
func (c *Maintenance) Set(ctx context.Context, cluster string, s window.Settings) (v window.View, err error) {
	err = c.client.Call(ctx, http.MethodPut, maintenancePath(cluster), nil, s, &v)
	return v, err
}

// Inherit lets a cluster use the tenant's windows again.
func (c *Maintenance) Inherit(ctx context.Context, cluster string) (v window.View, err error) {
	err = c.client.Call(ctx, http.MethodDelete, maintenancePath(cluster), nil, nil, &v)
	return v, err
}
