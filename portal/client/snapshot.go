package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/template"
	"muster/app/volume"
)

// Snapshots lists snapshots: your own, or those of a volume; with deleted, also those that are gone.
func (c *Volumes) Snapshots(ctx context.Context, of string, deleted bool) ([]volume.Snapshot, error) {
	q := url.Values{}
	if of != "" {
		q.Set("volume", of)
	}
	if deleted {
		q.Set("deleted", "true")
	}
	var out struct {
		Snapshots []volume.Snapshot `json:"snapshots"`
	}
	err := c.client.CallInto(ctx, "/snapshots", q, &out)
	return out.Snapshots, err
}

// Snapshot creates a snapshot of a volume; keep is how many of its snapshots are kept, 0 for the default.
func (c *Volumes) Snapshot(ctx context.Context, id string, keep int) (s volume.Snapshot, err error) {
	err = c.client.Call(ctx, http.MethodPost, volumePath(id)+"/snapshots", nil, map[string]int{"keep": keep}, &s)
	return s, err
}

// SetSnapshots says when snapshots of a volume are made; the zero value: never.
func (c *Volumes) SetSnapshots(ctx context.Context, id string, s template.Snapshots) (v volume.Volume, err error) {
	err = c.client.Call(ctx, http.MethodPut, volumePath(id)+"/snapshot-schedule", nil, map[string]any{
		"every": s.Every, "keep": s.Keep, "keep_for": s.KeepFor}, &v)
	return v, err
}

// DeleteSnapshot deletes a snapshot.
func (c *Volumes) DeleteSnapshot(ctx context.Context, id string) (s volume.Snapshot, err error) {
	err = c.client.Call(ctx, http.MethodDelete, "/snapshots/"+url.PathEscape(id), nil, nil, &s)
	return s, err
}
