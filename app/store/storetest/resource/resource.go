package resource

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/resource"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

func hashOf(letter string) string { return strings.Repeat(letter, 64) }

var siteID = resource.ID{Family: resource.ForAutomator, Member: "shell", Type: "archive", Name: "site"}

// push announces a content and adds a version of it.
func (t *storeTest) push(who app.Actor, id resource.ID, letter string, stage bool) (v resource.Version, name string) {
	t.Helper()
	b := resource.Blob{Hash: hashOf(letter), Size: 100, Files: []resource.File{{Path: "a/" + letter, Size: 100, Mode: 0o644, Hash: hashOf(letter)}}}
	name, err := t.Store.AnnounceBlob(t.Ctx, who.Tenant, b, 0, t.Clock.Now())
	t.Must(err)
	v, _, err = t.Store.AddResourceVersion(t.Ctx, who, resource.Push{ID: id, Format: resource.FormatArchive, Stage: stage, Note: "of " + letter,
		Source: resource.Source{File: letter + ".tgz"}}, b, name, t.Clock.Now())
	t.Must(err)
	return v, name
}

func (t *storeTest) versions(who app.Actor, id resource.ID) string {
	t.Helper()
	r, err := t.Store.ResourceInfo(t.Ctx, who.Tenant, id)
	t.Must(err)
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
	who := app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin}
	expect := func(want string) {
		t.Helper()
		if got := t.versions(who, siteID); got != want {
			t.Fatalf("the versions are %q, not %q", got, want)
		}
	}
	if v, _ := t.push(who, siteID, "a", false); v.Number != 1 || v.State != resource.StateInactive || v.By != "boss" || v.Source.File != "a.tgz" || v.Note != "of a" {
		t.Fatalf("the first version is %+v", v)
	}
	if v, _ := t.push(who, siteID, "a", false); v.Number != 1 {
		t.Errorf("the same content once more is version %d", v.Number)
	}
	t.push(who, siteID, "b", true)
	expect("2 staged, 1 inactive")
	t.Must(t.Store.StageResource(t.Ctx, who, siteID, 1, t.Clock.Now()))
	expect("2 inactive, 1 staged")
	t.Must(t.Store.StageResource(t.Ctx, who, siteID, 1, t.Clock.Now()))
	motd := siteID
	motd.Type, motd.Name = "file", "motd"
	t.push(who, motd, "c", true)
	sync := func(dry bool, f resource.Filter, want string) {
		t.Helper()
		out, err := t.Store.SyncResources(t.Ctx, who, f, dry, t.Clock.Now())
		t.Must(err)
		var all []string
		for _, c := range out.Changes {
			all = append(all, fmt.Sprintf("%s %d>%d", c.Name, c.From, c.To))
		}
		if got := strings.Join(all, " "); got != want {
			t.Fatalf("a sync made %q, not %q", got, want)
		}
	}
	sync(true, resource.Filter{}, "site 0>1 motd 0>1")
	expect("2 inactive, 1 staged")
	sync(false, resource.Filter{Type: "archive"}, "site 0>1")
	sync(false, resource.Filter{}, "motd 0>1")
	sync(false, resource.Filter{}, "")
	expect("2 inactive, 1 active")
	t.Must(t.Store.StageResource(t.Ctx, who, siteID, 2, t.Clock.Now()))
	expect("2 staged, 1 recalled")
	sync(false, resource.Filter{}, "site 1>2")
	expect("2 active, 1 inactive")
	t.Must(t.Store.RecallResource(t.Ctx, who, siteID, 2, t.Clock.Now()))
	t.Must(t.Store.RecallResource(t.Ctx, who, siteID, 1, t.Clock.Now())) // nothing to take back
	expect("2 recalled, 1 inactive")
	t.Must(t.Store.StageResource(t.Ctx, who, siteID, 2, t.Clock.Now()))
	expect("2 active, 1 inactive")
	t.Code(t.Store.DeleteResourceVersion(t.Ctx, who, siteID, 2, t.Clock.Now()), app.EConflict)
	t.Must(t.Store.DeleteResourceVersion(t.Ctx, who, siteID, 1, t.Clock.Now()))
	expect("2 active, 1 deleted")
	t.Code(t.Store.StageResource(t.Ctx, who, siteID, 1, t.Clock.Now()), app.ENotFound)
	t.Code(t.Store.StageResource(t.Ctx, who, siteID, 9, t.Clock.Now()), app.ENotFound)
	if v, _ := t.push(who, siteID, "d", false); v.Number != 3 {
		t.Errorf("the next version is %d", v.Number)
	}

	list, err := t.Store.ResourceInfos(t.Ctx, kit.Tenant, resource.Filter{Limit: 10})
	t.Must(err)
	if len(list) != 2 || list[0].Name != "site" || list[0].Active != 2 || list[0].Latest != 3 || list[0].Size != 200 || list[0].Staged != 0 || list[0].Recall || list[1].Name != "motd" {
		t.Errorf("the list is %+v", list)
	}
	rest, err := t.Store.ResourceInfos(t.Ctx, kit.Tenant, resource.Filter{Limit: 10, After: list[0].ID.String()})
	t.Must(err)
	found, err := t.Store.ResourceInfos(t.Ctx, kit.Tenant, resource.Filter{Limit: 10, Search: "SIT"})
	t.Must(err)
	if len(rest) != 1 || rest[0].Name != "motd" || len(found) != 1 || found[0].Name != "site" {
		t.Errorf("behind the first is %+v, found was %+v", rest, found)
	}

	other := app.Actor{Tenant: "t2", User: "eve", Role: app.RoleAdmin}
	for name, err := range map[string]error{
		"show": kit.Err(t.Store.ResourceInfo(t.Ctx, "t2", siteID)), "stage": t.Store.StageResource(t.Ctx, other, siteID, 2, t.Clock.Now()),
		"recall": t.Store.RecallResource(t.Ctx, other, siteID, 2, t.Clock.Now()), "delete": t.Store.DeleteResourceVersion(t.Ctx, other, siteID, 3, t.Clock.Now()),
		"files": kit.Err(t.Store.BlobFiles(t.Ctx, "t2", hashOf("b"))),
	} {
		if app.CodeOf(err) != app.ENotFound {
			t.Errorf("another tenant's %s returns %v", name, err)
		}
	}
	if list, err := t.Store.ResourceInfos(t.Ctx, "t2", resource.Filter{Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("another tenant sees %+v, %v", list, err)
	}
	if files, err := t.Store.BlobFiles(t.Ctx, kit.Tenant, hashOf("b")); err != nil || len(files) != 1 || files[0].Path != "a/b" {
		t.Errorf("the files are %+v, %v", files, err)
	}
	t.Must(t.Store.HoldBlobs(t.Ctx, kit.Tenant, "lab", []string{hashOf("b"), hashOf("d")}, t.Clock.Now()))
	t.Must(t.Store.HoldBlobs(t.Ctx, kit.Tenant, "lab", []string{hashOf("d")}, t.Clock.Now()))
	t.Must(t.Store.HoldBlobs(t.Ctx, "t2", "lab", []string{hashOf("b")}, t.Clock.Now()))
	r, err := t.Store.ResourceInfo(t.Ctx, kit.Tenant, siteID)
	t.Must(err)
	if len(r.Versions[0].Held) != 1 || r.Versions[0].Held[0].Provisioner != "lab" || len(r.Versions[1].Held) != 0 {
		t.Errorf("held are %+v", r.Versions)
	}
}

