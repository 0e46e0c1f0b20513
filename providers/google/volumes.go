package google

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
)

// volumePermissions are what the service account needs beside, for clusters whose services have volumes.
var volumePermissions = []string{
	"compute.disks.delete", "compute.disks.get", "compute.disks.list", "compute.disks.use", "compute.instances.attachDisk", "compute.instances.detachDisk",
}

// labelVolume is on disks that outlive machines. Disks that go with a machine carry its labels, too.
const labelVolume = "muster-volume"

// disks makes volumes of persistent disks.
type disks struct{ p *Provider }

// longestDescription is how much the description of a disk, which holds the exact tags, takes.
const longestDescription = 2048

// leastDisk is the size that persistent disks have at least.
const leastDisk = 10

// diskIDOf names a volume: names are unique in a zone alone.
func diskIDOf(d *gcp.Disk) string { return base(d.Zone) + "/" + d.Name }

func noVolume(id string) error { return app.Errorf(app.ENotFound, "volume %q doesn't exist", id) }

// holderOf returns the id of the machine that has a disk; "" for none.
func holderOf(d *gcp.Disk) string {
	if len(d.Users) == 0 {
		return ""
	}
	return base(d.Zone) + "/" + base(d.Users[0])
}

// diskTags returns the exact tags. Where someone changed the description, those among the labels are left.
func diskTags(d *gcp.Disk) map[string]string {
	var tags map[string]string
	if json.Unmarshal([]byte(d.Description), &tags) != nil || tags == nil {
		tags = maps.Clone(d.Labels)
		delete(tags, labelVolume)
	}
	return tags
}

func volumeOf(d *gcp.Disk) family.Volume {
	return family.Volume{ID: diskIDOf(d), Name: d.Name, SizeGB: int(d.SizeGB), Zone: base(d.Zone), Machine: holderOf(d), Tags: diskTags(d),
		CreatedAt: when(d.CreationTimestamp), Failed: d.Status == "FAILED"}
}

// volumeName is unique for an intent, so that a zone itself refuses a second volume for it.
func volumeName(spec family.VolumeSpec) string {
	const most = 63
	hash := digest("volume", spec.Tags[family.TagInstallation], spec.Intent)[:12]
	name := account.Name(spec.Name)
	if name[0] < 'a' {
		name = "v" + name
	}
	return strings.TrimRight(name[:min(len(name), most-1-len(hash))], "-") + "-" + hash
}

