package image

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/bake"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/image"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"an account builds one baked image at a time, until each is used no more", (*storeTest).builds},
	{"an image counts the installs of the one that it is built on", (*storeTest).builtOn},
	{"a rule asks for images once a template was used often", (*storeTest).rules},
})

func (t *storeTest) of(key string) image.Image {
	return image.Image{Tenant: kit.Tenant, Key: key, Template: "web", Provider: kit.Cloud, Hardware: "small", Base: "host", Services: []string{"web"},
		CreatedBy: "boss", Keep: 24 * time.Hour, Recipe: image.Recipe{Layer: bake.Image{Key: key, Services: []string{"web"}}}}
}

func (t *storeTest) add(keys ...string) (ids []int64) {
	t.Helper()
	for _, key := range keys {
		list, err := t.Store.AddImages(t.Ctx, kit.Boss, []image.Image{t.of(key)}, t.Clock.Now())
		t.Must(err)
		ids = append(ids, list[0].ID)
	}
	return ids
}

// cluster is one that an image is built in.
func (t *storeTest) cluster(n int) appcluster.NewCluster {
	c := apptest.NewCluster(kit.Tenant, fmt.Sprintf("bake-web-%d", n), 1, t.Clock.Now(), kit.Steps(app.OperationCreate, "n1.create", "n1.bake"))
	c.Definition = appcluster.Definition{Services: map[string]*template.Service{}}
	return c
}

func (t *storeTest) states() (text string) {
	t.Helper()
	list, err := t.Store.Images(t.Ctx, kit.Tenant)
	t.Must(err)
	for _, i := range list {
		text += i.Key + " " + string(i.State) + ", "
	}
	return text
}

func (t *storeTest) want(text string) {
	t.Helper()
	if got := t.states(); got != text {
		t.Fatalf("images: %s want %s", got, text)
	}
}

func (t *storeTest) builds() {
	ids := t.add("a", "b")
	if again := t.add("a"); again[0] != ids[0] {
		t.Errorf("a second image %d of the same key, beside %d", again[0], ids[0])
	}
	waiting, err := t.Store.WaitingImages(t.Ctx, 10)
	t.Must(err)
	if len(waiting) != 1 || waiting[0].Key != "a" || waiting[0].Recipe.Layer.Key != "a" {
		t.Fatalf("waiting: %+v", waiting)
	}
	did, err := t.Store.BuildImage(t.Ctx, ids[0], t.cluster(1))
	t.Must(err)
	if !did {
		t.Fatal("not begun")
	}
	for _, id := range ids { // another server may be behind
		if did, err := t.Store.BuildImage(t.Ctx, id, t.cluster(2)); did || err != nil {
			t.Errorf("begun with %d while one is being built: %v", id, err)
		}
	}
	t.Code(t.Store.DeleteImage(t.Ctx, kit.Boss, ids[0], t.Clock.Now()), app.EConflict)

	t.Finish(t.Claim("w"), false)
	c := t.Claim("w")
	_, err = t.End("w", execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), Image: &execution.ImageReport{Image: "img-1"}})
	t.Must(err)
	t.want("b waiting, a ready, ")
	ready, err := t.Store.ReadyImages(t.Ctx, kit.Tenant)
	t.Must(err)
	if len(ready) != 1 || ready["a"] != "img-1" {
		t.Errorf("ready: %v", ready)
	}
	expired, err := t.Store.ExpiredClusters(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	if len(expired) != 1 || expired[0].Name != "bake-web-1" {
		t.Errorf("the cluster of the build isn't to be deleted: %+v", expired)
	}

	// What fails is noted, and makes room for another try.
	did, err = t.Store.BuildImage(t.Ctx, ids[1], t.cluster(3))
	t.Must(err)
	if !did {
		t.Fatal("the next one isn't built")
	}
	c = t.Claim("w")
	t.FailStep(c, app.Retry{})
	t.Must(t.Store.EndBuilds(t.Ctx, t.Clock.Now()))
	t.want("b failed, a ready, ")
	t.add("b")
	t.want("b waiting, a ready, ")

	// One that isn't used is deleted, and forgotten once its provider doesn't have it.
	t.Clock.Move(25 * time.Hour)
	t.Must(t.Store.EndBuilds(t.Ctx, t.Clock.Now()))
	t.want("b waiting, a deleting, ")
	kept, err := t.Store.KeptImages(t.Ctx)
	t.Must(err)
	doomed, err := t.Store.DoomedImages(t.Ctx, 10)
	t.Must(err)
	if !kept["a"] || len(doomed) != 1 || doomed[0].Image != "img-1" {
		t.Errorf("kept %v, doomed %+v", kept, doomed)
	}
	t.Must(t.Store.ImageGone(t.Ctx, doomed[0].ID))
	t.want("b waiting, ")
	t.Code(t.Store.DeleteImage(t.Ctx, app.Actor{Tenant: "other", User: "x", Role: app.RoleAdmin}, ids[1], t.Clock.Now()), app.ENotFound)
}

