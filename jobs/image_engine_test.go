package jobs_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/app/family"
	"muster/app/fleet"
	"muster/app/template"
	"muster/jobs/reconcile"
)

// bakingCloud is a diskCloud with images of machines that no one here has made.
type bakingCloud struct {
	*diskCloud
	mu     sync.Mutex
	images map[string]family.BakedImage
}

func (c *bakingCloud) Bake(context.Context, string, family.BakeSpec) (family.BakedImage, error) {
	panic("nothing is baked here")
}

func (c *bakingCloud) BakedImages(_ context.Context, tags map[string]string) (out []family.BakedImage, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.images {
		if i.Tags[family.TagInstallation] == tags[family.TagInstallation] {
			out = append(out, i)
		}
	}
	return out, nil
}

func (c *bakingCloud) DeleteBaked(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.images, id)
	return nil
}

func (c *bakingCloud) has() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.images))
}

func (c *bakingCloud) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return c, nil
}

// An image that no row knows is an orphan, which stays until someone, or the mode, says that it goes. One that may yet be reported isn't one.
func TestUnknownImagesAreOrphans(t *testing.T) {
	t.Parallel()
	e, d := withDisks(t, nil)
	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	image := func(owner, key string, at time.Time) family.BakedImage {
		return family.BakedImage{ID: key, CreatedAt: at, Tags: map[string]string{family.TagInstallation: owner, family.TagTenant: "default", family.TagBake: key}}
	}
	c := &bakingCloud{diskCloud: d, images: map[string]family.BakedImage{"stray": image(installation, "stray", long),
		"young": image(installation, "young", time.Now()), "foreign": image("another", "foreign", long)}}
	defer e.reconciler(func(r *reconcile.Reconciler) { r.Images, r.Providers = e.store, c })()
	e.comesAbout("the orphan is seen", func() bool { return len(e.orphans(false)) == 1 })
	e.passes(3)
	o := e.orphans(false)
	if len(o) != 1 || o[0].Machine != "stray" || o[0].Resource != fleet.ResourceImage || o[0].State != fleet.OrphanReported || len(c.has()) != 3 {
		t.Fatalf("orphans are %+v, images %v", o, c.has())
	}
	if _, err := e.app.Fleet.Machines.DecideOrphan(e.ctx, e.admin, o[0].ID, fleet.DecideDelete); err != nil {
		t.Fatal(err)
	}
	e.comesAbout("the orphan is deleted", func() bool { return len(c.has()) == 2 && len(e.orphans(false)) == 0 })
	if got := c.has(); !slices.Equal(got, []string{"foreign", "young"}) {
		t.Errorf("the provider has %v", got)
	}
}
