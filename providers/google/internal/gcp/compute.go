package gcp

import (
	"context"
	"net/http"
	"net/url"
)

// most is how many things a page of a list is asked to hold; the Compute API allows no more.
const most = "500"

// Project returns a project, with its quotas.
func (c *Client) Project(ctx context.Context, project string) (*Project, error) {
	return get[Project](ctx, c, c.compute, path("projects/%s", project), nil)
}

// Zones lists the zones of all regions.
func (c *Client) Zones(ctx context.Context, project string, each func(*ZoneList) error) error {
	return list[ZoneList](ctx, c, c.compute, path("projects/%s/zones", project), with(nil, "maxResults", most), each)
}

// Zone returns one zone.
func (c *Client) Zone(ctx context.Context, project, zone string) (*Zone, error) {
	return get[Zone](ctx, c, c.compute, path("projects/%s/zones/%s", project, zone), nil)
}

// Region returns a region, with its quotas.
func (c *Client) Region(ctx context.Context, project, region string) (*Region, error) {
	return get[Region](ctx, c, c.compute, path("projects/%s/regions/%s", project, region), nil)
}

// MachineTypes lists the machine types of a zone.
func (c *Client) MachineTypes(ctx context.Context, project, zone string, each func(*MachineTypeList) error) error {
	return list[MachineTypeList](ctx, c, c.compute, path("projects/%s/zones/%s/machineTypes", project, zone), with(nil, "maxResults", most), each)
}

// MachineType returns one machine type, which may be a custom one.
func (c *Client) MachineType(ctx context.Context, project, zone, name string) (*MachineType, error) {
	return get[MachineType](ctx, c, c.compute, path("projects/%s/zones/%s/machineTypes/%s", project, zone, name), nil)
}

// DiskType returns one type of disk.
func (c *Client) DiskType(ctx context.Context, project, zone, name string) (*DiskType, error) {
	return get[DiskType](ctx, c, c.compute, path("projects/%s/zones/%s/diskTypes/%s", project, zone, name), nil)
}

// Images lists the images of a project.
func (c *Client) Images(ctx context.Context, project string, each func(*ImageList) error) error {
	return list[ImageList](ctx, c, c.compute, path("projects/%s/global/images", project), with(nil, "maxResults", most), each)
}

// Image returns one image.
func (c *Client) Image(ctx context.Context, project, name string) (*Image, error) {
	return get[Image](ctx, c, c.compute, path("projects/%s/global/images/%s", project, name), nil)
}

// ImageFromFamily returns the newest image of a family that is not deprecated.
func (c *Client) ImageFromFamily(ctx context.Context, project, family string) (*Image, error) {
	return get[Image](ctx, c, c.compute, path("projects/%s/global/images/family/%s", project, family), nil)
}

// Network returns one VPC network.
func (c *Client) Network(ctx context.Context, project, name string) (*Network, error) {
	return get[Network](ctx, c, c.compute, path("projects/%s/global/networks/%s", project, name), nil)
}

// Subnetwork returns one subnetwork.
func (c *Client) Subnetwork(ctx context.Context, project, region, name string) (*Subnetwork, error) {
	return get[Subnetwork](ctx, c, c.compute, path("projects/%s/regions/%s/subnetworks/%s", project, region, name), nil)
}

// Instances lists the instances of all zones that a filter leaves.
func (c *Client) Instances(ctx context.Context, project, filter string, each func(*InstanceAggregatedList) error) error {
	query := with(nil, "filter", filter, "returnPartialSuccess", "false", "maxResults", most)
	return list[InstanceAggregatedList](ctx, c, c.compute, path("projects/%s/aggregated/instances", project), query, each)
}

// Instance returns one instance.
func (c *Client) Instance(ctx context.Context, project, zone, name string) (*Instance, error) {
	return get[Instance](ctx, c, c.compute, path("projects/%s/zones/%s/instances/%s", project, zone, name), nil)
}

// once is the query of a call that changes something: the cloud answers a call that comes again under the same id with the operation of the first one.
func once(requestID string) url.Values { return with(nil, "requestId", requestID) }

// InsertInstance begins to make an instance.
func (c *Client) InsertInstance(ctx context.Context, project, zone string, i *Instance, requestID string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodPost, c.compute, path("projects/%s/zones/%s/instances", project, zone), once(requestID), i)
}

// DeleteInstance begins to delete an instance.
func (c *Client) DeleteInstance(ctx context.Context, project, zone, name, requestID string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodDelete, c.compute, path("projects/%s/zones/%s/instances/%s", project, zone, name), once(requestID), nil)
}

