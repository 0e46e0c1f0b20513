package openstack

import (
	"context"
	"maps"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"muster/app/family"
)

// Retag has a server carry a spec's tags and name. All tags come in one call; those that it has no more go after it, one by one.
func Retag(ctx context.Context, s *Session, one *Server, spec family.MachineSpec) error {
	if !carries(one.Metadata, spec.Tags) {
		if err := servers.UpdateMetadata(ctx, s.Compute, one.ID, servers.MetadataOpts(spec.Tags)).Err; err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(one.Tags())) {
		if _, stays := spec.Tags[key]; stays {
			continue
		}
		if err := servers.DeleteMetadatum(ctx, s.Compute, one.ID, key).ExtractErr(); err != nil && !Absent(err) {
			return err
		}
	}
	if one.Name == spec.Hostname {
		return nil
	}
	return servers.Update(ctx, s.Compute, one.ID, servers.UpdateOpts{Name: spec.Hostname}).Err
}
