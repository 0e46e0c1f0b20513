package openstack

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/availabilityzones"
	"github.com/gophercloud/gophercloud/v2/pagination"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// metaZone is metadata of a volume that is for us alone, and no tag: the zone that it was asked for. Cinder names some zone for every volume, also where
// machines of all zones can have it.
const metaZone = "muster-zone"

// volumeOf is a volume in the family's words.
func volumeOf(v *volumes.Volume) family.Volume {
	out := family.Volume{ID: v.ID, Name: v.Name, SizeGB: v.Size, Zone: v.Metadata[metaZone], Tags: maps.Clone(v.Metadata), CreatedAt: v.CreatedAt}
	out.Failed = strings.HasPrefix(v.Status, "error") // also error_deleting and others
	delete(out.Tags, metaZone)
	delete(out.Tags, metaSnapshot)
	if len(v.Attachments) > 0 {
		out.Machine = v.Attachments[0].ServerID
	}
	return out
}

// allVolumes returns the volumes that carry all of the tags. It is done here, as Cinder need not be set up to filter by metadata.
func allVolumes(ctx context.Context, s *Session, tags map[string]string) ([]volumes.Volume, error) {
	var found []volumes.Volume
	err := Whole(func() error {
		found = nil
		seen := map[string]bool{}
		return volumes.List(s.Volume, volumes.ListOpts{}).EachPage(ctx, Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
			some, err := volumes.ExtractVolumes(page)
			for _, v := range some {
				if !seen[v.ID] && carries(v.Metadata, tags) {
					seen[v.ID] = true
					found = append(found, v)
				}
			}
			return true, err
		}))
	})
	return found, err
}

// ListVolumes returns the volumes that carry all of the tags. A region without Cinder is an error: an empty list proves that nothing is there.
func ListVolumes(ctx context.Context, s *Session, tags map[string]string) ([]family.Volume, error) {
	if err := s.Needs("volume", s.Volume); err != nil {
		return nil, err
	}
	all, err := allVolumes(ctx, s, tags)
	out := make([]family.Volume, 0, len(all))
	for _, v := range all {
		if v.Metadata[metaSnapshot] == "" {
			out = append(out, volumeOf(&v))
		}
	}
	return out, err
}

// EnsureVolume makes a volume, or finds the one of the same intent. It sends the call that makes one at most once.
func EnsureVolume(ctx context.Context, s *Session, p Pace, recent *account.Asked, spec family.VolumeSpec, kind string) (family.Volume, error) {
	return ensureVolume(ctx, s, p, recent, spec, func(o *volumes.CreateOpts) (err error) {
		o.VolumeType = kind
		o.AvailabilityZone, err = volumeZone(ctx, s, spec.Zone)
		return err
	})
}

// ensureVolume is EnsureVolume, with what fills in the call that makes one.
func ensureVolume(ctx context.Context, s *Session, p Pace, recent *account.Asked, spec family.VolumeSpec,
	fill func(*volumes.CreateOpts) error) (family.Volume, error) {
	if err := s.Needs("volume", s.Volume); err != nil {
		return family.Volume{}, err
	}
	if err := checkMetadata(spec.Tags); err != nil {
		return family.Volume{}, err
	}
	intent := spec.Tags[family.TagInstallation] + "\x00" + spec.Intent
	one, err := standingVolume(ctx, s, p, recent, intent, spec.Tags)
	if err != nil {
		return family.Volume{}, err
	}
	ours := one == nil
	if ours {
		o := volumes.CreateOpts{Size: spec.SizeGB, Name: spec.Name, Metadata: maps.Clone(spec.Tags)}
		if err := fill(&o); err != nil {
			return family.Volume{}, err
		}
		if one, err = createVolume(ctx, s, p, recent, intent, o); err != nil {
			return family.Volume{}, err
		}
	}
	return whenCreated(ctx, s, p, one.ID, ours)
}

// checkMetadata refuses tags that a volume can't have.
func checkMetadata(tags map[string]string) error {
	for k, v := range tags {
		if !metaKey.MatchString(k) || k == metaZone || k == metaSnapshot || len(v) > 255 {
			return app.Errorf(app.EInvalid, "%q isn't a valid tag of a volume: names and values have up to 255 characters", k)
		}
	}
	return nil
}

// createVolume sends the call that makes a volume, and remembers it.
func createVolume(ctx context.Context, s *Session, p Pace, recent *account.Asked, intent string, o volumes.CreateOpts) (*volumes.Volume, error) {
	if o.AvailabilityZone != "" {
		o.Metadata[metaZone] = o.AvailabilityZone
	}
	one, err := volumes.Create(ctx, s.Volume, o, nil).Extract()
	if err != nil {
		keep(recent, intent, "", err, p)
		return nil, asked(err)
	}
	keep(recent, intent, one.ID, nil, p)
	return one, nil
}

