package aws

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/internal/keylock"
)

// tagVolume is on volumes that outlive machines. Disks that go with a machine carry its tags, too.
const tagVolume = "muster-volume"

// disks makes volumes of EBS, and snapshots of them.
type disks struct {
	c       *cloud
	copies  account.Asked // snapshots
	copying keylock.Locks // by intent
}

// changeFor is how many times longer than lists are late a volume is waited for while it's created, attached or detached.
const changeFor = 12

// Reasons of EC2's own, for volumes.
const (
	reasonNoVolume    = "InvalidVolume.NotFound"
	reasonVolumeInUse = "VolumeInUse"
)

// volumeOf returns a volume in Muster's terms.
func volumeOf(v types.Volume) appfamily.Volume {
	out := appfamily.Volume{ID: value(v.VolumeId), SizeGB: int(value(v.Size)), Zone: value(v.AvailabilityZone), Tags: tagsFrom(v.Tags),
		CreatedAt: value(v.CreateTime).UTC(), Machine: holderOf(v), Failed: v.State == types.VolumeStateError}
	out.Name = out.Tags[tagName]
	delete(out.Tags, tagName)
	delete(out.Tags, tagVolume)
	return out
}

// attachmentOf returns how an instance has a volume; an empty one where none does.
func attachmentOf(v types.Volume) types.VolumeAttachment {
	i := slices.IndexFunc(v.Attachments, func(a types.VolumeAttachment) bool { return a.State != types.VolumeAttachmentStateDetached })
	if i < 0 {
		return types.VolumeAttachment{}
	}
	return v.Attachments[i]
}

// holderOf returns the instance that has a volume; "" for none.
func holderOf(v types.Volume) string { return value(attachmentOf(v).InstanceId) }

func volumeGone(v types.Volume) bool {
	return v.State == types.VolumeStateDeleting || v.State == types.VolumeStateDeleted
}

// ListVolumes implements family.Volumes.
func (d *disks) ListVolumes(ctx context.Context, tags map[string]string) ([]appfamily.Volume, error) {
	filters := append(tagFilters(tags), types.Filter{Name: ref("tag-key"), Values: []string{tagVolume}})
	var out []appfamily.Volume
	err := pages(func(token *string) (*string, error) {
		page, err := d.c.ec2.describeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: filters, MaxResults: &d.c.tuning.page, NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, v := range page.Volumes {
			if !volumeGone(v) && carries(tagsFrom(v.Tags), tags) {
				out = append(out, volumeOf(v))
			}
		}
		return page.NextToken, nil
	})
	slices.SortFunc(out, func(a, b appfamily.Volume) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, err
}

// volume returns a volume; ENotFound where there is none. What EC2 has just made, it may not know yet.
func (d *disks) volume(ctx context.Context, id string) (v types.Volume, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if !volumeForm.MatchString(id) {
		return v, app.Errorf(app.ENotFound, "Volume %q doesn't exist in this account and region.", id)
	}
	err = d.c.tuning.patiently(ctx, func() error {
		out, err := d.c.ec2.describeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{id}})
		if err == nil && len(out.Volumes) == 1 {
			v = out.Volumes[0]
		}
		return err
	}, reasonNoVolume)
	if err == nil && (v.VolumeId == nil || volumeGone(v)) {
		err = &app.Error{Code: app.ENotFound, Reason: reasonNoVolume, Message: fmt.Sprintf("Volume %s no longer exists.", id)}
	}
	return v, err
}

// CreateVolume implements family.Volumes. The client token is made of the intent; a volume of the intent that was deleted counts on.
func (d *disks) CreateVolume(ctx context.Context, spec appfamily.VolumeSpec) (appfamily.Volume, error) {
	return d.ensure(ctx, spec, func(*ec2.CreateVolumeInput) error { return nil })
}

