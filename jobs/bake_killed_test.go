package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/image"
	"muster/app/template"
	"muster/providers/fake"
)

// lossyBaker is a cloud that makes an image for each call, as most do.
type lossyBaker struct {
	*fake.Cloud
	mu      sync.Mutex
	images  map[string]family.BakedImage
	made    int
	looks   int           // so many looks at the images before they are ready
	lose    int           // so many answers of Bake are lost
	hangs   string        // "bake" or "list": the call that has an effect, but no answer before its worker is gone
	hung    chan struct{} // gets one when that call hangs
	started []string      // the images that machines were to start from
}

func (c *lossyBaker) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return c, nil
}

func (c *lossyBaker) Create(ctx context.Context, s family.MachineSpec) (family.Machine, error) {
	c.mu.Lock()
	c.started = append(c.started, s.Image.Image)
	c.mu.Unlock()
	return c.Cloud.Create(ctx, s)
}

// answer loses an answer, or hangs until the worker is gone.
func (c *lossyBaker) answer(ctx context.Context, call string) error {
	c.mu.Lock()
	hangs, lost := c.hangs == call, call == "bake" && c.lose > 0
	if hangs {
		c.hangs = ""
	}
	if lost {
		c.lose--
	}
	c.mu.Unlock()
	switch {
	case hangs:
		c.hung <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	case lost:
		return app.Errorf(app.ETransient, "the answer to %s is lost", call)
	}
	return nil
}

func (c *lossyBaker) Bake(ctx context.Context, machine string, s family.BakeSpec) (family.BakedImage, error) {
	m, err := c.Describe(ctx, machine)
	if err != nil || m.OwnRoot {
		return family.BakedImage{}, app.Errorf(app.EInvalid, "no image can be made of machine %q: %v", machine, err)
	}
	c.mu.Lock()
	c.made++
	i := family.BakedImage{ID: fmt.Sprintf("baked-%d", c.made), Tags: maps.Clone(s.Tags), CreatedAt: time.Now()}
	c.images[i.ID] = i
	c.mu.Unlock()
	return i, c.answer(ctx, "bake")
}

func (c *lossyBaker) BakedImages(ctx context.Context, tags map[string]string) (out []family.BakedImage, _ error) {
	c.mu.Lock()
	for _, id := range slices.Sorted(maps.Keys(c.images)) {
		i, fits := c.images[id], true
		for k, want := range tags {
			fits = fits && i.Tags[k] == want
		}
		if fits {
			c.looks--
			i.Ready = c.looks <= 0
			out = append(out, i)
		}
	}
	c.mu.Unlock()
	if len(out) == 0 {
		return nil, nil
	}
	return out, c.answer(ctx, "list")
}

func (c *lossyBaker) DeleteBaked(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.images, id)
	return nil
}

// newMortalBaker has the templates one and two, where the image of one is a shorter layer of two's.
func newMortalBaker(t *testing.T) (*mortal, *lossyBaker) {
	m := newMortal(t)
	c := &lossyBaker{Cloud: m.cloud, images: map[string]family.BakedImage{}, looks: 2, hung: make(chan struct{}, 1)}
	for name, services := range map[string][]string{"one": {"back"}, "two": {"back", "extra"}} {
		m.catalog.Templates[name] = &template.Template{About: template.About{Name: name},
			Defaults:    template.Defaults{Provider: "cloud", Services: services},
			Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 1}}}
	}
	m.baker = c
	return m, c
}

// build asks for the images of both templates, and lives until they are ready and their machines gone.
func (m *mortal) build(killed map[string]bool, before bool) (list []image.Image) {
	m.Helper()
	again := func() {
		m.drop()
		m.live(killed, before)
	}
	again()
	for _, name := range []string{"one", "two"} {
		if b, err := m.app.Image.Images.BakeImages(m.Context(), m.admin, name, 0); err != nil || len(b.Images) != 1 {
			m.Fatalf("images of %s: %+v, %v", name, b, err)
		}
	}
	for deadline := time.Now().Add(hangs); ; {
		v, err := m.app.Image.Images.Images(m.Context(), m.admin)
		if err != nil {
			m.Fatal(err)
		}
		ready := !slices.ContainsFunc(v.Images, func(i image.Image) bool { return i.State != image.StateReady })
		if ready && m.nothingLeft() {
			return v.Images
		}
		if time.Now().After(deadline) {
			m.Fatalf("not built: %+v", v.Images)
		}
		if _, err := m.app.Upkeep.Expire(m.Context()); err != nil && !m.coord.gone() {
			m.Fatal(err)
		}
		select {
		case <-m.coord.died:
			again()
		case <-m.baker.hung:
			again()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Server and worker die while an image is made, while it's waited for, and at the ends of steps, or an answer is lost:
// there is one image of each, the longer one is built on the shorter one, and no machine is left.
func TestBuildsOfImagesSurviveCrashes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		hangs        string
		lose         int
		dies, before bool
		lives        int
	}{
		{"while it is made", "bake", 0, true, true, 10},
		{"while it is waited for", "list", 0, true, false, 10},
		{"lost answers", "", 1, false, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, b := newMortalBaker(t)
			b.hangs, b.lose = c.hangs, c.lose
			var killed map[string]bool
			if c.dies {
				killed = map[string]bool{}
			}
			list := m.build(killed, c.before) // the newest first
			defer m.drop()
			b.mu.Lock()
			defer b.mu.Unlock()
			if m.lives < c.lives || b.hangs != "" || b.lose != 0 {
				t.Errorf("%d lives, hangs in %q, %d answers to lose", m.lives, b.hangs, b.lose)
			}
			if len(list) != 2 || len(b.images) != 2 || b.made != 2 || list[1].Image != "baked-1" || list[0].Image != "baked-2" {
				t.Fatalf("the provider made %d images, and has %v; known are %+v", b.made, b.images, list)
			}
			m.builtOn(list[0], list[1])
		})
	}
}

// builtOn checks that the machine of the longer image started from the shorter one, and got only what that doesn't have.
func (m *mortal) builtOn(long, short image.Image) {
	m.Helper()
	if got := slices.Compact(slices.Clone(m.baker.started)); !slices.Equal(got, []string{"i", short.Image}) {
		m.Errorf("machines started from %v", got)
	}
	steps, err := m.app.Cluster.Activity.Steps(m.Context(), m.admin, long.Cluster, 0)
	if err != nil {
		m.Fatal(err)
	}
	for _, s := range steps {
		if s.Action == app.ActionInstall && s.Service == "back" {
			m.Errorf("%s is a step", s.ID)
		}
	}
}

// nothingLeft reports whether there are no machines, and none are wanted.
func (m *mortal) nothingLeft() bool {
	m.Helper()
	wanted, err := m.store.IntentsOf(m.Context(), "cloud")
	if err != nil {
		m.Fatal(err)
	}
	reserved, err := m.store.Reservations(m.Context(), app.DefaultTenant)
	if err != nil {
		m.Fatal(err)
	}
	return len(m.cloud.Machines())+len(wanted)+len(reserved) == 0
}
