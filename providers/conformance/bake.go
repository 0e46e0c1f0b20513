package conformance

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

// baking is the promises about images that are made of machines.
type baking[S T[S]] struct{ Harness[S] }

// member returns the power of a member; the test ends where it has none.
func (h baking[S]) member(t S, p family.Provider) family.Baker {
	t.Helper()
	b, ok := family.PowerOf[family.Baker](p)
	if !ok {
		t.Skip("the member can't make images of machines")
	}
	return b
}

// oven creates a machine to make an image of, and says which image.
func (h baking[S]) oven(t S, p family.Provider, intent string) (family.Machine, Keys, family.BakeSpec) {
	t.Helper()
	spec, keys := h.Spec(t, intent)
	return h.eventually(t, p, create(t, p, spec).ID), keys, family.BakeSpec{Name: "muster-" + intent, Tags: map[string]string{
		family.TagInstallation: spec.Tags[family.TagInstallation], family.TagTenant: spec.Tags[family.TagTenant], family.TagBake: "key-" + spec.Intent}}
}

// bake asks for an image until the member says which it is.
func (h baking[S]) bake(t S, b family.Baker, machine string, want family.BakeSpec) family.BakedImage {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		image, err := b.Bake(t.Context(), machine, want)
		switch e := app.AsError(err); {
		case err == nil:
			return image
		case e.Code == app.EInvalid:
			t.Skip("no image can be made of these machines:", err)
		case e.Code != app.ETransient && e.Code != app.EConflict, time.Now().After(deadline):
			t.Fatalf("bake: %v", err)
		}
	}
}

// ready returns the only image with the tags, once it can be used.
func (h baking[S]) ready(t S, b family.Baker, want family.BakeSpec) family.BakedImage {
	t.Helper()
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		list, err := b.BakedImages(t.Context(), want.Tags)
		switch {
		case err != nil || len(list) > 1 || time.Now().After(deadline):
			t.Fatalf("images: %+v (%v)", list, err)
		case len(list) == 1 && list[0].Failed != "":
			t.Fatalf("the image failed: %s", list[0].Failed)
		case len(list) == 1 && list[0].Ready:
			return list[0]
		}
	}
}

// remove deletes an image twice, and waits until it isn't listed.
func (h baking[S]) remove(t S, b family.Baker, want family.BakeSpec, id string) {
	t.Helper()
	for range 2 {
		if err := b.DeleteBaked(t.Context(), id); err != nil && app.CodeOf(err) != app.ETransient {
			t.Errorf("delete of the image: %v", err)
		}
	}
	for deadline := time.Now().Add(h.patience()); ; time.Sleep(h.pause()) {
		list, err := b.BakedImages(t.Context(), want.Tags)
		if err != nil || time.Now().After(deadline) {
			t.Errorf("after its delete: %+v (%v)", list, err)
			return
		}
		if len(list) == 0 {
			return
		}
		_ = b.DeleteBaked(t.Context(), id)
	}
}

// lostAnswers holds Bake to one image, whatever becomes of the answer.
func (h baking[S]) lostAnswers(t S) {
	p := h.Open(t)
	b := h.member(t, p)
	switch {
	case h.Faults == nil:
		t.Skip("the member uses no endpoint")
	case h.MakesImage == nil:
		t.Fatal("the member makes images: the harness must recognize the calls that make them")
	}
	m, _, want := h.oven(t, p, "lost-image")
	for _, fault := range []Fault{Lost, Broken} {
		h.Faults.Arm(fault, 1, h.MakesImage)
		_, err := b.Bake(t.Context(), m.ID, want)
		if app.CodeOf(err) == app.EInvalid {
			h.Faults.Disarm()
			t.Skip("no image can be made of these machines:", err)
		}
		if h.Faults.Disarm() > 0 {
			t.Fatal("no call made an image: the harness doesn't recognize it")
		}
		if err != nil {
			unclear(t, err)
		}
		again := h.bake(t, b, m.ID, want)
		wait(t, family.ListsLate(p))
		if one := h.ready(t, b, want); one.ID != again.ID {
			t.Errorf("a repeated bake made %s next to %s", again.ID, one.ID)
		}
		h.remove(t, b, want, again.ID)
	}
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// bakes holds a member that is a family.Baker to what that promises.
func (h baking[S]) bakes(t S) {
	p := h.Open(t)
	b := h.member(t, p)
	m, keys, want := h.oven(t, p, "oven")
	t.Cleanup(func() { _ = p.Delete(context.WithoutCancel(t.Context()), m.ID) })
	for _, id := range []string{"no-such-machine", "../escape", ""} {
		_, err := b.Bake(t.Context(), id, want)
		wantCode(t, "bake of an unknown machine", err, app.ENotFound)
	}
	if err := b.DeleteBaked(t.Context(), "no-such-image"); err != nil {
		t.Errorf("delete of an unknown image: %v", err)
	}
	if h.Login {
		h.ask(t, m, keys, "echo bread >$HOME/baked")
	}
	image := h.bake(t, b, m.ID, want)
	if again := h.bake(t, b, m.ID, want); again.ID != image.ID {
		t.Errorf("second bake: %+v, want %s", again, image.ID)
	}
	if one := h.ready(t, b, want); one.ID != image.ID || one.Tags[family.TagBake] != want.Tags[family.TagBake] || one.CreatedAt.IsZero() {
		t.Fatalf("image: %+v", one)
	}
	other := map[string]string{family.TagInstallation: "another"}
	if list, err := b.BakedImages(t.Context(), other); err != nil || len(list) != 0 {
		t.Errorf("images of another installation: %+v (%v)", list, err)
	}
	if err := p.Delete(t.Context(), m.ID); err != nil { // the image does not need it
		t.Fatalf("delete: %v", err)
	}
	h.startsFrom(t, p, image.ID, keys)
	h.remove(t, b, want, image.ID)
	gone, _ := h.Spec(t, "crumbs")
	gone.Image.Image = image.ID
	if _, err := p.Create(t.Context(), gone); app.CodeOf(err) != app.ENotFound && app.CodeOf(err) != app.EInvalid {
		t.Errorf("a machine from a deleted image: %v", err)
	}
}

// startsFrom creates a machine from an image, and looks for what the image's own machine had.
func (h baking[S]) startsFrom(t S, p family.Provider, image string, theirs Keys) {
	t.Helper()
	fresh, own := h.Spec(t, "bread")
	fresh.Image.Image = image
	n := h.eventually(t, p, create(t, p, fresh).ID)
	if h.Login {
		if got := h.ask(t, n, own, "cat $HOME/baked"); strings.TrimSpace(got) != "bread" {
			t.Errorf("the machine from the image has %q", got)
		}
		if c, err := dial(n, theirs); err == nil {
			_ = c.Close()
			t.Error("the first machine's keys open the one from its image")
		}
	}
	if err := p.Delete(t.Context(), n.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
}
