package client

import (
	"context"
	"net/http"

	"muster/app/providervalue"
)

// ProviderValues are what users have set for the providers of clusters.
type ProviderValues part

// Get returns what is set for a cluster, without sensitive values.
func (c *ProviderValues) Get(ctx context.Context, cluster string) (v providervalue.View, err error) {
	err = c.client.CallInto(ctx, ClusterPath(cluster, "provider-values"), nil, &v)
	return v, err
}

// Set replaces the values that are named; an empty one is removed.
func (c *ProviderValues) Set(ctx context.Context, cluster string, values providervalue.Values) (v providervalue.View, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(cluster, "provider-values"), nil, providervalue.Change{Values: values}, &v)
	return v, err
}
