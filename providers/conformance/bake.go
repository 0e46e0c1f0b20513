package conformance

import (
	"strings"

	"muster/app"
	"muster/app/family"
)

// baking is the promises about images that are made of machines.
type baking[S T[S]] struct{ Harness[S] }

// bakes holds a member that is a family.Baker to what that promises.
func (h baking[S]) bakes(t S) {
	p := h.Open(t)
	b, ok := family.PowerOf[family.Baker](p)
	if !ok {
		t.Skip("the member can't make images of machines")
	}
	spec, keys := h.Spec(t, "oven")
	tags := map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation], family.TagTenant: spec.Tags[family.TagTenant],
		family.TagBake: "key-" + spec.Intent}
	want := family.BakeSpec{Name: "muster-test", Tags: tags}
	for _, id := range []string{"no-such-machine", "../escape", ""} {
		_, err := b.Bake(t.Context(), id, want)
		wantCode(t, "bake of an unknown machine", err, app.ENotFound)
	}
	if err := b.DeleteBaked(t.Context(), "no-such-image"); err != nil {
		t.Errorf("delete of an unknown image: %v", err)
	}
	m := h.eventually(t, p, create(t, p, spec).ID)
	if h.Login {
		h.ask(t, m, keys, "echo bread >$HOME/baked")
	}
	image, err := b.Bake(t.Context(), m.ID, want)
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid {
		t.Skip("no image can be made of these machines:", err)
	}
	if err != nil {
		t.Fatalf("bake: %v", err)
	}
	again, err := b.Bake(t.Context(), m.ID, want)
	if err != nil || again.ID != image.ID {
		t.Errorf("second bake: %+v (%v), want %s", again, err, image.ID)
	}
	list, err := b.BakedImages(t.Context(), tags)
	if err != nil || len(list) != 1 || list[0].ID != image.ID || list[0].Tags[family.TagBake] != tags[family.TagBake] || list[0].CreatedAt.IsZero() {
		t.Fatalf("images: %+v (%v)", list, err)
	}
	other := map[string]string{family.TagInstallation: "another"}
	if list, err := b.BakedImages(t.Context(), other); err != nil || len(list) != 0 {
		t.Errorf("images of another installation: %+v (%v)", list, err)
	}
	if err := p.Delete(t.Context(), m.ID); err != nil { // the image does not need it
		t.Fatalf("delete: %v", err)
	}
	fresh, own := h.Spec(t, "bread")
	fresh.Image.Image = image.ID
	n := h.eventually(t, p, create(t, p, fresh).ID)
	if h.Login {
		if got := h.ask(t, n, own, "cat $HOME/baked"); strings.TrimSpace(got) != "bread" {
			t.Errorf("the machine from the image has %q", got)
		}
		if c, err := dial(n, keys); err == nil {
			_ = c.Close()
			t.Error("the first machine's keys open the one from its image")
		}
	}
	for range 2 {
		if err := b.DeleteBaked(t.Context(), image.ID); err != nil && app.CodeOf(err) != app.ETransient {
			t.Errorf("delete of the image: %v", err)
		}
	}
	if list, err := b.BakedImages(t.Context(), tags); err != nil || len(list) != 0 {
		t.Errorf("after its delete: %+v (%v)", list, err)
	}
	gone, _ := h.Spec(t, "crumbs")
	gone.Image.Image = image.ID
	if _, err := p.Create(t.Context(), gone); app.CodeOf(err) != app.ENotFound && app.CodeOf(err) != app.EInvalid {
		t.Errorf("a machine from a deleted image: %v", err)
	}
	if err := p.Delete(t.Context(), n.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
}
