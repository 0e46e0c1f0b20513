package openstack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// snapshots asks Glance for images by their properties, which Nova sets to the metadata that it was given. Glance filters by any property:
// https://docs.openstack.org/api-ref/image/v2/#list-images
type snapshots map[string]string

// ToImageListQuery implements images.ListOptsBuilder.
func (s snapshots) ToImageListQuery() (string, error) {
	q := url.Values{"limit": {strconv.Itoa(imagesPerPage)}}
	for k, v := range s {
		q.Set(k, v)
	}
	return "?" + q.Encode(), nil
}

// imagesPerPage is how many images are asked for at a time. Without a limit, Glance returns 25.
const imagesPerPage = 500

// tagsOf are the properties of an image that are text, which its tags are.
func tagsOf(i images.Image) map[string]string {
	out := make(map[string]string, len(i.Properties))
	for k, v := range i.Properties {
		if text, ok := v.(string); ok {
			out[k] = text
		}
	}
	return out
}

// metaServer is a property of an image: the server that it was made of. Nova says so itself in instance_uuid.
const metaServer, novaServer = "muster-server", "instance_uuid"

// nameMark ends the name of a baked image. Nova hands on an image's properties to whatever image is made of a server that
// booted from it, such as a person's snapshot or backup of a node: the properties alone don't make an image ours.
func nameMark(tags map[string]string) string {
	sum := sha256.Sum256([]byte(tags[family.TagInstallation] + "\x00" + tags[family.TagTenant] + "\x00" + tags[family.TagBake]))
	return "-" + hex.EncodeToString(sum[:8])
}

// bakedName is the name of the image that a spec is for.
func bakedName(spec family.BakeSpec) string {
	return spec.Name[:min(len(spec.Name), 100)] + nameMark(spec.Tags)
}

// bakedHere reports whether Bake made an image, and not a person who copied a server that booted from such an image.
func bakedHere(i images.Image, has map[string]string) bool {
	of, said := has[metaServer], has[novaServer]
	return has[family.TagBake] != "" && strings.HasSuffix(i.Name, nameMark(has)) && (of == "" || said == "" || of == said)
}

// BakedImages returns the project's images that carry all of the tags, the oldest first. Ones that are being deleted aren't among them.
func BakedImages(ctx context.Context, s *Session, tags map[string]string) ([]family.BakedImage, error) {
	if err := s.Needs("image", s.Image); err != nil {
		return nil, err
	}
	var all []images.Image
	err := Whole(func() (err error) { all, err = imageList(ctx, s, snapshots(tags)); return err })
	if err != nil {
		return nil, err
	}
	var out []family.BakedImage
	for _, i := range all {
		has := tagsOf(i)
		switch {
		case !bakedHere(i, has), !carries(has, tags), slices.ContainsFunc(out, func(o family.BakedImage) bool { return o.ID == i.ID }):
			continue
		case i.Status == images.ImageStatusDeleted, i.Status == images.ImageStatusPendingDelete:
			continue
		}
		one := family.BakedImage{ID: i.ID, Ready: i.Status == images.ImageStatusActive, Tags: has, CreatedAt: i.CreatedAt}
		if i.Status == images.ImageStatusKilled || i.Status == images.ImageStatusDeactivated {
			one.Failed = "its status is " + string(i.Status)
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b family.BakedImage) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Bake makes an image of a server's disk, or finds the one of the same tags. It sends the call that makes one at most once. A server that boots from
// a volume is EInvalid: its image would be a snapshot of that volume, which only servers with a volume of their own can start from.
func Bake(ctx context.Context, s *Session, p Pace, recent *account.Asked, server string, spec family.BakeSpec) (family.BakedImage, error) {
	for k, v := range spec.Tags {
		if !metaKey.MatchString(k) || k == metaServer || len(v) > 255 {
			return family.BakedImage{}, app.Errorf(app.EInvalid, "%q isn't a valid tag of an image: names and values have up to 255 characters", k)
		}
	}
	one, err := Get(ctx, s, server)
	if err != nil {
		return family.BakedImage{}, err
	}
	intent := "image\x00" + spec.Tags[family.TagInstallation] + "\x00" + spec.Tags[family.TagBake]
	had, err := bakedBefore(ctx, s, p, recent, intent, spec.Tags)
	if err != nil {
		return family.BakedImage{}, err
	}
	if had != nil {
		return *had, nil
	}
	if len(one.Image) == 0 {
		return family.BakedImage{}, &app.Error{Code: app.EInvalid, Reason: "cannot_bake",
			Message: fmt.Sprintf("server %s boots from a volume, so no image can be made of it", server),
			Hint:    "Set boot_volume_gb to 0 in the hardware type that images are built on."}
	}
	with := maps.Clone(spec.Tags)
	with[metaServer] = server
	r := servers.CreateImage(ctx, s.Compute, server, servers.CreateImageOpts{Name: bakedName(spec), Metadata: with})
	id, err := path.Base(r.Header.Get("Location")), r.Err // of a URL without a host that counts; in the answer's text only from version 2.45 on
	if err == nil && !IsID(id) {
		err = app.Errorf(app.ETransient, "the cloud accepted the image, but didn't say which")
	}
	keep(recent, intent, id, err, p)
	if err != nil {
		return family.BakedImage{}, err
	}
	return family.BakedImage{ID: id, Tags: maps.Clone(spec.Tags)}, nil
}

// bakedBefore returns the image that an earlier call has made, also one that isn't listed yet; nil for none.
func bakedBefore(ctx context.Context, s *Session, p Pace, recent *account.Asked, intent string, tags map[string]string) (*family.BakedImage, error) {
	find := func() (*family.BakedImage, error) {
		found, err := BakedImages(ctx, s, tags)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	}
	get := func(id string) (*family.BakedImage, error) {
		i, err := images.Get(ctx, s.Image, id).Extract()
		switch {
		case gophercloud.ResponseCodeIs(err, http.StatusNotFound), err == nil && !bakedHere(*i, tagsOf(*i)):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return &family.BakedImage{ID: i.ID, Ready: i.Status == images.ImageStatusActive, Tags: tagsOf(*i), CreatedAt: i.CreatedAt}, nil
	}
	return account.Standing(ctx, recent, intent, p.Late, find, get)
}

// DeleteBaked deletes an image. An absent one is success. Glance refuses one that servers' disks are clones of, as with Ceph: that is ETransient.
func DeleteBaked(ctx context.Context, s *Session, id string) error {
	if !IsID(id) {
		return nil
	}
	if err := s.Needs("image", s.Image); err != nil {
		return err
	}
	err := images.Delete(ctx, s.Image, id).ExtractErr()
	switch {
	case gophercloud.ResponseCodeIs(err, http.StatusNotFound):
		return nil
	case gophercloud.ResponseCodeIs(err, http.StatusConflict):
		return app.Errorf(app.ETransient, "image %s is in use", id)
	}
	return err
}
