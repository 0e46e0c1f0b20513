package gcp

import (
	"context"
	"net/http"
)

// disks are the Client's calls about disks.
type disks struct{ api *Client }

// Disks lists the disks of all zones that a filter leaves.
func (d disks) Disks(ctx context.Context, project, filter string, each func(*DiskAggregatedList) error) error {
	query := with(nil, "filter", filter, "returnPartialSuccess", "false", "maxResults", most)
	return list[DiskAggregatedList](ctx, d.api, d.api.compute, path("projects/%s/aggregated/disks", project), query, each)
}

// Disk returns one disk.
func (d disks) Disk(ctx context.Context, project, zone, name string) (*Disk, error) {
	return get[Disk](ctx, d.api, d.api.compute, path("projects/%s/zones/%s/disks/%s", project, zone, name), nil)
}

// InsertDisk begins to make a disk.
func (d disks) InsertDisk(ctx context.Context, project, zone string, disk *Disk, requestID string) (*Operation, error) {
	return ask[Operation](ctx, d.api, http.MethodPost, d.api.compute, path("projects/%s/zones/%s/disks", project, zone), once(requestID), disk)
}

// DeleteDisk begins to delete a disk.
func (d disks) DeleteDisk(ctx context.Context, project, zone, name, requestID string) (*Operation, error) {
	return ask[Operation](ctx, d.api, http.MethodDelete, d.api.compute, path("projects/%s/zones/%s/disks/%s", project, zone, name), once(requestID), nil)
}

// AttachDisk begins to attach a disk to an instance.
func (d disks) AttachDisk(ctx context.Context, project, zone, name string, disk *AttachedDisk, requestID string) (*Operation, error) {
	return d.api.change(ctx, project, zone, name, "attachDisk", requestID, disk)
}

// DetachDisk begins to take the disk with a device name off an instance.
func (d disks) DetachDisk(ctx context.Context, project, zone, name, device, requestID string) (*Operation, error) {
	at := path("projects/%s/zones/%s/instances/%s/detachDisk", project, zone, name)
	return ask[Operation](ctx, d.api, http.MethodPost, d.api.compute, at, with(once(requestID), "deviceName", device), nil)
}

// Snapshots lists the snapshots that a filter leaves.
func (d disks) Snapshots(ctx context.Context, project, filter string, each func(*SnapshotList) error) error {
	query := with(nil, "filter", filter, "returnPartialSuccess", "false", "maxResults", most)
	return list[SnapshotList](ctx, d.api, d.api.compute, path("projects/%s/global/snapshots", project), query, each)
}

// Snapshot returns one snapshot.
func (d disks) Snapshot(ctx context.Context, project, name string) (*Snapshot, error) {
	return get[Snapshot](ctx, d.api, d.api.compute, path("projects/%s/global/snapshots/%s", project, name), nil)
}

// InsertSnapshot begins to copy a disk.
func (d disks) InsertSnapshot(ctx context.Context, project, zone, disk string, s *Snapshot, requestID string) (*Operation, error) {
	at := path("projects/%s/zones/%s/disks/%s/createSnapshot", project, zone, disk)
	return ask[Operation](ctx, d.api, http.MethodPost, d.api.compute, at, once(requestID), s)
}

// DeleteSnapshot begins to delete a snapshot.
func (d disks) DeleteSnapshot(ctx context.Context, project, name, requestID string) (*Operation, error) {
	at := path("projects/%s/global/snapshots/%s", project, name)
	return ask[Operation](ctx, d.api, http.MethodDelete, d.api.compute, at, once(requestID), nil)
}