// whenCreated returns a volume once it is no longer being created. One of ours that Cinder couldn't create is deleted:
// nothing was ever on it. One of an attempt before is Failed, and it is for the caller to say what is to become of it.
func whenCreated(ctx context.Context, s *Session, p Pace, id string, ours bool) (family.Volume, error) {
	var one *volumes.Volume
	there, err := p.Until(ctx, func() (done bool, err error) {
		one, err = getVolume(ctx, s, id)
		return err == nil && one.Status != "creating", err
	})
	switch {
	case err != nil:
		return family.Volume{}, err
	case !there:
		return family.Volume{}, app.Errorf(app.ETimeout, "volume %s is still being created", id)
	case ours && one.Status == "error":
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = removeVolume(ctx, s, p, id) // where that fails too, the volume is found by its tags
		return family.Volume{}, app.Errorf(app.ECapacity, "the cloud failed to create volume %s", id)
	}
	return volumeOf(one), nil
}

// standingVolume returns the volume of the intent; nil where there is none. One that was just made is asked for by its id, and after a call that
// was not answered it is looked for twice.
func standingVolume(ctx context.Context, s *Session, p Pace, recent *account.Asked, intent string, tags map[string]string) (*volumes.Volume, error) {
	find := func() (*volumes.Volume, error) {
		found, err := allVolumes(ctx, s, map[string]string{family.TagInstallation: tags[family.TagInstallation], family.TagIntent: tags[family.TagIntent]})
		found = slices.DeleteFunc(found, func(v volumes.Volume) bool { return strings.HasSuffix(v.Status, "deleting") })
		if err != nil || len(found) == 0 {
			return nil, err
		}
		oldest := slices.MinFunc(found, func(a, b volumes.Volume) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		return &oldest, nil
	}
	get := func(id string) (*volumes.Volume, error) {
		one, err := getVolume(ctx, s, id)
		if Absent(err) || err == nil && strings.HasSuffix(one.Status, "deleting") {
			return nil, nil
		}
		return one, err
	}
	return account.Standing(ctx, recent, intent, p.Late, find, get)
}

// volumeZone returns the zone to make a volume in for a machine's zone: Cinder's of the same name. Where it has none, its
// default must do: such clouds attach across zones.
func volumeZone(ctx context.Context, s *Session, zone string) (string, error) {
	if zone == "" {
		return "", nil
	}
	page, err := availabilityzones.List(s.Volume).AllPages(ctx) // Cinder's call is as Nova's
	if err != nil {
		if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			return "", nil
		}
		return "", err
	}
	all, err := availabilityzones.ExtractAvailabilityZones(page)
	if slices.ContainsFunc(all, func(z availabilityzones.AvailabilityZone) bool { return z.ZoneName == zone && z.ZoneState.Available }) {
		return zone, err
	}
	return "", err
}

func getVolume(ctx context.Context, s *Session, id string) (*volumes.Volume, error) {
	if !IsID(id) {
		return nil, app.Errorf(app.ENotFound, "volume %q doesn't exist", id)
	}
	if err := s.Needs("volume", s.Volume); err != nil {
		return nil, err
	}
	v, err := volumes.Get(ctx, s.Volume, id).Extract()
	if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return nil, app.Errorf(app.ENotFound, "volume %q doesn't exist", id)
	}
	return v, err
}

// OneVolume returns a volume by its id. A snapshot is none.
func OneVolume(ctx context.Context, s *Session, id string) (family.Volume, error) {
	v, err := getVolume(ctx, s, id)
	if err != nil {
		return family.Volume{}, err
	}
	if v.Metadata[metaSnapshot] != "" {
		return family.Volume{}, app.Errorf(app.ENotFound, "volume %q doesn't exist", id)
	}
	return volumeOf(v), nil
}

// odd is the error of a volume in a state that it doesn't leave by itself.
func odd(v *volumes.Volume) *app.Error {
	e := app.Errorf(app.EConflict, "volume %s is in state %s", v.ID, v.Status)
	e.Hint = "Check the volume in the cloud. If it's damaged, restore its data there."
	return e
}

