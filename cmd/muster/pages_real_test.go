//go:build real

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/app"
	"muster/portal/portaltest"
)

// TestBrowserEveryPage opens every page that there is, with something on it, as a superadmin: none is too wide for a phone,
// none says that it is not there, and all can be used by everybody, as far as axe-core sees.
func TestBrowserEveryPage(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery staple"
	f := newForeign(t)
	f.t = t
	site := httptest.NewServer(f.server.http.Handler)
	t.Cleanup(site.Close) // after the browser, whose live pages it would wait for
	u := app.User{Tenant: there, Name: "root", FullName: "Ada Root", Role: app.RoleSuperadmin, PasswordHash: app.HashPassword(password), CreatedAt: time.Now()}
	if err := f.server.store.CreateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	b := portaltest.OpenFor(t, site.URL, 15*time.Minute) // some hundred pages, each four times
	b.Scheme(false)
	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details").open = true`))
	b.Do(chromedp.SetValue(chromedp.ID("tenant"), there), chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/clusters"`)
	seen := 0
	look := func(name, address string) {
		b.Open(address)
		if text := b.Text("body"); strings.Contains(text, "internal error") || b.Text(".problem .big") != "" {
			t.Errorf("%s: %.300s", address, text)
		}
		b.Shoot(name)
		seen++
	}
	id := f.atRest("standing", 3)
	link, err := f.server.app.LinkStart(t.Context(), "slack", "T1/U1", "ada in Slack")
	if err != nil {
		t.Fatal(err)
	}
	special := map[string]string{
		"/link":                                     link,
		"/templates/{template}":                     "/templates/web",
		"/clusters/delete":                          "/clusters/delete?id=" + id + "&id=" + f.values["clusters"][0],
		"/clusters/{id}/clone":                      "/clusters/" + id + "/clone?name=another",
		"/clusters/{id}/diff":                       "/clusters/" + id + "/diff?with=" + f.values["clusters"][0],
		"/clusters/{id}/go-on":                      "/clusters/" + f.atRest("short", 5) + "/go-on",
		"/clusters/{id}/{power:sleep|wake}":         "/clusters/" + id + "/sleep",
		"/account/second-factor/{act:remove|codes}": "/account/second-factor/codes",
	}
	// An own template of two versions, for the pages of the catalog.
	for _, size := range []string{"3", "4"} {
		if _, err := f.server.app.ApplyCatalog(t.Context(), f.boss, yamlOf("kind: template\nname: ours\nextends: web\nstate: draft\nconstraints: {size: {min: 3, max: "+size+"}}\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.server.app.ApplyCatalog(t.Context(), f.boss, yamlOf("kind: provider\nname: toy\ntype: fake\n")); err != nil {
		t.Fatal(err)
	}
	special["/admin/catalog/provider/{name}/check"], special["/admin/catalog/provider/{name}/offers"] = "/admin/catalog/provider/toy/check", "/admin/catalog/provider/toy/offers"
	build, delivery := f.buildHook("looked-at")
	special["/admin/builds/{hook}"], special["/admin/builds/{hook}/delete"], special["/admin/builds/{hook}/deliveries/{delivery}"] = build, build+"/delete", delivery
	const kind = "/admin/catalog/{kind:template|service|image|hardware|provider}"
	for pattern, address := range map[string]string{
		kind: "/admin/catalog/service", kind + "/new": "/admin/catalog/template/new", kind + "/{name}": "/admin/catalog/template/ours?from=1&to=2",
		kind + "/{name}/edit": "/admin/catalog/template/ours/edit", kind + "/{name}/remove": "/admin/catalog/template/ours/remove",
		kind + "/{name}/revert/{number}": "/admin/catalog/template/ours/revert/1", "/admin/catalog/{kind:template}/{name}/publish": "/admin/catalog/template/ours/publish",
	} {
		special[pattern] = address
	}
	for _, r := range f.server.portal.Routes() {
		if r.Method != http.MethodGet || strings.HasPrefix(r.Pattern, "/api/") || r.Pattern == "/signin" ||
			slices.Contains([]string{"live", "key", "export", "spec", "content", "download", "inventory"}, path.Base(r.Pattern)) || // not pages
			strings.HasPrefix(r.Pattern, "/step-up/") || // leads away, to an identity provider
			strings.HasPrefix(r.Pattern, "/hooks/") || r.Pattern == "/metrics" || strings.HasPrefix(r.Pattern, "/.well-known/") || // for programs
			strings.HasPrefix(r.Pattern, "/slack/") || // leads away, to Slack, or comes back from there
			path.Base(r.Pattern) == "extend" { // opened by a signed link only
			continue
		}
		address := special[r.Pattern]
		if address == "" {
			address = f.first(r.Pattern)
		}
		if r.Pattern == "/" {
			look("page-home", "/")
			continue
		}
		look("page"+strings.ReplaceAll(strings.NewReplacer("{", "", "}", "").Replace(r.Pattern), "/", "-"), address)
	}
	// A cluster at rest can be changed: each kind of that has a page, with what it would do.
	b.Open("/clusters/" + id)
	b.Until(`document.querySelector("#change .stepper")`)
	b.Shoot("page-clusters-id-at-rest")
	for _, query := range []string{"resize&size=4", "resize&nodes=n3", "add_services", "remove_services", "reconfigure", "start", "stop", "restart&services=web", "upgrade", "repair", "repair&nodes=n1"} {
		look("page-clusters-id-change-"+strings.NewReplacer("&", "-", "=", "-").Replace(query), "/clusters/"+id+"/change?kind="+query)
	}
	t.Logf("%d pages", seen)
}

// buildHook makes a hook of a build system that has told of something, and gives its page, and that of what was told.
func (f *foreign) buildHook(name string) (page, delivery string) {
	f.t.Helper()
	owner := "builder"
	if err := f.server.store.CreateUser(f.t.Context(), app.User{Tenant: there, Name: owner, Role: app.RoleUser, PasswordHash: app.HashPassword("correct horse battery"), CreatedAt: time.Now()}); err != nil {
		f.t.Fatal(err)
	}
	rules := []app.BuildRule{{Name: "jobs", When: `event.event == "workflow_job"`, Do: app.BuildCreate, Template: "web", Size: 3, Forks: app.BuildForksAll}}
	saved, err := f.server.app.SaveBuildHook(f.t.Context(), f.boss, app.BuildHookRequest{Name: name, System: "github", Owner: &owner, Rules: &rules})
	if err != nil {
		f.t.Fatal(err)
	}
	body := []byte(`{"ref":"refs/heads/main","before":"1","after":"2","repository":{"full_name":"octo/web","fork":false},"sender":{"login":"octo"}}`)
	mac := hmac.New(sha256.New, []byte(saved.Secret))
	mac.Write(body)
	h := http.Header{}
	h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	h.Set("X-GitHub-Event", "push")
	if _, err := f.server.app.TakeBuild(f.t.Context(), saved.ID, h.Get, body, "192.0.2.1"); err != nil {
		f.t.Fatal(err)
	}
	all, err := f.server.app.BuildDeliveries(f.t.Context(), f.boss, name, 0, 1)
	if err != nil || len(all) != 1 {
		f.t.Fatalf("%+v, %v", all, err)
	}
	page = "/admin/builds/" + name
	return page, fmt.Sprintf("%s/deliveries/%d", page, all[0].ID)
}

// atRest makes a cluster whose create is done, by nobody but the ledger. Of one that has two nodes alike, the machine of the second
// does not come, and the create fails.
func (f *foreign) atRest(name string, size int) string {
	f.t.Helper()
	ctx, now := f.t.Context(), time.Now()
	v, err := f.server.app.CreateCluster(ctx, f.boss, app.ClusterRequest{Name: name, LayoutRequest: app.LayoutRequest{Template: "web", Size: size}})
	if err != nil {
		f.t.Fatal(err)
	}
	lost, alike := "", map[string]bool{}
	for _, n := range v.Nodes {
		services := strings.Join(n.Services, " ")
		if alike[services] {
			lost = n.Name
		}
		alike[services] = true
	}
	w := app.WorkerID{Name: "idle", Tenant: there}
	for range 1000 {
		steps, err := f.server.store.ClaimSteps(ctx, app.ClaimQuery{Worker: w, Now: now, For: time.Minute, Most: 100})
		if err != nil {
			f.t.Fatal(err)
		}
		if c, err := f.server.app.Cluster(ctx, f.boss, v.ID); err != nil || c.Status == app.ClusterActive || c.Status == app.ClusterFailed {
			return v.ID
		}
		var ends []app.Finish
		for _, s := range steps {
			end := app.Finish{Fence: app.Fence{Operation: s.Step.Operation, Index: s.Step.Index, Attempt: s.Step.Attempt}, Now: now}
			switch s.Step.Action {
			case app.ActionCreate:
				if s.Step.Node == lost {
					end.Err = app.Errorf(app.ECapacity, "There is no room for another machine.")
					break
				}
				end.Node = &app.NodeUpdate{Status: app.NodeCreated, Machine: &app.Machine{ID: "m-" + s.Step.Node, Addresses: map[string]string{app.AddressAccess: "127.0.0.9"}}}
			case app.ActionConfirm:
				end.Node = &app.NodeUpdate{Status: app.NodeReady}
			}
			ends = append(ends, end)
		}
		if _, err := f.server.store.FinishSteps(ctx, w, ends); err != nil {
			f.t.Fatal(err)
		}
	}
	f.t.Fatal("the create does not come to its end")
	return ""
}

// first fills a route with the first thing that there is of each kind.
func (f *foreign) first(pattern string) string {
	return parameter.ReplaceAllStringFunc(pattern, func(p string) string {
		noun, _, _ := strings.Cut(p, "/")
		if known := f.values[noun]; len(known) > 0 {
			return noun + "/" + known[0]
		}
		return noun + "/theirs"
	})
}
