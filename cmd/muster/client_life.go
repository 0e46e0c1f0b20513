package main

import (
	"context"
	"net/http"

	"muster/app"
)

func (c *client) renameCluster(ctx context.Context, id, name string) (v app.ClusterView, err error) {
	err = c.call(ctx, http.MethodPost, clusterPath(id, "rename"), nil, map[string]string{"name": name}, &v)
	return v, err
}

func (c *client) transferCluster(ctx context.Context, id, to string) (v app.ClusterView, err error) {
	err = c.call(ctx, http.MethodPost, clusterPath(id, "transfer"), nil, map[string]string{"to": to}, &v)
	return v, err
}