// pins: what references mean, and what they say where they mean nothing.
func (t *storeTest) pins() {
	who := app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin}
	t.push(who, siteID, "a", true)
	both := siteID
	both.Type = "file"
	both.Name = "both"
	t.push(who, both, "b", true)
	both.Type = "archive"
	t.push(who, both, "c", true)
	_, err := t.Store.SyncResources(t.Ctx, who, resource.Filter{}, false, t.Clock.Now())
	t.Must(err)
	t.push(who, siteID, "d", false)
	idle := siteID
	idle.Name = "idle"
	t.push(who, idle, "e", false)
	refs := []resource.AutomatorRef{}
	want := []string{"site@1 a", "site@1 a", "site@2 d", "both@1 b", "several resources", "no version of shell/idle is in use", "idle@1 e", "no version 7", "has no resource shell/none", "has no resource chef/site"}
	for _, s := range []string{"site", "archive/site", "site@2", "file/both", "both", "idle", "idle@1", "site@7", "none"} {
		r, err := resource.ParseResourceRef(s)
		t.Must(err)
		refs = append(refs, resource.AutomatorRef{Automator: "shell", Ref: r})
	}
	refs = append(refs, resource.AutomatorRef{Automator: "chef", Ref: template.ResourceRef{Name: "site"}})
	got, err := t.Store.PinResources(t.Ctx, kit.Tenant, refs)
	t.Must(err)
	for i, p := range got {
		said := fmt.Sprintf("%s@%d %.1s", p.Ref.Name, p.Ref.Version, p.Ref.Hash)
		if p.Err != nil {
			said = p.Err.Message
		}
		if !strings.Contains(said, want[i]) {
			t.Errorf("%s means %q, not %q", refs[i].Ref, said, want[i])
		}
	}
	if got, err := t.Store.PinResources(t.Ctx, "t2", refs[:1]); err != nil || got[0].Err == nil {
		t.Errorf("for another tenant it means %+v, %v", got, err)
	}
}

