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
)

// bakes makes images of instances.
type bakes struct{ c *cloud }

// bakedOnly asks for what baking has made.
var bakedOnly = types.Filter{Name: ref("tag-key"), Values: []string{appfamily.TagBake}}

// imageName is the name of a baked image. EC2 has each name once per account and region, which makes it the key of idempotency.
func imageName(spec appfamily.BakeSpec) string {
	sum := sha256.Sum256([]byte(spec.Tags[appfamily.TagInstallation] + "\x00" + spec.Tags[appfamily.TagBake]))
	return spec.Name[:min(len(spec.Name), 100)] + "-" + hex.EncodeToString(sum[:6])
}

// ownImages returns the account's images that fit all filters and can be had, or may be soon.
func (b *bakes) ownImages(ctx context.Context, filters ...types.Filter) ([]types.Image, error) {
	var out []types.Image
	err := pages(func(token *string) (*string, error) {
		page, err := b.c.ec2.describeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: filters, IncludeDeprecated: ref(true),
			MaxResults: &b.c.tuning.page, NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, i := range page.Images {
			if i.State != types.ImageStateDeregistered {
				out = append(out, i)
			}
		}
		return page.NextToken, nil
	})
	return out, err
}

func bakedOf(i types.Image) appfamily.BakedImage {
	out := appfamily.BakedImage{ID: value(i.ImageId), Tags: tagsFrom(i.Tags), Ready: i.State == types.ImageStateAvailable}
	out.CreatedAt, _ = time.Parse(time.RFC3339, value(i.CreationDate))
	delete(out.Tags, tagName)
	switch i.State {
	case types.ImageStateFailed, types.ImageStateError, types.ImageStateInvalid:
		out.Failed = "its state is " + string(i.State)
		if i.StateReason != nil {
			out.Failed += ": " + value(i.StateReason.Message)
		}
	}
	return out
}