// builtOn builds a, and b on it. Each has an install of a minute.
func (t *storeTest) builtOn() {
	ids := t.add("a", "b")
	var use bake.Use
	use.Add("n1", bake.Image{Key: "b", From: &bake.Image{Key: "a", Image: "img-1"}})
	for i, baked := range []*bake.Use{nil, &use} {
		c := t.cluster(i + 1)
		c.Definition.Baked = baked
		c.Operation.Plan = kit.Steps(app.OperationCreate, "n1.create", "n1.web.install", "n1.bake")
		did, err := t.Store.BuildImage(t.Ctx, ids[i], c)
		t.Must(err)
		if !did {
			t.Fatalf("image %d isn't begun", i)
		}
		t.Finish(t.Claim("w"), false)
		install := t.Claim("w")
		t.Clock.Move(time.Minute)
		t.Finish(install, false)
		f := execution.Finish{Fence: kit.Fence(t.Claim("w")), Now: t.Clock.Now(), Image: &execution.ImageReport{Image: fmt.Sprintf("img-%d", i+1)}}
		_, err = t.End("w", f)
		t.Must(err)
	}
	list, err := t.Store.Images(t.Ctx, kit.Tenant)
	t.Must(err)
	if len(list) != 2 || list[1].InstallTime != time.Minute || list[0].InstallTime != 2*time.Minute {
		t.Errorf("images: %+v", list)
	}
}

func (t *storeTest) rules() {
	rule := image.Rule{Tenant: kit.Tenant, Template: "web", AfterCreates: 2, Within: time.Hour, KeepUnused: 24 * time.Hour, SetBy: "boss", SetAt: t.Clock.Now()}
	t.Must(t.Store.SetBakeRule(t.Ctx, kit.Boss, rule, false))
	due := func() []image.DueRule {
		t.Helper()
		list, err := t.Store.DueRules(t.Ctx, t.Clock.Now())
		t.Must(err)
		return list
	}
	create := func(name string) {
		t.Helper()
		n := apptest.NewCluster(kit.Tenant, name, 1, t.Clock.Now(), kit.Steps(app.OperationCreate, "n1.create"))
		n.Cluster.Template = "web"
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
		t.Clock.Move(time.Minute)
	}
	create("web-1")
	if list := due(); len(list) != 0 {
		t.Fatalf("due after one cluster: %+v", list)
	}
	create("web-2")
	list := due()
	if len(list) != 1 || list[0].Cluster != "web-2-1" || list[0].Rule.KeepUnused != rule.KeepUnused {
		t.Fatalf("due: %+v", list)
	}
	t.Must(t.Store.RuleApplied(t.Ctx, list[0]))
	if list := due(); len(list) != 0 {
		t.Errorf("due again: %+v", list)
	}
	create("web-3")
	if list := due(); len(list) != 1 {
		t.Errorf("not due after another cluster")
	}
	t.Clock.Move(2 * time.Hour)
	if list := due(); len(list) != 0 {
		t.Errorf("due by old clusters: %+v", list)
	}
	t.Must(t.Store.SetBakeRule(t.Ctx, kit.Boss, rule, true))
	t.Code(t.Store.SetBakeRule(t.Ctx, kit.Boss, rule, true), app.ENotFound)
}
