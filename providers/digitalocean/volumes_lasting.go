package digitalocean

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
)

// lastingPrefix begins the names of volumes that outlive droplets; a hash of the intent follows. Those of droplets go by volumePrefix alone.
const lastingPrefix = volumePrefix + "vol-"

func lastingName(tags map[string]string) string { return lastingPrefix + intentKey(tags) }

// changes is how often a volume is looked at before its change is called failed for now.
const changes = 100

// longestVolumeTags is the longest description, which holds a volume's tags.
const longestVolumeTags = 2000

// lastingTags reads the tags of a volume that outlives droplets; nil for another one.
func lastingTags(v *godo.Volume) map[string]string {
	q, err := url.ParseQuery(v.Description)
	if err != nil || !strings.HasPrefix(v.Name, lastingPrefix) {
		return nil
	}
	tags := make(map[string]string, len(q))
	for k := range q {
		tags[k] = q.Get(k)
	}
	if lastingName(tags) != v.Name {
		return nil
	}
	return tags
}

func lasting(v *godo.Volume) family.Volume {
	out := family.Volume{ID: v.ID, Name: v.Name, SizeGB: int(v.SizeGigaBytes), Tags: lastingTags(v), Machine: holder(v), CreatedAt: v.CreatedAt}
	if v.Region != nil {
		out.Zone = v.Region.Slug
	}
	return out
}

// holder returns the droplet that has a volume; "" for none.
func holder(v *godo.Volume) string {
	if len(v.DropletIDs) == 0 {
		return ""
	}
	return strconv.Itoa(v.DropletIDs[0])
}

