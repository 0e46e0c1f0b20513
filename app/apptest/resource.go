package apptest

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/resource"
)

func hashOf(letter string) string { return strings.Repeat(letter, 64) }

var siteID = resource.ResourceID{Family: resource.ForAutomator, Member: "shell", Type: "archive", Name: "site"}

// push announces a content and adds a version of it.
func (t *storeTest) push(who app.Actor, id resource.ResourceID, letter string, stage bool) (v resource.ResourceVersion, name string) {
	t.Helper()
	b := resource.Blob{Hash: hashOf(letter), Size: 100, Files: []resource.ResourceFile{{Path: "a/" + letter, Size: 100, Mode: 0o644, Hash: hashOf(letter)}}}
	name, err := t.s.AnnounceBlob(t.ctx, who.Tenant, b, 0, t.clock.Now())
	t.must(err)
	v, _, err = t.s.AddResourceVersion(t.ctx, who, resource.ResourcePush{ResourceID: id, Format: resource.FormatArchive, Stage: stage, Note: "of " + letter,
		Source: resource.ResourceSource{File: letter + ".tgz"}}, b, name, t.clock.Now())
	t.must(err)
	return v, name
}

func (t *storeTest) versions(who app.Actor, id resource.ResourceID) string {
	t.Helper()
	r, err := t.s.ResourceInfo(t.ctx, who.Tenant, id)
	t.must(err)
	var all []string
	for _, v := range r.Versions {
		state := string(v.State)
		if !v.DeletedAt.IsZero() {
			state = "deleted"
		}
		all = append(all, fmt.Sprintf("%d %s", v.Number, state))
	}
	return strings.Join(all, ", ")
}

