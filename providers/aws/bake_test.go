package aws

import (
	"testing"
	"time"

	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/providertest"
)

// TestSnapshotsThatWereLeftOfImages are found again an hour after they were made, and deleted; those of images aren't.
func TestSnapshotsThatWereLeftOfImages(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	m := providertest.Eventually(t, c, mustCreate(t, c, specOf(t, "oven")).ID)
	bake := func(key string) (string, map[string]string) {
		tags := map[string]string{appfamily.TagInstallation: providertest.Installation, appfamily.TagTenant: "acme", appfamily.TagBake: key}
		i, err := c.Bake(t.Context(), m.ID, appfamily.BakeSpec{Name: "muster-" + key, Tags: tags})
		if err != nil {
			t.Fatal(err)
		}
		return i.ID, tags
	}
	gone, tags := bake("gone")
	kept, _ := bake("kept")
	ids := func(tags map[string]string) (out []string) {
		t.Helper()
		all, err := c.BakedImages(t.Context(), tags)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range all {
			if out = append(out, i.ID); i.ID[:5] == "snap-" && (i.Failed == "" || i.Ready || i.Tags[appfamily.TagTenant] != "acme") {
				t.Errorf("%+v", i)
			}
		}
		return out
	}
	for len(ids(nil)) < 2 {
		time.Sleep(quick.poll)
	}
	undo := r.refuse("DeleteSnapshot", "UnauthorizedOperation", "You are not authorized to perform this operation.")
	r.sim.mu.Lock()
	r.sim.spoil = 1
	r.sim.mu.Unlock()
	if err := c.DeleteBaked(t.Context(), gone); app.CodeOf(err) != app.ECredentials {
		t.Fatalf("without the permission: %v", err)
	}
	undo()
	if all := ids(nil); len(all) != 1 || all[0] != kept {
		t.Errorf("young snapshots: %v", all)
	}
	r.sim.mu.Lock()
	for _, x := range r.sim.copies {
		x.made = x.made.Add(-2 * leftAfter)
	}
	r.sim.mu.Unlock()
	all := ids(nil)
	if len(all) != 2 || all[0] != kept || !snapshotForm.MatchString(all[1]) {
		t.Fatalf("old ones: %v", all)
	}
	if own := ids(tags); len(own) != 1 || own[0] != all[1] {
		t.Errorf("by its tags: %v", own)
	}
	if err := c.DeleteBaked(t.Context(), all[1]); err != nil {
		t.Error(err)
	}
	if err := c.DeleteBaked(t.Context(), all[1]); err != nil {
		t.Errorf("again: %v", err)
	}
	if all := ids(nil); len(all) != 1 || all[0] != kept {
		t.Errorf("at the end: %v", all)
	}
}