// ensure is CreateVolume, with what changes the call.
func (d *disks) ensure(ctx context.Context, spec appfamily.VolumeSpec, change func(*ec2.CreateVolumeInput) error) (appfamily.Volume, error) {
	in, err := d.volumeRequest(spec)
	if err != nil {
		return appfamily.Volume{}, err
	}
	for generation := 0; generation < generations; generation++ {
		found, err := d.ListVolumes(ctx, map[string]string{appfamily.TagInstallation: spec.Tags[appfamily.TagInstallation], appfamily.TagIntent: spec.Intent})
		if err != nil {
			return appfamily.Volume{}, err
		}
		if len(found) > 0 {
			return d.whole(ctx, found[0].ID)
		}
		if err := change(in); err != nil {
			return appfamily.Volume{}, err
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "volume %q %q %d", spec.Tags[appfamily.TagInstallation], spec.Intent, generation))
		in.ClientToken = ref(hex.EncodeToString(sum[:]))
		made, err := d.c.ec2.createVolume(ctx, in)
		if because(err, "IdempotentParameterMismatch") {
			// The token made a volume of another size or in another zone. It is there, or it was deleted long ago.
			if err := pause(ctx, d.c.tuning.late); err != nil {
				return appfamily.Volume{}, err
			}
			continue
		}
		if err != nil {
			return appfamily.Volume{}, err
		}
		v, err := d.whole(ctx, value(made.VolumeId))
		if because(err, reasonNoVolume) {
			continue // the token's volume was deleted
		}
		return v, err
	}
	return appfamily.Volume{}, app.Errorf(app.EConflict,
		"The volume of intent %s was created and deleted too often: EC2 accepts no further client token.", spec.Intent)
}

// volumeRequest returns what CreateVolume is asked, but for the client token.
func (d *disks) volumeRequest(spec appfamily.VolumeSpec) (*ec2.CreateVolumeInput, error) {
	o, err := d.c.options(template.Flavor{}, template.Image{})
	if err != nil {
		return nil, err
	}
	zone := cmp.Or(spec.Zone, o.zone)
	if zone == "" {
		return nil, app.Errorf(app.EInvalid, "A volume needs the availability zone of its machine.")
	}
	size := spec.SizeGB
	if o.volumeType == types.VolumeTypeSt1 || o.volumeType == types.VolumeTypeSc1 {
		size = max(size, leastHDD)
	}
	tags := maps.Clone(spec.Tags)
	tags[tagName], tags[tagVolume] = spec.Name, "true"
	if len(tags) > maxTags {
		return nil, app.Errorf(app.EInvalid, "Volume %s would have %d tags; EC2 allows %d.", spec.Name, len(tags), maxTags)
	}
	return &ec2.CreateVolumeInput{AvailabilityZone: &zone, Size: ref(int32(size)), VolumeType: o.volumeType, Encrypted: o.encrypted(), KmsKeyId: o.key(),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeVolume, Tags: tagged(tags)}}}, nil
}

// whole returns a volume once EC2 shows it as created.
func (d *disks) whole(ctx context.Context, id string) (out appfamily.Volume, err error) {
	err = d.until(ctx, id, "created", func(v types.Volume) (bool, error) {
		out = volumeOf(v)
		if v.State == types.VolumeStateError {
			return false, oddVolume(v)
		}
		return v.State != types.VolumeStateCreating, nil
	})
	return out, err
}

// until looks at a volume until something is done.
func (d *disks) until(ctx context.Context, id, what string, look func(types.Volume) (bool, error)) error {
	for end := time.Now().Add(changeFor * d.c.tuning.late); ; {
		last := time.Now().After(end)
		v, err := d.volume(ctx, id)
		if err != nil {
			return err
		}
		done, err := look(v)
		if done || err != nil {
			return err
		}
		if last {
			return app.Errorf(app.ETransient, "Volume %s isn't %s yet.", id, what)
		}
		if err := pause(ctx, d.c.tuning.poll); err != nil {
			return err
		}
	}
}

// oddVolume is the error of a volume that EC2 reports as failed.
func oddVolume(v types.Volume) error {
	return hinted(app.Errorf(app.EConflict, "Volume %s is in state %s.", value(v.VolumeId), v.State),
		"Usually its KMS key can't be used. Check the volume in the EC2 console.")
}