// ListVolumes returns the volumes that carry all of the tags. The cloud can look for a name, which follows from the intent, and for nothing else of it.
func (c *cloud) ListVolumes(ctx context.Context, tags map[string]string) ([]family.Volume, error) {
	name := ""
	if tags[family.TagInstallation] != "" && tags[family.TagIntent] != "" {
		name = lastingName(tags)
	}
	all, err := pages(ctx, "block_storage:read", func(ctx context.Context, o *godo.ListOptions) ([]godo.Volume, *godo.Response, error) {
		return c.api.Storage.ListVolumes(ctx, &godo.ListVolumeParams{Name: name, ListOptions: o})
	})
	if err != nil {
		return nil, err
	}
	out := make([]family.Volume, 0, len(all))
	for i := range all {
		if t := lastingTags(&all[i]); t != nil && carries(t, tags) {
			out = append(out, lasting(&all[i]))
		}
	}
	slices.SortFunc(out, func(a, b family.Volume) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// volume returns a volume; ENotFound for an id that none can have.
func (c *cloud) volume(ctx context.Context, id string) (*godo.Volume, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !uuidForm.MatchString(id) {
		return nil, app.Errorf(app.ENotFound, "Volume %q doesn't exist.", id)
	}
	v, _, err := c.api.Storage.GetVolume(ctx, id)
	if err = failure("block_storage:read", err); absent(err) {
		return nil, app.Errorf(app.ENotFound, "Volume %s doesn't exist.", id)
	}
	return v, err
}

// CreateVolume makes a volume, or returns the intent's existing one. A name is unique in a region, so a second one is refused there while lists lag behind.
func (c *cloud) CreateVolume(ctx context.Context, spec family.VolumeSpec) (family.Volume, error) {
	return c.ensureVolume(ctx, spec, func(*godo.VolumeCreateRequest) error { return nil })
}

// ensureVolume is CreateVolume, with what changes the call that makes one.
func (c *cloud) ensureVolume(ctx context.Context, spec family.VolumeSpec, change func(*godo.VolumeCreateRequest) error) (family.Volume, error) {
	q := url.Values{}
	for k, v := range spec.Tags {
		q.Set(k, v)
	}
	if len(q.Encode()) > longestVolumeTags {
		return family.Volume{}, app.Errorf(app.EInvalid, "The tags of volume %s exceed %d characters.", spec.Name, longestVolumeTags)
	}
	release, err := c.locks.Lock(ctx, "volume "+spec.Intent)
	if err != nil {
		return family.Volume{}, err
	}
	defer release()
	for try := 0; ; try++ {
		found, err := c.ListVolumes(ctx, map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation], family.TagIntent: spec.Intent})
		if err != nil {
			return family.Volume{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
		o := &godo.VolumeCreateRequest{Region: cmp.Or(spec.Zone, c.region), Name: lastingName(spec.Tags),
			SizeGigaBytes: int64(spec.SizeGB), Description: q.Encode(), Tags: append([]string{}, labelTags(spec.Tags)...)}
		if err := change(o); err != nil {
			return family.Volume{}, err
		}
		v, _, err := c.api.Storage.CreateVolume(ctx, o)
		if err = failure("block_storage:create", err); err == nil {
			return lasting(v), nil
		}
		if e := app.AsError(err); try > 0 || e.Code != app.ETransient || !strings.Contains(e.Message, "already exists") {
			return family.Volume{}, err
		}
		if err := wait(ctx, c.timing.late); err != nil { // until lists show it
			return family.Volume{}, err
		}
	}
}

// until looks at a volume until something is done.
func (c *cloud) until(ctx context.Context, id, what string, done func(*godo.Volume) (bool, error)) (*godo.Volume, error) {
	for try := 0; try < changes; try++ {
		v, err := c.volume(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok, err := done(v); ok || err != nil {
			return v, err
		}
		if err := wait(ctx, c.timing.look); err != nil {
			return nil, err
		}
	}
	return nil, app.Errorf(app.ETransient, "Volume %s isn't %s yet.", id, what)
}

// AttachVolume has a droplet of the volume's region see it. Its device is named after the volume.
func (c *cloud) AttachVolume(ctx context.Context, at family.VolumeAttachment) (family.Volume, error) {
	v, err := c.volume(ctx, at.Volume)
	if err != nil {
		return family.Volume{}, err
	}
	d, err := c.droplet(ctx, at.Machine)
	if err != nil {
		return family.Volume{}, err
	}
	if v.Region != nil && d.Region != nil && v.Region.Slug != d.Region.Slug {
		return family.Volume{}, app.Errorf(app.EInvalid, "Volume %s is in region %s; droplet %s is in %s.", v.Name, v.Region.Slug, at.Machine, d.Region.Slug)
	}
	asked := false
	v, err = c.until(ctx, at.Volume, "attached", func(v *godo.Volume) (bool, error) {
		if on := holder(v); on == at.Machine {
			return true, nil
		} else if on != "" {
			return false, family.ErrVolumeAttached(at.Volume, on)
		}
		if asked {
			return false, nil
		}
		_, _, err := c.api.StorageActions.Attach(ctx, v.ID, d.ID)
		if err = failure("block_storage_action:create", err); err != nil {
			if now, e := c.volume(ctx, at.Volume); e == nil && holder(now) != "" {
				return false, nil // another call was faster
			}
			return false, err
		}
		asked = true
		return false, nil
	})
	if err != nil {
		return family.Volume{}, err
	}
	out := lasting(v)
	out.Device = "/dev/disk/by-id/scsi-0DO_Volume_" + v.Name
	return out, nil
}

// DetachVolume takes a volume from whatever droplet has it, and returns when none does.
func (c *cloud) DetachVolume(ctx context.Context, id string) error {
	asked := 0
	_, err := c.until(ctx, id, "detached", func(v *godo.Volume) (bool, error) {
		if len(v.DropletIDs) == 0 {
			return true, nil
		}
		if asked == v.DropletIDs[0] {
			return false, nil
		}
		_, _, err := c.api.StorageActions.DetachByDropletID(ctx, v.ID, v.DropletIDs[0])
		err = failure("block_storage_action:create", err)
		if absent(err) || err != nil && strings.Contains(err.Error(), godo.ErrAttachmentNotFound) {
			return false, nil
		}
		if err == nil {
			asked = v.DropletIDs[0]
		}
		return false, err
	})
	if absent(err) {
		return nil
	}
	return err
}

// DeleteVolume deletes a volume that no droplet has.
func (c *cloud) DeleteVolume(ctx context.Context, id string) error {
	v, err := c.volume(ctx, id)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if has := holder(v); has != "" {
		return family.ErrVolumeAttached(id, has)
	}
	err = c.volumes.delete(ctx, id)
	if err != nil && !refused(err) {
		if now, e := c.volume(ctx, id); e == nil && holder(now) != "" {
			return family.ErrVolumeAttached(id, holder(now))
		}
	}
	return err
}

// Volume returns one volume that outlives droplets.
func (c *cloud) Volume(ctx context.Context, id string) (family.Volume, error) {
	v, err := c.volume(ctx, id)
	if err != nil {
		return family.Volume{}, err
	}
	if lastingTags(v) == nil {
		return family.Volume{}, app.Errorf(app.ENotFound, "Volume %s isn't Muster's.", id)
	}
	return lasting(v), nil
}