// AttachVolume attaches a volume to a server, and returns when it is.
func AttachVolume(ctx context.Context, s *Session, p Pace, id, server string) (family.Volume, error) {
	var v *volumes.Volume
	if _, err := getVolume(ctx, s, id); err != nil {
		return family.Volume{}, err
	}
	one, err := Get(ctx, s, server)
	if err == nil && one.going() {
		err = app.Errorf(app.ENotFound, "server %s is being deleted", server)
	}
	if err != nil {
		return family.Volume{}, err
	}
	var refused error // the last answer to the call
	there, err := p.Until(ctx, func() (bool, error) {
		var err error
		if v, err = getVolume(ctx, s, id); err != nil {
			return false, err
		}
		for _, a := range v.Attachments {
			if a.ServerID != "" && a.ServerID != server {
				return false, family.ErrVolumeAttached(id, a.ServerID)
			}
		}
		switch v.Status {
		case "in-use":
			return len(v.Attachments) > 0, nil
		case "creating", "reserved", "attaching", "detaching":
			return false, nil
		case "available":
		default:
			return false, odd(v)
		}
		if refused != nil { // and the volume is free: it was not for the volume's state
			return false, refused
		}
		err = attach(ctx, s, server, id)
		if gophercloud.ResponseCodeIs(err, http.StatusBadRequest) || gophercloud.ResponseCodeIs(err, http.StatusConflict) {
			refused, err = err, nil
		}
		return false, err
	})
	if err == nil && !there {
		err = app.Errorf(app.ETimeout, "volume %s is %s, not attached to server %s yet", id, v.Status, server)
	}
	if err != nil {
		return family.Volume{}, err
	}
	out := volumeOf(v)
	out.Device = deviceOf(id, v.Attachments[0].Device)
	return out, nil
}

// attach and detach are Nova's calls.
func attach(ctx context.Context, s *Session, server, id string) error {
	body := map[string]any{"volumeAttachment": map[string]any{"volumeId": id}}
	at := s.Compute.ServiceURL("servers", server, "os-volume_attachments")
	_, err := s.Compute.Post(ctx, at, body, nil, &gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}}) //nolint:bodyclose // Request closes it
	return err
}

func detach(ctx context.Context, s *Session, server, id string) error {
	_, err := s.Compute.Delete(ctx, s.Compute.ServiceURL("servers", server, "os-volume_attachments", id), nil) //nolint:bodyclose // as above
	return err
}

// deviceOf returns where a server finds a volume. The name that Nova reports tells only the bus: the kernel need not name it so. QEMU hands on the
// volume's id as a serial number, of which virtio keeps 20 characters.
func deviceOf(id, named string) string {
	switch {
	case strings.HasPrefix(named, "/dev/sd"):
		return "/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_" + id
	case strings.HasPrefix(named, "/dev/xvd"):
		return named // Xen has no serial number, but keeps to the name
	}
	return "/dev/disk/by-id/virtio-" + id[:20]
}

// DetachVolume takes a volume from whatever server has it, and returns when none does.
func DetachVolume(ctx context.Context, s *Session, p Pace, id string) error {
	free, err := p.Until(ctx, func() (bool, error) {
		v, err := getVolume(ctx, s, id)
		switch {
		case Absent(err):
			return true, nil
		case err != nil:
			return false, err
		case v.Status == "in-use":
			for _, a := range v.Attachments {
				err := detach(ctx, s, a.ServerID, id)
				// Nova may have begun already, or the server's end did.
				if err != nil && !Absent(err) && !gophercloud.ResponseCodeIs(err, http.StatusConflict) && !gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
					return false, err
				}
			}
			return false, nil
		}
		return len(v.Attachments) == 0 && v.Status != "reserved" && v.Status != "attaching" && v.Status != "detaching", nil
	})
	if err == nil && !free {
		err = app.Errorf(app.ETimeout, "volume %s is still being detached", id)
	}
	return err
}

// DeleteVolume deletes a volume that no server has, and returns when it is gone.
func DeleteVolume(ctx context.Context, s *Session, p Pace, id string) error {
	var refused error
	gone, err := p.Until(ctx, func() (bool, error) {
		v, err := getVolume(ctx, s, id)
		switch {
		case Absent(err):
			return true, nil
		case err != nil:
			return false, err
		case len(v.Attachments) > 0:
			return false, family.ErrVolumeAttached(id, v.Attachments[0].ServerID)
		case v.Status == "available", v.Status == "error", v.Status == "error_deleting":
			if refused != nil {
				return false, refused
			}
			err := volumes.Delete(ctx, s.Volume, id, volumes.DeleteOpts{}).ExtractErr()
			if gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
				refused, err = err, nil
			}
			if err != nil && !Absent(err) {
				return false, err
			}
		case v.Status != "creating" && v.Status != "deleting" && v.Status != "attaching" && v.Status != "detaching" && v.Status != "reserved":
			return false, odd(v)
		}
		return false, nil
	})
	if err == nil && !gone {
		err = app.Errorf(app.ETimeout, "volume %s is still being deleted", id)
	}
	return err
}
