package digitalocean

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/digitalocean/godo"
	"muster/app/family"
)

// volumePrefix begins the names of our volumes; a hash of the machine follows.
const volumePrefix = "muster-"

// volumeName is of a machine alone, so its volume is found again whatever became of an answer.
func volumeName(tags map[string]string) string { return volumePrefix + intentKey(tags) }

// volumes are the data disks of machines.
type volumes struct {
	api  *godo.Client
	look time.Duration // between looks at one that is being detached
}

// find returns the volume of a name in a region, nil where there is none.
func (vs *volumes) find(ctx context.Context, name, region string) (*godo.Volume, error) {
	found, err := pages(ctx, "block_storage:read", func(ctx context.Context, o *godo.ListOptions) ([]godo.Volume, *godo.Response, error) {
		return vs.api.Storage.ListVolumes(ctx, &godo.ListVolumeParams{Name: name, Region: region, ListOptions: o})
	})
	i := slices.IndexFunc(found, func(v godo.Volume) bool { return v.Name == name })
	if err != nil || i < 0 {
		return nil, err
	}
	return &found[i], nil
}

// ensure returns the id of the order's volume, which is made where there is none.
func (vs *volumes) ensure(ctx context.Context, o *order) (string, error) {
	name := volumeName(o.spec.Tags)
	v, err := vs.find(ctx, name, o.region)
	if err != nil {
		return "", err
	}
	if v == nil {
		v, _, err = vs.api.Storage.CreateVolume(ctx, &godo.VolumeCreateRequest{
			Region: o.region, Name: name, SizeGigaBytes: int64(o.dataDisk), Description: describeVolume(o.spec.Tags),
			Tags: append([]string{}, labelTags(o.spec.Tags)...)})
		if err = failure("block_storage:create", err); err != nil {
			return "", err
		}
	}
	return v.ID, nil
}

// deleteOf takes a machine's volume off it and deletes it.
func (vs *volumes) deleteOf(ctx context.Context, d *godo.Droplet, k card) error {
	region := ""
	if d.Region != nil {
		region = d.Region.Slug
	}
	v, err := vs.find(ctx, volumeName(k.tags), region)
	if err != nil || v == nil {
		return err
	}
	if slices.Contains(v.DropletIDs, d.ID) {
		_, _, err := vs.api.StorageActions.DetachByDropletID(ctx, v.ID, d.ID)
		if err = failure("block_storage_action:create", err); err != nil && !absent(err) && !strings.Contains(err.Error(), godo.ErrAttachmentNotFound) {
			return err
		}
	}
	for len(v.DropletIDs) > 0 {
		if err := wait(ctx, vs.look); err != nil {
			return err
		}
		v, _, err = vs.api.Storage.GetVolume(ctx, v.ID)
		if err = failure("block_storage:read", err); absent(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return vs.delete(ctx, v.ID)
}

func (vs *volumes) delete(ctx context.Context, id string) error {
	_, err := vs.api.Storage.DeleteVolume(ctx, id)
	if err = failure("block_storage:delete", err); absent(err) {
		return nil
	}
	return err
}

// A volume says in its description what it was made for: its tags would stay in the account.
func describeVolume(tags map[string]string) string {
	q := url.Values{}
	for _, name := range []string{family.TagInstallation, family.TagTenant, family.TagCluster, family.TagNode, family.TagIntent} {
		if v, ok := tags[name]; ok {
			q.Set(name, v)
		}
	}
	return q.Encode()
}

// volumeTags reads what describeVolume wrote; nil for a volume of others.
func volumeTags(v *godo.Volume) map[string]string {
	q, err := url.ParseQuery(v.Description)
	if err != nil || !q.Has(family.TagInstallation) || !strings.HasPrefix(v.Name, volumePrefix) {
		return nil
	}
	tags := make(map[string]string, len(q))
	for k := range q {
		tags[k] = q.Get(k)
	}
	if volumeName(tags) != v.Name {
		return nil
	}
	return tags
}
