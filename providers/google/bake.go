package google

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
)

var _ family.Baker = (*Provider)(nil)

// bakePermissions are what the service account needs beside, to make images of machines.
var bakePermissions = []string{"compute.disks.useReadOnly", "compute.images.create", "compute.images.delete", "compute.images.setLabels"}

// labelBaked is on images that Muster has made of machines.
const labelBaked = "muster-baked"

// bakedName is unique for what an image is of: the project refuses a second image for it.
func bakedName(spec family.BakeSpec) string {
	hash := digest("image", spec.Tags[family.TagInstallation], spec.Tags[family.TagBake])[:12]
	name := account.Name(spec.Name)
	if name[0] < 'a' {
		name = "i" + name
	}
	return strings.TrimRight(name[:min(len(name), 62-len(hash))], "-") + "-" + hash
}

// bakedPath is what a machine's image is then named.
func (vs *disks) bakedPath(name string) string {
	return "projects/" + vs.p.project + "/global/images/" + name
}

func (vs *disks) bakedOf(i *gcp.Image) family.BakedImage {
	out := family.BakedImage{ID: vs.bakedPath(i.Name), Ready: i.Status == "READY", CreatedAt: when(i.CreationTimestamp)}
	if i.Status == "FAILED" {
		out.Failed = "its state is failed"
	}
	if json.Unmarshal([]byte(i.Description), &out.Tags) != nil {
		out.Tags = nil // someone has changed the description: it isn't Muster's any more
	}
	return out
}

// BakedImages returns the project's images that carry all of the tags, the oldest first.
func (vs *disks) BakedImages(ctx context.Context, tags map[string]string) ([]family.BakedImage, error) {
	filter := `(labels.` + labelBaked + ` = "true")`
	if f := filterOf(tags); strings.HasPrefix(f, "(") {
		filter = f + " AND " + filter
	}
	var out []family.BakedImage
	err := vs.p.api.OwnImages(ctx, vs.p.project, filter, func(page *gcp.ImageList) error {
		if w := page.Warning; w != nil && w.Code != "" && w.Code != "NO_RESULTS_ON_PAGE" {
			return unreachable(w.Message)
		}
		for _, i := range page.Items {
			if one := vs.bakedOf(i); i.Labels[labelBaked] != "" && i.Status != "DELETING" && carries(one.Tags, tags) {
				out = append(out, one)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b family.BakedImage) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, coded(err)
}

// baked returns the image with a name; ENotFound where there is none.
func (vs *disks) baked(ctx context.Context, name string, tags map[string]string) (family.BakedImage, error) {
	i, err := vs.p.api.Image(ctx, vs.p.project, name)
	if err != nil {
		return family.BakedImage{}, coded(err)
	}
	if one := vs.bakedOf(i); carries(one.Tags, tags) {
		return one, nil
	}
	return family.BakedImage{}, app.Errorf(app.EConflict, "image %s already exists and isn't Muster's", name)
}

// Bake makes an image of a machine's boot disk while the machine runs: all that was to be on the disk has been written to it. Its name follows from
// its tags. It doesn't wait for the operation, which lasts as long as the copy.
func (vs *disks) Bake(ctx context.Context, machine string, spec family.BakeSpec) (family.BakedImage, error) {
	i, err := vs.p.instance(ctx, machine)
	if err != nil {
		return family.BakedImage{}, err
	}
	description, err := json.Marshal(spec.Tags)
	if err != nil || len(description) > longestDescription {
		return family.BakedImage{}, app.Errorf(app.EInvalid, "the tags of image %s exceed %d characters", spec.Name, longestDescription)
	}
	boot := slices.IndexFunc(i.Disks, func(d *gcp.AttachedDisk) bool { return d.Boot && d.Source != "" })
	if boot < 0 {
		return family.BakedImage{}, &app.Error{Code: app.EInvalid, Reason: "cannot_bake",
			Message: fmt.Sprintf("machine %s has no boot disk that an image can be made of", machine)}
	}
	name := bakedName(spec)
	if had, err := vs.baked(ctx, name, spec.Tags); app.CodeOf(err) != app.ENotFound {
		return had, err
	}
	_, source, _ := strings.Cut(i.Disks[boot].Source, "projects/")
	image := &gcp.Image{Name: name, Description: string(description), SourceDisk: "projects/" + source, Labels: labelsOf(spec.Tags)}
	image.Labels[labelBaked] = "true"
	if err := vs.insertImage(ctx, image, requestID("image", spec.Tags[family.TagInstallation], spec.Tags[family.TagBake],
		strconv.FormatUint(i.ID, 10))); err != nil {
		return family.BakedImage{}, err
	}
	had, err := vs.baked(ctx, name, spec.Tags)
	if app.CodeOf(err) == app.ENotFound {
		err = app.Errorf(app.ETransient, "image %s was requested but doesn't exist yet", name)
	}
	return had, err
}

// insertImage begins to make an image. Where an earlier request of the same ID has ended, and its image is gone, it asks again.
func (vs *disks) insertImage(ctx context.Context, image *gcp.Image, request string) error {
	op, err := vs.p.api.InsertImage(ctx, vs.p.project, image, request)
	if err == nil && op.Status == "DONE" {
		if _, err := vs.p.api.Image(ctx, vs.p.project, image.Name); app.CodeOf(coded(err)) != app.ENotFound {
			return coded(err)
		}
		op, err = vs.p.api.InsertImage(ctx, vs.p.project, image, freshID())
	}
	if err = coded(err); err == nil && op.Status == "DONE" {
		err = vs.p.await(ctx, vs.p.project, op)
	}
	if app.CodeOf(err) == app.EConflict { // another call made it at the same time
		return nil
	}
	return err
}

// DeleteBaked deletes an image, and returns when it is gone. Machines have disks of their own.
func (vs *disks) DeleteBaked(ctx context.Context, id string) error {
	name, ours := strings.CutPrefix(id, vs.bakedPath(""))
	if !ours || !nameForm.MatchString(name) {
		return nil
	}
	op, err := vs.p.api.DeleteImage(ctx, vs.p.project, name, freshID())
	if err == nil {
		err = vs.p.await(ctx, vs.p.project, op)
	}
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}
