package digitalocean

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
)

var _ family.Baker = (*cloud)(nil)

// bakes makes images of droplets, which DigitalOcean calls snapshots.
type bakes struct{ c *cloud }

// bakedTags are the tags that an image has. They are in its name: an image can't be tagged before it exists.
var bakedTags = []string{family.TagInstallation, family.TagTenant, family.TagBake}

// bakedPrefix begins the names of images that are made here.
const bakedPrefix = "muster/"

// bakedName returns an image's name, from which its tags can be read again.
func bakedName(tags map[string]string) (string, error) {
	name := strings.TrimSuffix(bakedPrefix, "/")
	for _, k := range bakedTags {
		if tags[k] == "" || strings.Contains(tags[k], "/") {
			return "", app.Errorf(app.EInvalid, "%s must be set and have no slash: it's part of the name of a snapshot.", k)
		}
		name += "/" + tags[k]
	}
	if len(tags) != len(bakedTags) || len(name) > 255 {
		return "", app.Errorf(app.EInvalid, "A snapshot of a droplet can only have %s, of 255 characters in all.", strings.Join(bakedTags, ", "))
	}
	return name, nil
}

// readBaked is bakedName's inverse; nil for names of others.
func readBaked(name string) map[string]string {
	values := strings.Split(strings.TrimPrefix(name, bakedPrefix), "/")
	if !strings.HasPrefix(name, bakedPrefix) || len(values) != len(bakedTags) {
		return nil
	}
	tags := map[string]string{}
	for i, k := range bakedTags {
		tags[k] = values[i]
	}
	return tags
}

// BakedImages returns those that carry all of the tags, the oldest first. One that is being made isn't listed yet.
func (b *bakes) BakedImages(ctx context.Context, tags map[string]string) ([]family.BakedImage, error) {
	all, err := pages(ctx, scopeSnapshot, b.c.api.Snapshots.ListDroplet)
	if err != nil {
		return nil, err
	}
	var out []family.BakedImage
	for _, x := range all {
		if has := readBaked(x.Name); has != nil && carries(has, tags) {
			made, _ := time.Parse(time.RFC3339, x.Created)
			out = append(out, family.BakedImage{ID: x.ID, Ready: true, Tags: has, CreatedAt: made.UTC()})
		}
	}
	slices.SortFunc(out, func(a, b family.BakedImage) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Bake has a droplet copied while it runs, and returns when that's done. DigitalOcean has no key of idempotency for it, but
// makes one snapshot of a droplet at a time, and tells of the last ones: what lists lack yet is waited for.
func (b *bakes) Bake(ctx context.Context, machine string, spec family.BakeSpec) (family.BakedImage, error) {
	name, err := bakedName(spec.Tags)
	if err != nil {
		return family.BakedImage{}, err
	}
	release, err := b.c.locks.Lock(ctx, "image "+name)
	if err != nil {
		return family.BakedImage{}, err
	}
	defer release()
	d, err := b.c.droplet(ctx, machine)
	if err != nil {
		return family.BakedImage{}, err
	}
	last, err := b.lastSnapshot(ctx, d.ID)
	if err != nil {
		return family.BakedImage{}, err
	}
	late := last != nil && (last.Status == godo.ActionInProgress || b.fresh(last)) // before the list, which shows all others
	if all, err := b.BakedImages(ctx, spec.Tags); err != nil || len(all) > 0 {
		return firstOf(all), err
	}
	if late {
		image, err := b.made(ctx, last, spec.Tags)
		return image, unlisted(err, machine) // a second one is made only once the first can't be late any more
	}
	last, _, err = b.c.api.DropletActions.Snapshot(ctx, d.ID, name)
	if err != nil {
		return family.BakedImage{}, failure("droplet:update", err)
	}
	image, err := b.made(ctx, last, spec.Tags)
	return image, unlisted(err, machine)
}

// unlisted is the error of made, for those who can try again.
func unlisted(err error, machine string) error {
	if app.CodeOf(err) == app.ENotFound {
		return app.Errorf(app.ETransient, "DigitalOcean made a snapshot of droplet %s, but doesn't list it yet.", machine)
	}
	return err
}

func firstOf(all []family.BakedImage) family.BakedImage {
	if len(all) == 0 {
		return family.BakedImage{}
	}
	return all[0]
}

// fresh reports whether what an action has made may not be listed yet.
func (b *bakes) fresh(a *godo.Action) bool {
	return a.Status == godo.ActionCompleted && a.CompletedAt != nil && time.Since(a.CompletedAt.Time) < b.c.timing.fresh
}

// lastSnapshot returns the newest action that made a snapshot of a droplet; nil where none did.
func (b *bakes) lastSnapshot(ctx context.Context, id int) (*godo.Action, error) {
	some, _, err := b.c.api.Droplets.Actions(ctx, id, &godo.ListOptions{PerPage: perPage}) // the newest are first
	if err != nil {
		return nil, failure("droplet:read", err)
	}
	var last *godo.Action
	for i, a := range some {
		if a.Type == "snapshot" && (last == nil || a.ID > last.ID) {
			last = &some[i]
		}
	}
	return last, nil
}

// made waits for an action's end, and for its image to be listed. ENotFound where that takes longer than lists lag behind.
func (b *bakes) made(ctx context.Context, a *godo.Action, tags map[string]string) (family.BakedImage, error) {
	for try := 0; ; try++ {
		switch a.Status {
		case godo.ActionCompleted:
			return b.listed(ctx, tags)
		case godo.ActionInProgress:
		default:
			return family.BakedImage{}, app.Errorf(app.ETransient, "DigitalOcean failed to make a snapshot: its action %d is %s.", a.ID, a.Status)
		}
		if err := wait(ctx, b.c.timing.look); err != nil {
			return family.BakedImage{}, err
		}
		next, _, err := b.c.api.DropletActions.Get(ctx, a.ResourceID, a.ID)
		if err != nil {
			return family.BakedImage{}, failure("droplet:read", err)
		}
		a = next
	}
}

func (b *bakes) listed(ctx context.Context, tags map[string]string) (family.BakedImage, error) {
	for end := time.Now().Add(b.c.timing.late); ; {
		last := time.Now().After(end)
		all, err := b.BakedImages(ctx, tags)
		if err != nil || len(all) > 0 {
			return firstOf(all), err
		}
		if last {
			return family.BakedImage{}, app.Errorf(app.ENotFound, "No snapshot has these tags.")
		}
		if err := wait(ctx, b.c.timing.look); err != nil {
			return family.BakedImage{}, err
		}
	}
}

// DeleteBaked deletes an image. Droplets have disks of their own.
func (b *bakes) DeleteBaked(ctx context.Context, id string) error {
	if _, ok := number(id); !ok {
		return nil
	}
	_, err := b.c.api.Snapshots.Delete(ctx, id)
	if err = failure(scopeDeleteSnapshot, err); err != nil && !absent(err) {
		return fmt.Errorf("delete snapshot %s: %w", id, err)
	}
	return nil
}