// ListVolumes returns every volume that carries all of the tags, in all zones. A zone that does not answer is an error.
func (vs *disks) ListVolumes(ctx context.Context, tags map[string]string) ([]family.Volume, error) {
	filter := `(labels.` + labelVolume + ` = "true")`
	if f := filterOf(tags); strings.HasPrefix(f, "(") {
		filter = f + " AND " + filter
	}
	var out []family.Volume
	err := vs.p.api.Disks(ctx, vs.p.project, filter, func(page *gcp.DiskAggregatedList) error {
		if len(page.Unreachables) > 0 {
			return unreachable(strings.Join(page.Unreachables, ", "))
		}
		if w := page.Warning; w != nil && w.Code != "" && w.Code != "NO_RESULTS_ON_PAGE" {
			return unreachable(w.Message)
		}
		for scope, part := range page.Items {
			if w := part.Warning; w != nil && w.Code != "" && w.Code != "NO_RESULTS_ON_PAGE" {
				return unreachable(scope + " (" + w.Message + ")")
			}
			for _, d := range part.Disks {
				if v := volumeOf(d); d.Labels[labelVolume] != "" && carries(v.Tags, tags) {
					out = append(out, v)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, coded(err)
	}
	slices.SortFunc(out, func(a, b family.Volume) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// volume returns the disk with an ID; ENotFound where nothing does.
func (vs *disks) volume(ctx context.Context, id string) (*gcp.Disk, error) {
	zone, name, ok := place(id)
	if !ok {
		return nil, cmp.Or(ctx.Err(), noVolume(id))
	}
	d, err := vs.p.api.Disk(ctx, vs.p.project, zone, name)
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil, noVolume(id)
	}
	return d, err
}

// CreateVolume makes the disk, or returns the intent's existing one in any zone.
func (vs *disks) CreateVolume(ctx context.Context, spec family.VolumeSpec) (family.Volume, error) {
	return vs.ensureVolume(ctx, spec, func(*gcp.Disk) error { return nil })
}

// ensureVolume is CreateVolume, with what changes the disk.
func (vs *disks) ensureVolume(ctx context.Context, spec family.VolumeSpec, change func(*gcp.Disk) error) (family.Volume, error) {
	zone := cmp.Or(spec.Zone, vs.p.zone)
	if err := checkZone(zone); err != nil {
		return family.Volume{}, err
	}
	description, err := json.Marshal(spec.Tags)
	if err != nil || len(description) > longestDescription {
		return family.Volume{}, app.Errorf(app.EInvalid, "the tags of volume %s exceed %d characters", spec.Name, longestDescription)
	}
	found, err := vs.ListVolumes(ctx, map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation], family.TagIntent: spec.Intent})
	if err != nil {
		return family.Volume{}, err
	}
	if len(found) > 0 {
		return vs.finished(ctx, found[0].ID)
	}
	kind := vs.p.settings.Or("volume_type", "pd-balanced")
	d := &gcp.Disk{Name: volumeName(spec), Description: string(description), SizeGB: int64(spec.SizeGB),
		Type: "zones/" + zone + "/diskTypes/" + kind, Labels: labelsOf(spec.Tags)}
	d.Labels[labelVolume] = "true"
	if strings.HasPrefix(kind, "pd-") {
		d.SizeGB = max(d.SizeGB, leastDisk)
	}
	if err := change(d); err != nil {
		return family.Volume{}, err
	}
	err = vs.insertDisk(ctx, zone, d, requestID("volume", spec.Tags[family.TagInstallation], spec.Intent, zone))
	switch code := app.CodeOf(err); {
	case code == app.ENotFound: // the type of disk: nothing that was there before
		e := *app.AsError(err)
		e.Code = app.EInvalid
		return family.Volume{}, &e
	case err != nil && code != app.EConflict: // a conflict: another call made it at the same time, or lists don't show it yet
		return family.Volume{}, err
	}
	one, err := vs.volume(ctx, zone+"/"+d.Name)
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return family.Volume{}, app.Errorf(app.ETransient, "volume %s was requested but doesn't exist yet", d.Name)
	case err != nil:
		return family.Volume{}, err
	case diskTags(one)[family.TagIntent] != spec.Intent:
		return family.Volume{}, app.Errorf(app.EConflict, "disk %s in %s already exists and isn't Muster's", d.Name, zone)
	}
	return vs.finished(ctx, zone+"/"+d.Name)
}

// insertDisk is as insert, for a disk.
func (vs *disks) insertDisk(ctx context.Context, zone string, d *gcp.Disk, request string) error {
	op, err := vs.p.api.InsertDisk(ctx, vs.p.project, zone, d, request)
	if err != nil {
		return coded(err)
	}
	if op.Status == "DONE" {
		_, err := vs.volume(ctx, zone+"/"+d.Name)
		if app.CodeOf(err) != app.ENotFound {
			return err
		}
		if op, err = vs.p.api.InsertDisk(ctx, vs.p.project, zone, d, freshID()); err != nil {
			return coded(err)
		}
	}
	return vs.p.await(ctx, vs.p.project, op)
}

// finished waits until a volume that is being made is there.
func (vs *disks) finished(ctx context.Context, id string) (family.Volume, error) {
	for {
		d, err := vs.volume(ctx, id)
		switch {
		case app.CodeOf(err) == app.ENotFound: // the next try returns why
			return family.Volume{}, app.Errorf(app.ETransient, "the cloud gave up creating volume %s", id)
		case err != nil:
			return family.Volume{}, err
		case d.Status == "FAILED":
			e := app.Errorf(app.EConflict, "volume %s is in state %s", id, strings.ToLower(d.Status))
			e.Hint = "Check the disk in the cloud console."
			return family.Volume{}, e
		case d.Status != "CREATING" && d.Status != "RESTORING" && d.Status != "DELETING":
			return volumeOf(d), nil
		}
		if err := pause(ctx, vs.p.pauses.machine); err != nil {
			return family.Volume{}, err
		}
	}
}

// deviceOf returns under which name an instance has a disk; "" where it has not.
func deviceOf(i *gcp.Instance, d *gcp.Disk) string {
	for _, a := range i.Disks {
		if strings.HasSuffix(a.Source, "/zones/"+base(d.Zone)+"/disks/"+d.Name) {
			return a.DeviceName
		}
	}
	return ""
}

// AttachVolume has a machine of the volume's zone see it, under the volume's name.
func (vs *disks) AttachVolume(ctx context.Context, at family.VolumeAttachment) (family.Volume, error) {
	d, err := vs.volume(ctx, at.Volume)
	if err != nil {
		return family.Volume{}, err
	}
	i, err := vs.p.instance(ctx, at.Machine)
	if err != nil {
		return family.Volume{}, err
	}
	zone := base(d.Zone)
	switch holder := holderOf(d); {
	case holder == at.Machine && deviceOf(i, d) != "":
		return attached(d, i), nil
	case holder != "" && holder != at.Machine:
		return family.Volume{}, family.ErrVolumeAttached(at.Volume, holder)
	case base(i.Zone) != zone:
		return family.Volume{}, app.Errorf(app.EInvalid, "volume %s can only be attached to machines in zone %s, not to one in %s", d.Name, zone, base(i.Zone))
	}
	disk := &gcp.AttachedDisk{Source: "projects/" + vs.p.project + "/zones/" + zone + "/disks/" + d.Name,
		DeviceName: d.Name, Type: "PERSISTENT", Mode: "READ_WRITE"}
	op, err := vs.p.api.AttachDisk(ctx, vs.p.project, zone, i.Name, disk, freshID())
	if err == nil {
		err = vs.p.await(ctx, vs.p.project, op)
	}
	failed := coded(err)
	// However the call ended, the cloud shows who has the volume: another call may have been faster, too.
	if d, err = vs.volume(ctx, at.Volume); err != nil {
		return family.Volume{}, err
	}
	if i, err = vs.p.instance(ctx, at.Machine); err != nil {
		return family.Volume{}, err
	}
	switch holder := holderOf(d); {
	case holder == at.Machine && deviceOf(i, d) != "":
		return attached(d, i), nil
	case holder != "" && holder != at.Machine:
		return family.Volume{}, family.ErrVolumeAttached(at.Volume, holder)
	case failed != nil:
		return family.Volume{}, failed
	}
	return family.Volume{}, app.Errorf(app.ETransient, "volume %s isn't attached to machine %s yet", at.Volume, at.Machine)
}

func attached(d *gcp.Disk, i *gcp.Instance) family.Volume {
	v := volumeOf(d)
	v.Device = "/dev/disk/by-id/google-" + deviceOf(i, d)
	return v
}

// DetachVolume takes a volume from whatever machine has it, and returns when none does.
func (vs *disks) DetachVolume(ctx context.Context, id string) error {
	for {
		d, err := vs.volume(ctx, id)
		if app.CodeOf(err) == app.ENotFound {
			return nil
		}
		if err != nil || holderOf(d) == "" {
			return err
		}
		i, err := vs.p.instance(ctx, holderOf(d))
		switch {
		case app.CodeOf(err) == app.ENotFound: // it has just been deleted
		case err != nil:
			return err
		default:
			if device := deviceOf(i, d); device != "" {
				op, err := vs.p.api.DetachDisk(ctx, vs.p.project, base(d.Zone), i.Name, device, freshID())
				if err == nil {
					err = vs.p.await(ctx, vs.p.project, op)
				}
				if err = coded(err); err != nil && app.CodeOf(err) != app.ENotFound {
					return err
				}
			}
		}
		if err := pause(ctx, vs.p.pauses.operation); err != nil {
			return err
		}
	}
}

// DeleteVolume deletes a volume that no machine has, and returns when it is gone.
func (vs *disks) DeleteVolume(ctx context.Context, id string) error {
	d, err := vs.volume(ctx, id)
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if holder := holderOf(d); holder != "" {
		return family.ErrVolumeAttached(id, holder)
	}
	op, err := vs.p.api.DeleteDisk(ctx, vs.p.project, base(d.Zone), d.Name, freshID())
	if err == nil {
		err = vs.p.await(ctx, vs.p.project, op)
	}
	if err = coded(err); err == nil || app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if now, e := vs.volume(ctx, id); e == nil && holderOf(now) != "" {
		return family.ErrVolumeAttached(id, holderOf(now))
	}
	return err
}

// Volume returns one volume.
func (vs *disks) Volume(ctx context.Context, id string) (family.Volume, error) {
	d, err := vs.volume(ctx, id)
	if err != nil {
		return family.Volume{}, err
	}
	if d.Labels[labelVolume] == "" {
		return family.Volume{}, noVolume(id)
	}
	return volumeOf(d), nil
}