// BakedImages implements family.Baker. The oldest is the first; snapshots that were left of images are after them.
func (b *bakes) BakedImages(ctx context.Context, tags map[string]string) ([]appfamily.BakedImage, error) {
	all, err := b.ownImages(ctx, append(tagFilters(tags), bakedOnly)...)
	var out []appfamily.BakedImage
	for _, i := range all {
		if one := bakedOf(i); carries(one.Tags, tags) {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b appfamily.BakedImage) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	if err != nil {
		return out, err
	}
	left, err := b.leftSnapshots(ctx, tags)
	return append(out, left...), err
}

// leftAfter is how old a snapshot is that no image has, until it counts as left: its image may not be listed yet.
const leftAfter = time.Hour

// leftSnapshots returns the snapshots of images that were deleted without them, such as for want of a permission.
func (b *bakes) leftSnapshots(ctx context.Context, tags map[string]string) ([]appfamily.BakedImage, error) {
	found, err := b.c.disks.tagged(ctx, tags, bakedOnly)
	found = slices.DeleteFunc(found, func(x appfamily.Snapshot) bool {
		return x.Tags[appfamily.TagInstallation] == "" || x.Tags[appfamily.TagBake] == "" || time.Since(x.CreatedAt) < leftAfter
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	used, err := b.usedSnapshots(ctx)
	var out []appfamily.BakedImage
	for _, x := range found {
		if !used[x.ID] {
			out = append(out, appfamily.BakedImage{ID: x.ID, Tags: x.Tags, CreatedAt: x.CreatedAt, Failed: "its image was deleted"})
		}
	}
	return out, err
}

// usedSnapshots are those of the account's images, also of those that were disabled or aren't ours.
func (b *bakes) usedSnapshots(ctx context.Context) (map[string]bool, error) {
	used := map[string]bool{}
	return used, pages(func(token *string) (*string, error) {
		page, err := b.c.ec2.describeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, IncludeDeprecated: ref(true),
			IncludeDisabled: ref(true), MaxResults: &b.c.tuning.page, NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, i := range page.Images {
			for _, d := range i.BlockDeviceMappings {
				if d.Ebs != nil && i.State != types.ImageStateDeregistered {
					used[value(d.Ebs.SnapshotId)] = true
				}
			}
		}
		return page.NextToken, nil
	})
}

// Bake implements family.Baker. EC2 shuts the instance down for it, and starts it again. Only its root disk is in the image.
func (b *bakes) Bake(ctx context.Context, machine string, spec appfamily.BakeSpec) (appfamily.BakedImage, error) {
	i, err := b.c.instance(ctx, machine)
	if err != nil {
		return appfamily.BakedImage{}, err
	}
	if i.RootDeviceType == types.DeviceTypeInstanceStore {
		return appfamily.BakedImage{}, &app.Error{Code: app.EInvalid, Reason: "cannot_bake",
			Message: fmt.Sprintf("Instance %s has its root disk on instance store, so no image can be made of it.", machine),
			Hint:    "Choose an image whose root disk is on EBS."}
	}
	in := &ec2.CreateImageInput{InstanceId: &machine, Name: ref(imageName(spec)), Description: ref("Baked by Muster"), NoReboot: ref(false)}
	for _, d := range i.BlockDeviceMappings {
		if value(d.DeviceName) != value(i.RootDeviceName) {
			in.BlockDeviceMappings = append(in.BlockDeviceMappings, types.BlockDeviceMapping{DeviceName: d.DeviceName, NoDevice: ref("")})
		}
	}
	tags := maps.Clone(spec.Tags)
	tags[tagName] = spec.Name
	for _, kind := range []types.ResourceType{types.ResourceTypeImage, types.ResourceTypeSnapshot} {
		in.TagSpecifications = append(in.TagSpecifications, types.TagSpecification{ResourceType: kind, Tags: tagged(tags)})
	}
	made, err := b.c.ec2.createImage(ctx, in)
	if because(err, "InvalidAMIName.Duplicate") {
		return b.named(ctx, value(in.Name), spec.Tags)
	}
	if err != nil {
		return appfamily.BakedImage{}, err
	}
	return appfamily.BakedImage{ID: value(made.ImageId), Tags: maps.Clone(spec.Tags), CreatedAt: time.Now().UTC()}, nil
}

// named returns the image that an earlier call has made, which lists may lack for a while.
func (b *bakes) named(ctx context.Context, name string, tags map[string]string) (appfamily.BakedImage, error) {
	for until := time.Now().Add(b.c.tuning.late); ; {
		last := time.Now().After(until)
		all, err := b.ownImages(ctx, types.Filter{Name: ref("name"), Values: []string{name}})
		if err != nil {
			return appfamily.BakedImage{}, err
		}
		if i := slices.IndexFunc(all, func(i types.Image) bool { return carries(tagsFrom(i.Tags), tags) }); i >= 0 {
			return bakedOf(all[i]), nil
		}
		if last {
			return appfamily.BakedImage{}, app.Errorf(app.ETransient, "Image %s exists, but EC2 doesn't list it yet.", name)
		}
		if err := pause(ctx, b.c.tuning.poll); err != nil {
			return appfamily.BakedImage{}, err
		}
	}
}

// DeleteBaked implements family.Baker. EC2 deletes the image's snapshots with it; those that it didn't are deleted one by one.
// Those that stay even so are listed once more, and deleted by their own ids.
func (b *bakes) DeleteBaked(ctx context.Context, id string) error {
	if snapshotForm.MatchString(id) {
		return b.c.DeleteSnapshot(ctx, id)
	}
	if !imageForm.MatchString(id) {
		return nil
	}
	b.c.images.forget()
	out, err := b.c.ec2.deregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: &id, DeleteAssociatedSnapshots: ref(true)})
	if because(err, "InvalidAMIID.NotFound", "InvalidAMIID.Unavailable") {
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range out.DeleteSnapshotResults {
		if r.ReturnCode == types.SnapshotReturnCodesSuccess || r.SnapshotId == nil {
			continue
		}
		err := b.c.tuning.patiently(ctx, func() error {
			_, err := b.c.ec2.deleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: r.SnapshotId})
			return err
		}, "InvalidSnapshot.InUse")
		if err != nil && !because(err, reasonNoSnapshot) {
			return err
		}
	}
	return nil
}
