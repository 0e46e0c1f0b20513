//go:build real

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"muster/app"
	"muster/app/identity"
	"muster/portal/portaltest"
)

// TestBrowserCatalogStory is an admin's way through the catalog on a real server: a template is written, found wrong while it is typed, put
// right, tried at two sizes, saved as a draft and published; then a user makes a cluster of it.
func TestBrowserCatalogStory(t *testing.T) {
	t.Parallel()
	const password, hers = "correct horse battery", "staple battery horse"
	dir := t.TempDir()
	cloud := "kind: provider\nname: cloud\ntype: fake\n---\nkind: hardware\nname: small\nproviders: {cloud: {flavor: small, cost_per_hour: 0.01}}\n---\n" +
		"kind: image\nname: host\nproviders: {cloud: {image: host}}\n---\nkind: service\nname: hello\nactions: {start: echo good morning}\n" +
		"---\nkind: service\nname: store\nactions: {start: echo stores}\n"
	if err := os.WriteFile(filepath.Join(dir, "cloud.yaml"), []byte(cloud), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, data: filepath.Join(t.TempDir(), "data"), catalog: []string{dir}, env: []string{"MUSTER_ADMIN_PASSWORD=" + password}}
	t.Cleanup(p.tidy)
	p.start()
	b := portaltest.Open(t, p.client().Settings().URL)
	b.Scheme(false)
	js := func(script string) { t.Helper(); b.Do(chromedp.Evaluate[chromedp.Void](script)) }
	// replace types over a part of the text, as someone with a keyboard does.
	replace := func(old, now string) {
		t.Helper()
		js(`{const t = document.getElementById("text"); t.focus(); const i = t.value.indexOf(` + strconv.Quote(old) + `); t.setSelectionRange(i, i + ` + strconv.Quote(old) + `.length)}`)
		for _, r := range now {
			b.Keys(string(r))
		}
	}
	b.Open("/signin?next=%2Fadmin%2Fcatalog")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "admin"), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/admin/catalog"`)
	b.Open("/admin/catalog/template/new")
	b.Until(`window.htmx && document.querySelectorAll("#gutter div").length > 10 && document.querySelector("#problems .fine")`)

	js(`document.getElementById("f-name").select()`)
	b.Do(chromedp.SendKeys(chromedp.ID("f-name"), "greeting"))
	js(`document.getElementById("f-defaults-services").select()`)
	b.Do(chromedp.SendKeys(chromedp.ID("f-defaults-services"), "hello, stroe"))
	b.Until(`document.querySelector("#gutter .mark-error") && document.getElementById("err-f-defaults-services").textContent.includes("stroe")`)
	replace("stroe", "store")
	b.Until(`document.querySelector("#problems .fine") && document.getElementById("f-defaults-services").value=="hello, store"`)
	replace("max: 5", "max: 4")
	b.Until(`document.querySelector("#problems .fine") && document.getElementById("f-constraints-size-max").value=="4"`)

	js(`document.getElementById("try_sizes").select()`)
	b.Do(chromedp.SendKeys(chromedp.ID("try_sizes"), "2, 4, 9"), chromedp.Click(chromedp.CSS(`button[value=try]`)))
	b.Until(`document.querySelectorAll("#trials .trial").length == 3`)
	if got := b.Text("#trials"); !strings.Contains(got, "Layout 2 machines") || !strings.Contains(got, "Layout 4 machines") || !strings.Contains(got, "What would work") {
		t.Errorf("the trials say %q", got)
	}
	b.Shoot("catalog-story-try")
	if c, err := p.client().Templates.List(t.Context()); err != nil || len(c) != 0 {
		t.Fatalf("trying has saved something: %v, %v", c, err)
	}

	b.Do(chromedp.Click(chromedp.CSS(`button[value=review]`)))
	b.Until(`document.querySelector(".review")`)
	b.Do(chromedp.SendKeys(chromedp.ID("note"), "for everyone"), chromedp.Click(chromedp.CSS(`.review button[value=save]`)))
	b.Until(`location.pathname=="/admin/catalog/template/greeting"`)
	if got := b.Text("main"); !strings.Contains(got, "draft") || !strings.Contains(got, "for everyone") {
		t.Errorf("the page says %q", got)
	}
	b.Do(chromedp.Click(chromedp.CSS(`.head a.primary`)))
	b.Until(`location.pathname.endsWith("/publish")`)
	b.Shoot("catalog-story-publish")
	b.Do(chromedp.Click(chromedp.CSS(`.review button[value=save]`)))
	b.Until(`location.search=="?saved"`)
	b.Shoot("catalog-story-published")

	// A user makes a cluster of it, and sees nothing of the catalog's own pages.
	made, err := p.client().Users.Create(t.Context(), identity.NewUser{Name: "ada", Role: app.RoleUser})
	if err != nil {
		t.Fatal(err)
	}
	b.Open("/clusters")
	js(`document.querySelector("form[action='/signout']").submit()`)
	b.Until(`location.pathname=="/signin"`)
	b.Open("/signin?next=%2Fclusters%2Fnew%3Ftemplate%3Dgreeting")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), made.Password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/account/password"`)
	b.Do(chromedp.SendKeys(chromedp.ID("old"), made.Password), chromedp.SendKeys(chromedp.ID("new"), hers), chromedp.SendKeys(chromedp.ID("again"), hers), chromedp.Submit(chromedp.ID("again")))
	b.Until(`location.pathname!="/account/password"`)
	b.Open("/clusters/new?template=greeting")
	b.Until(`document.getElementById("name")`)
	b.Do(chromedp.SendKeys(chromedp.ID("name"), "mine"))
	b.Until(`document.querySelector("#preview .primary")`)
	b.Do(chromedp.Click(chromedp.CSS("#preview .primary")))
	b.Until(`location.pathname.startsWith("/clusters/mine-")`)
	list, err := p.client().Clusters.List(t.Context(), app.ClusterFilter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d clusters: %v", len(list), err)
	}
	// Machines of the fake cloud answer no one, so that it is made is all that there is to see.
	b.Open("/clusters/" + list[0].ID)
	b.Until(`document.querySelector("main").textContent.includes("greeting")`)
	if c := list[0]; c.Template != "greeting" || c.Owner != "ada" || c.Operation == nil || c.Operation.Kind != app.OperationCreate {
		t.Errorf("the cluster is %+v", c)
	}
	b.Open("/admin/catalog")
	if got := b.Text("body"); !strings.Contains(got, "Your role doesn't allow this") || strings.Contains(got, "New template") {
		t.Errorf("a user sees %q", got)
	}
}