// StopInstance begins to stop an instance.
func (c *Client) StopInstance(ctx context.Context, project, zone, name, requestID string) (*Operation, error) {
	return c.change(ctx, project, zone, name, "stop", requestID, nil)
}

// StartInstance begins to start an instance that was stopped.
func (c *Client) StartInstance(ctx context.Context, project, zone, name, requestID string) (*Operation, error) {
	return c.change(ctx, project, zone, name, "start", requestID, nil)
}

// ResumeInstance begins to resume an instance that was suspended.
func (c *Client) ResumeInstance(ctx context.Context, project, zone, name, requestID string) (*Operation, error) {
	return c.change(ctx, project, zone, name, "resume", requestID, nil)
}

// SetMetadata begins to replace the metadata of an instance.
func (c *Client) SetMetadata(ctx context.Context, project, zone, name string, m *Metadata, requestID string) (*Operation, error) {
	return c.change(ctx, project, zone, name, "setMetadata", requestID, m)
}

// SetLabels begins to replace the labels of an instance.
func (c *Client) SetLabels(ctx context.Context, project, zone, name string, l *LabelsRequest, requestID string) (*Operation, error) {
	return c.change(ctx, project, zone, name, "setLabels", requestID, l)
}

// SetTags begins to replace the network tags of an instance.
func (c *Client) SetTags(ctx context.Context, project, zone, name string, t *Tags, requestID string) (*Operation, error) {
	return c.change(ctx, project, zone, name, "setTags", requestID, t)
}

func (c *Client) change(ctx context.Context, project, zone, name, verb, requestID string, send any) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodPost, c.compute, path("projects/%s/zones/%s/instances/%s/%s", project, zone, name, verb), once(requestID), send)
}

// HasGuestAttribute returns nil where an instance has set a guest attribute, and an *Error with status 404 where it has not.
func (c *Client) HasGuestAttribute(ctx context.Context, project, zone, name, attribute string) error {
	at := path("projects/%s/zones/%s/instances/%s/getGuestAttributes", project, zone, name)
	_, err := get[struct{}](ctx, c, c.compute, at, with(nil, "queryPath", attribute))
	return err
}

// WaitZone waits for an operation of a zone, for up to two minutes; the operation that it returns need not have ended.
func (c *Client) WaitZone(ctx context.Context, project, zone, name string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodPost, c.compute, path("projects/%s/zones/%s/operations/%s/wait", project, zone, name), nil, nil)
}

// WaitRegion is as WaitZone, for an operation of a region.
func (c *Client) WaitRegion(ctx context.Context, project, region, name string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodPost, c.compute, path("projects/%s/regions/%s/operations/%s/wait", project, region, name), nil, nil)
}

// WaitGlobal is as WaitZone, for an operation of no zone or region.
func (c *Client) WaitGlobal(ctx context.Context, project, name string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodPost, c.compute, path("projects/%s/global/operations/%s/wait", project, name), nil, nil)
}

// Firewalls lists the firewall rules of a project that a filter leaves.
func (c *Client) Firewalls(ctx context.Context, project, filter string, each func(*FirewallList) error) error {
	query := with(nil, "filter", filter, "maxResults", most)
	return list[FirewallList](ctx, c, c.compute, path("projects/%s/global/firewalls", project), query, each)
}

// Firewall returns one firewall rule.
func (c *Client) Firewall(ctx context.Context, project, name string) (*Firewall, error) {
	return get[Firewall](ctx, c, c.compute, path("projects/%s/global/firewalls/%s", project, name), nil)
}

// InsertFirewall begins to make a firewall rule.
func (c *Client) InsertFirewall(ctx context.Context, project string, f *Firewall, requestID string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodPost, c.compute, path("projects/%s/global/firewalls", project), once(requestID), f)
}

// UpdateFirewall begins to replace a firewall rule as a whole.
func (c *Client) UpdateFirewall(ctx context.Context, project, name string, f *Firewall, requestID string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodPut, c.compute, path("projects/%s/global/firewalls/%s", project, name), once(requestID), f)
}

// DeleteFirewall begins to delete a firewall rule.
func (c *Client) DeleteFirewall(ctx context.Context, project, name, requestID string) (*Operation, error) {
	return ask[Operation](ctx, c, http.MethodDelete, c.compute, path("projects/%s/global/firewalls/%s", project, name), once(requestID), nil)
}
