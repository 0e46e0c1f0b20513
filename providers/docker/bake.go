package docker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/image"
	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
)

var _ family.Baker = (*engine)(nil)

const (
	bakedNames = "muster-baked:"
	// bakedPrefix begins the labels of baked images, which containers that are made of them inherit.
	bakedPrefix = "muster.image."
	// labelTags lists a container's tags, as JSON: one that is made of a baked image inherits labels, too.
	labelTags = "muster.tags"
)

// bakedName is of an image alone, among those of all installations and tenants.
func bakedName(tags map[string]string) string {
	sum := sha256.Sum256([]byte(tags[family.TagInstallation] + "\x00" + tags[family.TagTenant] + "\x00" + tags[family.TagBake]))
	return bakedNames + hex.EncodeToString(sum[:16])
}

// isBaked reports whether a name is that of a baked image. No registry has one.
func isBaked(name string) bool { return strings.HasPrefix(name, bakedNames) }

// namesBaked reports whether a name is that of a baked image, however it is spelt: docker.io/library is what engines add.
func namesBaked(name string) bool {
	named, err := reference.ParseNormalizedNamed(name)
	return err == nil && reference.FamiliarName(named) == strings.TrimSuffix(bakedNames, ":")
}

func bakedTags(labels map[string]string) map[string]string {
	tags := map[string]string{}
	for k, v := range labels {
		if name, ok := strings.CutPrefix(k, bakedPrefix); ok {
			tags[name] = v
		}
	}
	return tags
}

// BakedImages returns those that carry all of the tags, the oldest first.
func (e *engine) BakedImages(ctx context.Context, tags map[string]string) ([]family.BakedImage, error) {
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return nil, err
	}
	filters := client.Filters{}.Add("label", bakedPrefix+family.TagBake)
	r, err := e.api.ImageList(ctx, client.ImageListOptions{Filters: filters})
	if err = failure(ctx, h, err); err != nil {
		return nil, err
	}
	var out []family.BakedImage
	for _, i := range r.Items {
		if one, ok := bakedOf(i); ok && carries(one.Tags, tags) {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b family.BakedImage) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// bakedOf is an image in app's words; false for one without the name that its labels would have it have.
func bakedOf(i image.Summary) (family.BakedImage, bool) {
	tags := bakedTags(i.Labels)
	name := bakedName(tags)
	return family.BakedImage{ID: name, Ready: true, Tags: tags, CreatedAt: time.Unix(i.Created, 0).UTC()}, slices.Contains(i.RepoTags, name)
}

// Bake commits a container's files, which is done when the engine answers. The image's name follows from its tags. What the container is tagged with
// isn't the image's: an empty list of tags takes it out.
func (e *engine) Bake(ctx context.Context, machine string, spec family.BakeSpec) (family.BakedImage, error) {
	name := bakedName(spec.Tags)
	release, err := e.turn(ctx, name)
	if err != nil {
		return family.BakedImage{}, err
	}
	defer release()
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return family.BakedImage{}, err
	}
	c, err := e.inspect(ctx, machine)
	if err != nil {
		return family.BakedImage{}, err
	}
	if all, err := e.BakedImages(ctx, spec.Tags); err != nil || len(all) > 0 {
		return first(all), err
	}
	labels := map[string]string{labelTags: "[]", labelHostname: "", labelHostKey: "", labelUser: ""}
	for k := range tagsOf(c.Config.Labels) {
		labels[tagPrefix+k] = ""
	}
	for k, v := range spec.Tags {
		labels[bakedPrefix+k] = v
	}
	_, err = e.api.ContainerCommit(ctx, c.ID, client.ContainerCommitOptions{Reference: name, Comment: spec.Name, Config: &container.Config{Labels: labels}})
	if err = failure(ctx, h, err); err != nil {
		if strings.Contains(err.Error(), "no space left") {
			return family.BakedImage{}, noRoom("The engine's disk is full, so no image can be made of container " + machine + ".")
		}
		return family.BakedImage{}, err
	}
	return family.BakedImage{ID: name, Ready: true, Tags: maps.Clone(spec.Tags), CreatedAt: time.Now().UTC()}, nil
}

func first(all []family.BakedImage) family.BakedImage {
	if len(all) == 0 {
		return family.BakedImage{}
	}
	return all[0]
}

// DeleteBaked takes an image's name away, and with it the layers that nothing else has. The engine refuses while a container is made of it.
func (e *engine) DeleteBaked(ctx context.Context, id string) error {
	if !isBaked(id) {
		return ctx.Err()
	}
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return err
	}
	_, err = e.api.ImageRemove(ctx, id, client.ImageRemoveOptions{PruneChildren: true})
	inUse := h.code() == 409
	if err = failure(ctx, h, err); err == nil || absent(err) {
		return nil
	}
	if inUse {
		return app.Errorf(app.ETransient, "Containers are made of image %s.", id)
	}
	return err
}

// permitted refuses a baked image that isn't there, or is another tenant's: anyone who knows what it is made of can guess
// its name. It goes by what the image is: it has other names too, such as its id.
func (e *engine) permitted(ctx context.Context, h *heard, name string, tags map[string]string) error {
	i, err := e.api.ImageInspect(ctx, name)
	if err = failure(ctx, h, err); err != nil && !absent(err) {
		return err
	}
	var has map[string]string
	if err == nil && i.Config != nil {
		has = bakedTags(i.Config.Labels)
	}
	if _, baked := has[family.TagBake]; !baked && !isBaked(name) {
		return nil // and where it's absent, it may be pulled or built
	}
	for _, k := range []string{family.TagInstallation, family.TagTenant} {
		if err != nil || has[k] != tags[k] {
			return &app.Error{Code: app.EInvalid, Reason: reasonAbsent, Message: fmt.Sprintf("Baked image %s isn't on the engine.", name)}
		}
	}
	return nil
}

// unbaked refuses to build of a baked image, by whatever name: what is built has no tenant, and can be any tenant's.
func (e *engine) unbaked(ctx context.Context, h *heard, base string) error {
	i, err := e.api.ImageInspect(ctx, base)
	if err = failure(ctx, h, err); err != nil {
		return err
	}
	if i.Config != nil && len(bakedTags(i.Config.Labels)) > 0 {
		return dockerfileError(0, "FROM %s is a baked image", base)
	}
	return nil
}

// tagList is a container's list of tags.
func tagList(tags map[string]string) string {
	b, _ := json.Marshal(slices.Sorted(maps.Keys(tags))) // strings always can be
	return string(b)
}
