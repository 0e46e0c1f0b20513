package openstack

import (
	"testing"

	"muster/app/family"
	"muster/providers/providertest"
)

// TestSnapshotsOfNodesAreNotBakedImages: Nova hands on the properties of the image that a node started from to whatever
// a person makes of that node, which is theirs whatever its properties and its name say.
func TestSnapshotsOfNodesAreNotBakedImages(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, nil)
	spec, _ := h.Spec(t, "oven")
	oven, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	want := family.BakeSpec{Name: "muster-k", Tags: map[string]string{family.TagInstallation: providertest.Installation,
		family.TagTenant: spec.Tags[family.TagTenant], family.TagBake: "k"}}
	image, err := p.Bake(t.Context(), providertest.Eventually(t, p, oven.ID).ID, want)
	if err != nil {
		t.Fatal(err)
	}
	list := func() []family.BakedImage {
		t.Helper()
		all, err := p.BakedImages(t.Context(), want.Tags)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for len(list()) == 0 || !list()[0].Ready {
		if err := p.pace.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	spec, _ = h.Spec(t, "node")
	spec.Image.Image = image.ID
	node, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	node = providertest.Eventually(t, p, node.ID)
	theirs := []string{s.Snapshot(node.ID, "before the upgrade"), s.Snapshot(node.ID, s.ImageName(image.ID))}
	if all := list(); len(all) != 1 || all[0].ID != image.ID {
		t.Errorf("%+v", all)
	}
	if again, err := p.Bake(t.Context(), oven.ID, want); err != nil || again.ID != image.ID {
		t.Errorf("%+v, %v", again, err)
	}
	if err := p.DeleteBaked(t.Context(), image.ID); err != nil || len(list()) != 0 {
		t.Errorf("%+v, %v", list(), err)
	}
	if again, err := p.Bake(t.Context(), oven.ID, want); err != nil || again.ID == theirs[0] || again.ID == theirs[1] {
		t.Errorf("%+v, %v", again, err)
	}
}
