package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/cluster"
	"muster/app/template"
	"muster/app/volume"
)

func volumePath(id string) string { return "/volumes/" + url.PathEscape(id) }

// Volumes are disks that outlive the machines of clusters.
type Volumes part

// List lists volumes: your own, those of a cluster, or only kept ones; with deleted, also those that are gone.
func (c *Volumes) List(ctx context.Context, cluster string, kept, deleted bool) ([]volume.Volume, error) {
	q := url.Values{}
	if cluster != "" {
		q.Set("cluster", cluster)
	}
	if kept {
		q.Set("kept", "true")
	}
	if deleted {
		q.Set("deleted", "true")
	}
	var out struct {
		Volumes []volume.Volume `json:"volumes"`
	}
	err := c.client.CallInto(ctx, "/volumes", q, &out)
	return out.Volumes, err
}

// Get returns a volume.
func (c *Volumes) Get(ctx context.Context, id string) (v volume.Volume, err error) {
	err = c.client.CallInto(ctx, volumePath(id), nil, &v)
	return v, err
}

// Extend changes how long a kept volume is kept, such as 60d or forever.
func (c *Volumes) Extend(ctx context.Context, id, keepFor string) (v volume.Volume, err error) {
	err = c.client.Call(ctx, http.MethodPatch, volumePath(id), nil, map[string]string{"keep_for": keepFor}, &v)
	return v, err
}

// Delete deletes a kept volume with all data on it.
func (c *Volumes) Delete(ctx context.Context, id string) (v volume.Volume, err error) {
	err = c.client.Call(ctx, http.MethodDelete, volumePath(id), nil, nil, &v)
	return v, err
}

// Forget ends a volume that no longer exists at its provider.
func (c *Volumes) Forget(ctx context.Context, id string) (v volume.Volume, err error) {
	err = c.client.Call(ctx, http.MethodPost, volumePath(id)+"/forget", nil, nil, &v)
	return v, err
}

// DeleteWith starts deleting a cluster, and says what happens to its volumes; "" leaves that to each volume.
func (c *Clusters) DeleteWith(ctx context.Context, id string, volumes template.VolumeChoice) (v cluster.View, err error) {
	q := url.Values{}
	if volumes != "" {
		q.Set("volumes", string(volumes))
	}
	err = c.client.Call(ctx, http.MethodDelete, ClusterPath(id), q, nil, &v)
	return v, err
}
