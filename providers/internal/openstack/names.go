package openstack

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/humanize"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/pagination"
)

// Names keeps what names stand for, for a while.
type Names[T any] struct {
	For time.Duration

	mu   sync.Mutex
	kept map[string]kept[T]
}

type kept[T any] struct {
	value T
	until time.Time
}

// Get returns what a name refers to, and asks if that isn't known. Errors are not kept.
func (n *Names[T]) Get(name string, ask func() (T, error)) (T, error) {
	n.mu.Lock()
	have, ok := n.kept[name]
	n.mu.Unlock()
	if ok && time.Now().Before(have.until) {
		return have.value, nil
	}
	v, err := ask()
	if err != nil {
		return v, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil {
		n.kept = map[string]kept[T]{}
	}
	n.kept[name] = kept[T]{v, time.Now().Add(n.For)}
	return v, nil
}

// Forget has everything be asked again.
func (n *Names[T]) Forget() { n.mu.Lock(); defer n.mu.Unlock(); n.kept = nil }

// flavorList returns all flavors that the project may use, sorted by name.
func flavorList(ctx context.Context, s *Session) ([]flavors.Flavor, error) {
	var all []flavors.Flavor
	err := flavors.ListDetail(s.Compute, flavors.ListOpts{}).EachPage(ctx, Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
		some, err := flavors.ExtractFlavors(page)
		all = append(all, some...)
		return true, err
	}))
	slices.SortFunc(all, func(a, b flavors.Flavor) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// flavorOf finds a flavor among all by its id or name.
func flavorOf(all []flavors.Flavor, name string) (flavors.Flavor, error) {
	names := make([]string, 0, len(all))
	for _, f := range all {
		if f.ID == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	if i := slices.Index(names, name); i >= 0 && name != "" {
		return all[i], nil
	}
	e := app.Errorf(app.EInvalid, "flavor %q doesn't exist in the project", name)
	e.Field, e.Hint = "flavor", humanize.Suggest(name, slices.Compact(names))
	return flavors.Flavor{}, e
}

// image finds an image by its id or name. Of several images of one name the newest that can be used counts, as clouds keep the old ones when they
// publish a new one.
func image(ctx context.Context, s *Session, name string) (images.Image, error) {
	if err := s.Needs("image", s.Image); err != nil {
		return images.Image{}, err
	}
	if IsID(name) {
		one, err := images.Get(ctx, s.Image, name).Extract()
		if err == nil {
			return *one, nil
		}
		if !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			return images.Image{}, err
		}
	}
	if name != "" {
		all, err := imageList(ctx, s, images.ListOpts{Name: name})
		if err != nil {
			return images.Image{}, err
		}
		if len(all) > 0 {
			return slices.MaxFunc(all, func(a, b images.Image) int {
				return cmp.Or(cmp.Compare(rank(a), rank(b)), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
			}), nil
		}
	}
	e := app.Errorf(app.EInvalid, "image %q doesn't exist in the project", name)
	e.Field, e.Hint = "image", "Use the name or ID of an image that openstack image list shows for this project."
	return images.Image{}, e
}

func rank(i images.Image) int {
	if i.Status == images.ImageStatusActive {
		return 1
	}
	return 0
}

// imageList returns the images that the project sees.
func imageList(ctx context.Context, s *Session, o images.ListOptsBuilder) ([]images.Image, error) {
	var all []images.Image
	err := images.List(s.Image, o).EachPage(ctx, Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
		some, err := images.ExtractImages(page)
		all = append(all, some...)
		return true, err
	}))
	return all, err
}

// usable returns EInvalid for an image that no server can be made of.
func usable(i images.Image) error {
	if i.Status == images.ImageStatusActive {
		return nil
	}
	e := app.Errorf(app.EInvalid, "image %q is %s and can't be used for a server", i.Name, i.Status)
	e.Field, e.Hint = "image", "Choose an active image, or wait until it's uploaded."
	return e
}

// fits returns EInvalid for an image that is too large for a flavor, with the disk that it boots from.
func fits(f flavors.Flavor, i images.Image, d Disks) error {
	disk := cmp.Or(d.BootGB, f.Disk)
	needed := max(i.MinDiskGigabytes, int((i.SizeBytes+1<<30-1)>>30), int((i.VirtualSize+1<<30-1)>>30))
	var e *app.Error
	switch {
	case disk == 0:
		e = app.Errorf(app.EInvalid, "flavor %q has no disk to boot from", f.Name)
		e.Hint = "Set boot_volume_gb in the account or the hardware type, or choose a flavor with a disk."
	case disk < needed:
		e = app.Errorf(app.EInvalid, "image %q needs a disk of %d GB, but gets %[4]d GB with flavor %[3]q", i.Name, needed, f.Name, disk)
		e.Hint = "Choose a flavor with a larger disk, or set boot_volume_gb."
	case f.RAM < i.MinRAMMegabytes:
		e = app.Errorf(app.EInvalid, "image %q needs %d MB of memory, but flavor %q has %d MB", i.Name, i.MinRAMMegabytes, f.Name, f.RAM)
		e.Hint = "Choose a flavor with more memory, or another image."
	default:
		return nil
	}
	e.Field = "flavor"
	return e
}