// resources: Coopr's states and their ways, and that a sync happens as a whole.
func (t *storeTest) resources() {
	who := app.Actor{Tenant: tenant, User: "boss", Role: app.RoleAdmin}
	expect := func(want string) {
		t.Helper()
		if got := t.versions(who, siteID); got != want {
			t.Fatalf("the versions are %q, not %q", got, want)
		}
	}
	if v, _ := t.push(who, siteID, "a", false); v.Number != 1 || v.State != resource.ResourceInactive || v.By != "boss" || v.Source.File != "a.tgz" || v.Note != "of a" {
		t.Fatalf("the first version is %+v", v)
	}
	if v, _ := t.push(who, siteID, "a", false); v.Number != 1 {
		t.Errorf("the same content once more is version %d", v.Number)
	}
	t.push(who, siteID, "b", true)
	expect("2 staged, 1 inactive")
	t.must(t.s.StageResource(t.ctx, who, siteID, 1, t.clock.Now()))
	expect("2 inactive, 1 staged")
	t.must(t.s.StageResource(t.ctx, who, siteID, 1, t.clock.Now()))
	motd := siteID
	motd.Type, motd.Name = "file", "motd"
	t.push(who, motd, "c", true)
	sync := func(dry bool, f resource.ResourceFilter, want string) {
		t.Helper()
		out, err := t.s.SyncResources(t.ctx, who, f, dry, t.clock.Now())
		t.must(err)
		var all []string
		for _, c := range out.Changes {
			all = append(all, fmt.Sprintf("%s %d>%d", c.Name, c.From, c.To))
		}
		if got := strings.Join(all, " "); got != want {
			t.Fatalf("a sync made %q, not %q", got, want)
		}
	}
	sync(true, resource.ResourceFilter{}, "site 0>1 motd 0>1")
	expect("2 inactive, 1 staged")
	sync(false, resource.ResourceFilter{Type: "archive"}, "site 0>1")
	sync(false, resource.ResourceFilter{}, "motd 0>1")
	sync(false, resource.ResourceFilter{}, "")
	expect("2 inactive, 1 active")
	t.must(t.s.StageResource(t.ctx, who, siteID, 2, t.clock.Now()))
	expect("2 staged, 1 recalled")
	sync(false, resource.ResourceFilter{}, "site 1>2")
	expect("2 active, 1 inactive")
	t.must(t.s.RecallResource(t.ctx, who, siteID, 2, t.clock.Now()))
	t.must(t.s.RecallResource(t.ctx, who, siteID, 1, t.clock.Now())) // nothing to take back
	expect("2 recalled, 1 inactive")
	t.must(t.s.StageResource(t.ctx, who, siteID, 2, t.clock.Now()))
	expect("2 active, 1 inactive")
	t.code(t.s.DeleteResourceVersion(t.ctx, who, siteID, 2, t.clock.Now()), app.EConflict)
	t.must(t.s.DeleteResourceVersion(t.ctx, who, siteID, 1, t.clock.Now()))
	expect("2 active, 1 deleted")
	t.code(t.s.StageResource(t.ctx, who, siteID, 1, t.clock.Now()), app.ENotFound)
	t.code(t.s.StageResource(t.ctx, who, siteID, 9, t.clock.Now()), app.ENotFound)
	if v, _ := t.push(who, siteID, "d", false); v.Number != 3 {
		t.Errorf("the next version is %d", v.Number)
	}

	list, err := t.s.ResourceInfos(t.ctx, tenant, resource.ResourceFilter{Limit: 10})
	t.must(err)
	if len(list) != 2 || list[0].Name != "site" || list[0].Active != 2 || list[0].Latest != 3 || list[0].Size != 200 || list[0].Staged != 0 || list[0].Recall || list[1].Name != "motd" {
		t.Errorf("the list is %+v", list)
	}
	rest, err := t.s.ResourceInfos(t.ctx, tenant, resource.ResourceFilter{Limit: 10, After: list[0].ResourceID.String()})
	t.must(err)
	found, err := t.s.ResourceInfos(t.ctx, tenant, resource.ResourceFilter{Limit: 10, Search: "SIT"})
	t.must(err)
	if len(rest) != 1 || rest[0].Name != "motd" || len(found) != 1 || found[0].Name != "site" {
		t.Errorf("behind the first is %+v, found was %+v", rest, found)
	}

	other := app.Actor{Tenant: "t2", User: "eve", Role: app.RoleAdmin}
	for name, err := range map[string]error{
		"show": second(t.s.ResourceInfo(t.ctx, "t2", siteID)), "stage": t.s.StageResource(t.ctx, other, siteID, 2, t.clock.Now()),
		"recall": t.s.RecallResource(t.ctx, other, siteID, 2, t.clock.Now()), "delete": t.s.DeleteResourceVersion(t.ctx, other, siteID, 3, t.clock.Now()),
		"files": second(t.s.BlobFiles(t.ctx, "t2", hashOf("b"))),
	} {
		if app.CodeOf(err) != app.ENotFound {
			t.Errorf("another tenant's %s gives %v", name, err)
		}
	}
	if list, err := t.s.ResourceInfos(t.ctx, "t2", resource.ResourceFilter{Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("another tenant sees %+v, %v", list, err)
	}
	if files, err := t.s.BlobFiles(t.ctx, tenant, hashOf("b")); err != nil || len(files) != 1 || files[0].Path != "a/b" {
		t.Errorf("the files are %+v, %v", files, err)
	}
	t.must(t.s.HoldBlobs(t.ctx, tenant, "lab", []string{hashOf("b"), hashOf("d")}, t.clock.Now()))
	t.must(t.s.HoldBlobs(t.ctx, tenant, "lab", []string{hashOf("d")}, t.clock.Now()))
	t.must(t.s.HoldBlobs(t.ctx, "t2", "lab", []string{hashOf("b")}, t.clock.Now()))
	r, err := t.s.ResourceInfo(t.ctx, tenant, siteID)
	t.must(err)
	if len(r.Versions[0].Held) != 1 || r.Versions[0].Held[0].Provisioner != "lab" || len(r.Versions[1].Held) != 0 {
		t.Errorf("held are %+v", r.Versions)
	}
}

// pins: what references mean, and what they say where they mean nothing.
func (t *storeTest) pins() {
	who := app.Actor{Tenant: tenant, User: "boss", Role: app.RoleAdmin}
	t.push(who, siteID, "a", true)
	both := siteID
	both.Type = "file"
	both.Name = "both"
	t.push(who, both, "b", true)
	both.Type = "archive"
	t.push(who, both, "c", true)
	_, err := t.s.SyncResources(t.ctx, who, resource.ResourceFilter{}, false, t.clock.Now())
	t.must(err)
	t.push(who, siteID, "d", false)
	idle := siteID
	idle.Name = "idle"
	t.push(who, idle, "e", false)
	refs := []resource.AutomatorRef{}
	want := []string{"site@1 a", "site@1 a", "site@2 d", "both@1 b", "there are several", "no version of shell/idle is in use", "idle@1 e", "no version 7", "has no resource shell/none", "has no resource chef/site"}
	for _, s := range []string{"site", "archive/site", "site@2", "file/both", "both", "idle", "idle@1", "site@7", "none"} {
		r, err := resource.ParseResourceRef(s)
		t.must(err)
		refs = append(refs, resource.AutomatorRef{Automator: "shell", Ref: r})
	}
	refs = append(refs, resource.AutomatorRef{Automator: "chef", Ref: app.ResourceRef{Name: "site"}})
	got, err := t.s.PinResources(t.ctx, tenant, refs)
	t.must(err)
	for i, p := range got {
		said := fmt.Sprintf("%s@%d %.1s", p.Ref.Name, p.Ref.Version, p.Ref.Hash)
		if p.Err != nil {
			said = p.Err.Message
		}
		if !strings.Contains(said, want[i]) {
			t.Errorf("%s means %q, not %q", refs[i].Ref, said, want[i])
		}
	}
	if got, err := t.s.PinResources(t.ctx, "t2", refs[:1]); err != nil || got[0].Err == nil {
		t.Errorf("for another tenant it means %+v, %v", got, err)
	}
}

// sweeps: a content goes when nobody needs it at two looks, and never while a version or a cluster has it, or while it comes.
func (t *storeTest) sweeps() {
	who := app.Actor{Tenant: tenant, User: "boss", Role: app.RoleAdmin}
	const after = 24 * time.Hour
	look := func(want ...string) {
		t.Helper()
		going, err := t.s.IdleBlobs(t.ctx, t.clock.Now().Add(-after), t.clock.Now(), 10)
		t.must(err)
		var got []string
		for _, g := range going {
			got = append(got, g.Name)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("a sweep takes %v, not %v", got, want)
		}
	}
	_, a := t.push(who, siteID, "a", false)
	t.push(who, siteID, "b", false)
	look()
	t.clock.Move(2 * after)
	look()

	// A cluster has the first version, which is deleted then.
	n := NewCluster(tenant, "web", 1, t.clock.Now(), Chain(1))
	n.Definition.Services = map[string]*app.Service{"web": {About: app.About{Name: "web"}, Actions: map[app.Action]*app.ServiceAction{
		app.ActionInstall: {Automator: "shell", Resources: []app.ResourceRef{{Type: "archive", Name: "site", Version: 1, Hash: hashOf("a"), Size: 100, Format: resource.FormatArchive}}}}}}
	_, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	t.must(t.s.DeleteResourceVersion(t.ctx, who, siteID, 1, t.clock.Now()))
	look()
	t.clock.Move(2 * after)
	look()
	r, err := t.s.ResourceInfo(t.ctx, tenant, siteID)
	t.must(err)
	if r.Versions[1].Clusters != 1 || r.Versions[0].Clusters != 0 {
		t.Errorf("the versions are used by %+v", r.Versions)
	}
	if name, size, err := t.s.BlobName(t.ctx, tenant, hashOf("a")); err != nil || name != a || size != 100 {
		t.Errorf("the content is at %s, %d, %v", name, size, err)
	}

	// One that was announced and never came.
	lost, err := t.s.AnnounceBlob(t.ctx, tenant, resource.Blob{Hash: hashOf("e"), Size: 5}, 0, t.clock.Now())
	t.must(err)
	look()
	t.clock.Move(2 * after)
	again, err := t.s.AnnounceBlob(t.ctx, tenant, resource.Blob{Hash: hashOf("e"), Size: 5}, 0, t.clock.Now())
	t.must(err)
	if again != lost {
		t.Errorf("what is on its way under %s is announced as %s", lost, again)
	}
	look() // it was announced anew just now
	t.clock.Move(2 * after)
	look(lost)
	look(lost) // as long as it is not removed
	fresh, err := t.s.AnnounceBlob(t.ctx, tenant, resource.Blob{Hash: hashOf("e"), Size: 5}, 0, t.clock.Now())
	t.must(err)
	if fresh == lost {
		t.Error("a content that is being removed is announced under the same name")
	}
	t.must(t.s.BlobGone(t.ctx, resource.GoingBlob{Tenant: tenant, Hash: hashOf("e"), Name: lost})) // whoever removed it comes late
	_, _, err = t.s.AddResourceVersion(t.ctx, who, resource.ResourcePush{ResourceID: siteID}, resource.Blob{Hash: hashOf("e"), Size: 5}, lost, t.clock.Now())
	t.code(err, app.ETransient)
	_, added, err := t.s.AddResourceVersion(t.ctx, who, resource.ResourcePush{ResourceID: siteID}, resource.Blob{Hash: hashOf("e"), Size: 5}, fresh, t.clock.Now())
	if err != nil || !added {
		t.Errorf("what was announced anew is not taken: %v", err)
	}

	// A new cluster cannot have what is gone.
	n = NewCluster(tenant, "late", 1, t.clock.Now(), Chain(1))
	n.Definition.Services = map[string]*app.Service{"web": {Actions: map[app.Action]*app.ServiceAction{app.ActionStart: {Resources: []app.ResourceRef{{Name: "x", Hash: hashOf("f")}}}}}}
	_, err = t.s.CreateCluster(t.ctx, n)
	t.code(err, app.EConflict)

	// Names that nobody knows, at two looks.
	strays := func(want string) {
		t.Helper()
		got, err := t.s.StrayBlobs(t.ctx, []string{a, "x/stray"}, t.clock.Now().Add(-after), t.clock.Now())
		t.must(err)
		if fmt.Sprint(got) != want {
			t.Errorf("strays are %v, not %s", got, want)
		}
	}
	strays("[]")
	t.clock.Move(2 * after)
	strays("[x/stray]")
	strays("[]")

	_, size, err := t.s.BlobsOf(t.ctx, tenant)
	t.must(err)
	if size != 205 {
		t.Errorf("the tenant has %d bytes", size)
	}
	_, err = t.s.AnnounceBlob(t.ctx, tenant, resource.Blob{Hash: hashOf("9"), Size: 100}, 304, t.clock.Now())
	t.code(err, app.EQuota)
	_, err = t.s.AnnounceBlob(t.ctx, tenant, resource.Blob{Hash: hashOf("9"), Size: 100}, 305, t.clock.Now())
	t.must(err)
}
