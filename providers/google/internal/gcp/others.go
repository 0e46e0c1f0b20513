package gcp

import (
	"context"
	"net/http"
)

// GrantedPermissions returns those of the permissions that the caller has in a project.
func (c *Client) GrantedPermissions(ctx context.Context, project string, permissions []string) ([]string, error) {
	answer, err := ask[Permissions](ctx, c, http.MethodPost, c.manager, path("v1/projects/%s:testIamPermissions", project), nil, Permissions{permissions})
	if err != nil {
		return nil, err
	}
	return answer.Permissions, nil
}

// ManagedZones lists the managed zones of a DNS name, which ends with a dot.
func (c *Client) ManagedZones(ctx context.Context, project, dnsName string, each func(*ManagedZoneList) error) error {
	return list[ManagedZoneList](ctx, c, c.dns, path("dns/v1/projects/%s/managedZones", project), with(nil, "dnsName", dnsName), each)
}

// RecordSets lists the record sets of a managed zone; with a name those that have it, and with a kind as well only that one.
func (c *Client) RecordSets(ctx context.Context, project, zone, name, kind string, each func(*RecordSetList) error) error {
	return list[RecordSetList](ctx, c, c.dns, path("dns/v1/projects/%s/managedZones/%s/rrsets", project, zone), with(nil, "name", name, "type", kind), each)
}

// CreateRecordSet makes a record set.
func (c *Client) CreateRecordSet(ctx context.Context, project, zone string, s *RecordSet) error {
	_, err := ask[struct{}](ctx, c, http.MethodPost, c.dns, path("dns/v1/projects/%s/managedZones/%s/rrsets", project, zone), nil, s)
	return err
}

// PatchRecordSet changes the record set that has the name and the type of s.
func (c *Client) PatchRecordSet(ctx context.Context, project, zone string, s *RecordSet) error {
	at := path("dns/v1/projects/%s/managedZones/%s/rrsets/%s/%s", project, zone, s.Name, s.Type)
	_, err := ask[struct{}](ctx, c, http.MethodPatch, c.dns, at, nil, s)
	return err
}

// DeleteRecordSet deletes a record set.
func (c *Client) DeleteRecordSet(ctx context.Context, project, zone, name, kind string) error {
	at := path("dns/v1/projects/%s/managedZones/%s/rrsets/%s/%s", project, zone, name, kind)
	_, err := ask[struct{}](ctx, c, http.MethodDelete, c.dns, at, nil, nil)
	return err
}