// sweeps: a content goes when no one needs it at two looks, and never while a version or a cluster has it, or while it comes.
func (t *storeTest) sweeps() {
	who := app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin}
	const after = 24 * time.Hour
	look := func(want ...string) {
		t.Helper()
		going, err := t.Store.IdleBlobs(t.Ctx, t.Clock.Now().Add(-after), t.Clock.Now(), 10)
		t.Must(err)
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
	t.Clock.Move(2 * after)
	look()

	// A cluster has the first version, which is deleted then.
	n := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	n.Definition.Services = map[string]*template.Service{"web": {About: template.About{Name: "web"}, Actions: map[app.Action]*template.ServiceAction{
		app.ActionInstall: {Automator: "shell", Resources: []template.ResourceRef{{Type: "archive", Name: "site", Version: 1, Hash: hashOf("a"), Size: 100, Format: resource.FormatArchive}}}}}}
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.Must(t.Store.DeleteResourceVersion(t.Ctx, who, siteID, 1, t.Clock.Now()))
	look()
	t.Clock.Move(2 * after)
	look()
	r, err := t.Store.ResourceInfo(t.Ctx, kit.Tenant, siteID)
	t.Must(err)
	if r.Versions[1].Clusters != 1 || r.Versions[0].Clusters != 0 {
		t.Errorf("the versions are used by %+v", r.Versions)
	}
	if name, size, err := t.Store.BlobName(t.Ctx, kit.Tenant, hashOf("a")); err != nil || name != a || size != 100 {
		t.Errorf("the content is at %s, %d, %v", name, size, err)
	}

	// One that was announced and never came.
	lost, err := t.Store.AnnounceBlob(t.Ctx, kit.Tenant, resource.Blob{Hash: hashOf("e"), Size: 5}, 0, t.Clock.Now())
	t.Must(err)
	look()
	t.Clock.Move(2 * after)
	again, err := t.Store.AnnounceBlob(t.Ctx, kit.Tenant, resource.Blob{Hash: hashOf("e"), Size: 5}, 0, t.Clock.Now())
	t.Must(err)
	if again != lost {
		t.Errorf("what is on its way under %s is announced as %s", lost, again)
	}
	look() // it was announced again just now
	t.Clock.Move(2 * after)
	look(lost)
	look(lost) // as long as it is not removed
	fresh, err := t.Store.AnnounceBlob(t.Ctx, kit.Tenant, resource.Blob{Hash: hashOf("e"), Size: 5}, 0, t.Clock.Now())
	t.Must(err)
	if fresh == lost {
		t.Error("a content that is being removed is announced under the same name")
	}
	t.Must(t.Store.BlobGone(t.Ctx, resource.GoingBlob{Tenant: kit.Tenant, Hash: hashOf("e"), Name: lost})) // the one who removed it comes late
	_, _, err = t.Store.AddResourceVersion(t.Ctx, who, resource.Push{ID: siteID}, resource.Blob{Hash: hashOf("e"), Size: 5}, lost, t.Clock.Now())
	t.Code(err, app.ETransient)
	_, added, err := t.Store.AddResourceVersion(t.Ctx, who, resource.Push{ID: siteID}, resource.Blob{Hash: hashOf("e"), Size: 5}, fresh,
		t.Clock.Now())
	if err != nil || !added {
		t.Errorf("what was announced again is not taken: %v", err)
	}

	// A new cluster cannot have what is gone.
	n = apptest.NewCluster(kit.Tenant, "late", 1, t.Clock.Now(), apptest.Chain(1))
	n.Definition.Services = map[string]*template.Service{"web": {Actions: map[app.Action]*template.ServiceAction{app.ActionStart: {Resources: []template.ResourceRef{{Name: "x", Hash: hashOf("f")}}}}}}
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.Code(err, app.EConflict)

	// Names that no one knows, at two looks.
	strays := func(want string) {
		t.Helper()
		got, err := t.Store.StrayBlobs(t.Ctx, []string{a, "x/stray"}, t.Clock.Now().Add(-after), t.Clock.Now())
		t.Must(err)
		if fmt.Sprint(got) != want {
			t.Errorf("strays are %v, not %s", got, want)
		}
	}
	strays("[]")
	t.Clock.Move(2 * after)
	strays("[x/stray]")
	strays("[]")

	_, size, err := t.Store.BlobsOf(t.Ctx, kit.Tenant)
	t.Must(err)
	if size != 205 {
		t.Errorf("the tenant has %d bytes", size)
	}
	_, err = t.Store.AnnounceBlob(t.Ctx, kit.Tenant, resource.Blob{Hash: hashOf("9"), Size: 100}, 304, t.Clock.Now())
	t.Code(err, app.EQuota)
	_, err = t.Store.AnnounceBlob(t.Ctx, kit.Tenant, resource.Blob{Hash: hashOf("9"), Size: 100}, 305, t.Clock.Now())
	t.Must(err)
}