// AttachVolume implements family.Volumes. EC2 wants a device name, and refuses one that another volume has.
func (d *disks) AttachVolume(ctx context.Context, at appfamily.VolumeAttachment) (appfamily.Volume, error) {
	if _, err := d.volume(ctx, at.Volume); err != nil {
		return appfamily.Volume{}, err
	}
	machine, err := d.c.instance(ctx, at.Machine)
	if err != nil {
		return appfamily.Volume{}, err
	}
	var names []string
	for _, b := range machine.BlockDeviceMappings {
		names = append(names, value(b.DeviceName), strings.Replace(value(b.DeviceName), "/dev/xvd", "/dev/sd", 1))
	}
	var out appfamily.Volume
	device := ""
	err = d.until(ctx, at.Volume, "attached", func(v types.Volume) (bool, error) {
		holder := holderOf(v)
		switch {
		case holder != "" && holder != at.Machine:
			return false, appfamily.ErrVolumeAttached(at.Volume, holder)
		case v.State == types.VolumeStateError:
			return false, oddVolume(v)
		case holder != "":
			a := attachmentOf(v)
			out, device = volumeOf(v), value(a.Device)
			return a.State == types.VolumeAttachmentStateAttached, nil
		case v.State != types.VolumeStateAvailable:
			return false, nil
		}
		name := free(names)
		_, err := d.c.ec2.attachVolume(ctx, &ec2.AttachVolumeInput{VolumeId: &at.Volume, InstanceId: &at.Machine, Device: &name})
		switch {
		case because(err, "InvalidParameterValue") && strings.Contains(err.Error(), "in use") && len(names) < maxTags:
			names = append(names, name)
			return false, nil
		case because(err, reasonVolumeInUse):
			return false, nil // the next look shows who has it
		}
		return false, err
	})
	if err != nil {
		return appfamily.Volume{}, err
	}
	kind, err := d.c.kind(ctx, machine.InstanceType)
	if err != nil {
		return appfamily.Volume{}, err
	}
	out.Device = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + strings.ReplaceAll(at.Volume, "-", "")
	if kind.EbsInfo != nil && kind.EbsInfo.NvmeSupport == types.EbsNvmeSupportUnsupported {
		out.Device = strings.Replace(device, "/dev/sd", "/dev/xvd", 1) // as Xen names it
	}
	return out, nil
}

// DetachVolume implements family.Volumes. An instance that ends detaches its volumes by itself, and refuses to until then.
func (d *disks) DetachVolume(ctx context.Context, id string) error {
	asked := ""
	err := d.until(ctx, id, "detached", func(v types.Volume) (bool, error) {
		holder := holderOf(v)
		if holder == "" {
			return true, nil
		}
		if asked == holder || attachmentOf(v).State == types.VolumeAttachmentStateDetaching {
			return false, nil
		}
		_, err := d.c.ec2.detachVolume(ctx, &ec2.DetachVolumeInput{VolumeId: &id, InstanceId: &holder})
		switch {
		case because(err, "IncorrectState", "IncorrectInstanceState", "InvalidAttachment.NotFound", "InvalidInstanceID.NotFound"):
			return false, nil
		case err == nil:
			asked = holder
		}
		return false, err
	})
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}

// DeleteVolume implements family.Volumes. What EC2 has accepted, it does.
func (d *disks) DeleteVolume(ctx context.Context, id string) error {
	v, err := d.volume(ctx, id)
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if holder := holderOf(v); holder != "" {
		return appfamily.ErrVolumeAttached(id, holder)
	}
	_, err = d.c.ec2.deleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: &id})
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return nil
	case because(err, reasonVolumeInUse):
		if now, e := d.volume(ctx, id); e == nil && holderOf(now) != "" {
			return appfamily.ErrVolumeAttached(id, holderOf(now))
		}
	}
	return err
}

// volumes tries whether volumes may be created, as a dry run.
func (s *survey) volumes(ctx context.Context) {
	zone := s.options.zone
	if zone == "" && len(s.subnets) > 0 {
		zone = value(s.subnets[0].AvailabilityZone)
	}
	if zone == "" {
		return
	}
	in, err := s.volumeRequest(appfamily.VolumeSpec{Intent: "check", Name: "muster-check", SizeGB: 1, Zone: zone,
		Tags: map[string]string{appfamily.TagInstallation: "check", appfamily.TagCluster: "check", appfamily.TagIntent: "check"}})
	if err != nil {
		return
	}
	in.DryRun = ref(true)
	_, err = s.ec2.createVolume(ctx, in)
	switch {
	case because(err, "DryRunOperation"):
		s.right(appfamily.AboutPermissions, "ec2:CreateVolume", "Muster can create volumes.")
	case err != nil:
		s.doubt(appfamily.AboutPermissions, "ec2:CreateVolume", "Can't create volumes for services that need them: "+app.AsError(err).Message,
			"Add the missing action from the policy in docs/providers/aws.md, or choose services without volumes.")
	}
}

// Volume implements family.VolumeGetter.
func (d *disks) Volume(ctx context.Context, id string) (appfamily.Volume, error) {
	v, err := d.volume(ctx, id)
	if err != nil {
		return appfamily.Volume{}, err
	}
	if tags := tagsFrom(v.Tags); tags[tagVolume] == "" {
		return appfamily.Volume{}, &app.Error{Code: app.ENotFound, Reason: reasonNoVolume, Message: fmt.Sprintf("Volume %s isn't Muster's.", id)}
	}
	return volumeOf(v), nil
}
