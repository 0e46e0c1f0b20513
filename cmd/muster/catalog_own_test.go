package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/resource"
	"muster/app/template"
	"muster/cmd/demodata"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

const blogYAML = `kind: template
name: blog
label: Blog
extends: web
description: A web site of our own.
lease: {initial: 1h, max: 1d, step: 1h}
`

// tenantAdmin is an admin of the first tenant, and of the other one.
func tenantAdmin(tenant string) app.Actor {
	return app.Actor{Tenant: tenant, User: "ada", Role: app.RoleAdmin, Via: app.ViaAPI}
}

func (m *matrix) apply(actor app.Actor, c catalog.Change) catalog.Report {
	m.t.Helper()
	r, err := m.server.Services.Catalog.ApplyCatalog(actor.In(m.t.Context()), actor, c)
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}

func yamlOf(text string) catalog.Change {
	return catalog.Change{Files: []catalog.File{{Name: "a.yaml", Text: text}}}
}

func TestTenantTemplatesArePrivate(t *testing.T) {
	m := newMatrix(t)
	a, ctx := m.server.Services, t.Context()
	r := m.apply(tenantAdmin(here), yamlOf(blogYAML))
	if !r.Saved || len(r.Changes) != 1 || r.Changes[0].Act != "add" || r.Changes[0].Number != 1 {
		t.Fatalf("%+v", r)
	}
	for tenant, want := range map[string]bool{here: true, there: false} {
		user := app.Actor{Tenant: tenant, User: "bob", Role: app.RoleUser}
		c, err := a.Catalog.Catalog(ctx, user)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := c.Templates["blog"]; got != want {
			t.Errorf("tenant %s sees the template: %v, want %v", tenant, got, want)
		}
		_, err = a.Cluster.Creates.Preview(ctx, user, cluster.CreateRequest{Request: layout.Request{Template: "blog", Size: 3}})
		if (err == nil) != want {
			t.Errorf("tenant %s previews it: %v, want %v", tenant, err, want)
		}
		if _, err = a.Catalog.TemplateVersions(ctx, user, "blog"); (err == nil) != want {
			t.Errorf("tenant %s has versions of it: %v, want %v", tenant, err, want)
		}
	}
	items, err := a.Catalog.CatalogItems(ctx, tenantAdmin(here), template.KindTemplate, "own site")
	if err != nil || len(items) != 1 || !items[0].Own || items[0].By != "ada" {
		t.Errorf("%+v, %v", items, err)
	}
	source, err := a.Catalog.CatalogSource(ctx, tenantAdmin(here), template.CatalogKey{Kind: template.KindTemplate, Name: "blog"})
	if err != nil || source.Text != blogYAML {
		t.Errorf("%q, %v", source.Text, err)
	}
	if web, err := a.Catalog.CatalogSource(ctx, tenantAdmin(here), template.CatalogKey{Kind: template.KindTemplate, Name: "web"}); err != nil || !strings.HasPrefix(web.Text, "kind: template\nname: web\n") ||
		!slices.Contains(web.UsedBy, "template blog") {
		t.Errorf("%+v, %v", web, err)
	}
	if again := m.apply(tenantAdmin(here), yamlOf(blogYAML)); again.Saved || again.Unchanged != 1 || len(again.Changes) != 0 {
		t.Errorf("the same once more: %+v", again)
	}
}

// What a tenant's admin writes reaches neither the server's environment nor its host, and keeps secrets out of texts.
func TestTenantsAdminsDoNotReachTheServer(t *testing.T) {
	m := newMatrix(t)
	for name, c := range map[string]struct{ text, field, want string }{
		"environment":      {"kind: provider\nname: p\ntype: fake\nsettings: {address: '${env:HOME}'}\n", "settings.address", "environment"},
		"a literal secret": {"kind: provider\nname: p\ntype: fake\nsettings:\n  secret: sesame\n", "settings.secret", "secret"},
		"half a secret":    {"kind: provider\nname: p\ntype: fake\nsettings: {secret: 'a${secret:TOKEN}'}\n", "settings.secret", "secret"},
		"the host":         {"kind: provider\nname: p\ntype: sandbox\n", "type", "own hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			r := m.apply(tenantAdmin(here), yamlOf(c.text))
			i := slices.IndexFunc(r.Problems, func(p catalog.Problem) bool { return p.Severity == "error" && p.Field == c.field })
			if r.Saved || i < 0 || !strings.Contains(r.Problems[i].Message, c.want) || r.Problems[i].Line == 0 || r.Problems[i].Name != "p" {
				t.Errorf("%+v", r)
			}
			for _, p := range r.Problems {
				if strings.Contains(p.Message+p.Hint, "sesame") {
					t.Errorf("a secret is quoted: %+v", p)
				}
			}
		})
	}
	// Tenant services on machines of the host: only if a superadmin has saved them.
	const text = `kind: service
name: mine
actions: {install: id}
---
kind: template
name: mine
extends: web
defaults: {services: [mine]}
compatibility: {services: [mine]}
`
	ask := func() error {
		_, err := m.server.Services.Cluster.Creates.Preview(t.Context(), app.Actor{Tenant: here, User: "bob", Role: app.RoleUser},
			cluster.CreateRequest{Request: layout.Request{Template: "mine", Size: 4}})
		return err
	}
	if r := m.apply(tenantAdmin(here), yamlOf(text)); !r.Saved {
		t.Fatalf("%+v", r)
	}
	if err := ask(); err == nil || app.AsError(err).Reason != "host_access" {
		t.Errorf("an own service on the host: %v", err)
	}
	super := app.Actor{Tenant: here, User: "root", Role: app.RoleSuperadmin, Via: app.ViaAPI}
	if r := m.apply(super, yamlOf(text)); !r.Saved {
		t.Fatalf("%+v", r)
	}
	if err := ask(); err != nil {
		t.Errorf("the same, saved by a superadmin: %v", err)
	}
}

// What a tenant's admin pushes as a resource is kept from machines on Muster's own hosts, also where the service that runs it is the installation's.
func TestTenantsAdminsPushNothingThatRunsOnTheHost(t *testing.T) {
	m := newMatrix(t)
	super := app.Actor{Tenant: here, User: "root", Role: app.RoleSuperadmin, Via: app.ViaAPI}
	if r := m.apply(super, yamlOf("kind: service\nname: run\nactions:\n  install:\n    automator: shell\n    resources: [file/x]\n    fields: {script: 'sh \"$MUSTER_RESOURCES/x\"'}\n---\n"+
		"kind: template\nname: run\nextends: web\ndefaults: {services: [run]}\ncompatibility: {services: [run]}\n")); !r.Saved {
		t.Fatalf("%+v", r)
	}
	push := func(actor app.Actor, content string) resource.Version {
		t.Helper()
		v, err := m.server.Services.Resource.PushResource(t.Context(), actor, resource.Push{Stage: true, ID: resource.ID{Family: resource.ForAutomator, Member: "shell", Type: "file", Name: "x"}},
			strings.NewReader(content))
		if err == nil {
			_, err = m.server.Services.Resource.SyncResources(t.Context(), actor, resource.Filter{}, false)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	ask := func() *app.Error {
		_, err := m.server.Services.Cluster.Creates.Preview(t.Context(), app.Actor{Tenant: here, User: "bob", Role: app.RoleUser}, cluster.CreateRequest{Request: layout.Request{Template: "run", Size: 3}})
		if err == nil {
			return &app.Error{}
		}
		return app.AsError(err)
	}
	push(tenantAdmin(here), "id > /owned")
	if e := ask(); e.Reason != "host_access" || !strings.Contains(e.Message, "Resource file/x") {
		t.Errorf("pushed by a tenant's admin: %+v", e)
	}
	first := push(super, "id > /owned") // the same content, looked at and pushed again
	if e := ask(); e.Code != "" || first.Number != 2 {
		t.Errorf("pushed by a superadmin as version %d: %+v", first.Number, e)
	}
	if v := push(tenantAdmin(here), "id > /owned"); v.Number != 2 || !v.Source.Trusted {
		t.Errorf("the same once more is version %d: %+v", v.Number, v)
	}
	push(tenantAdmin(here), "id > /owned2")
	if e := ask(); e.Reason != "host_access" {
		t.Errorf("another content: %+v", e)
	}
}

// An own provider that would act as the server's host is not saved; one that an older version saved is opened by no one: not when an admin looks at
// it, and not by
// what manages accounts automatically.
func TestAnOwnProviderNeverActsAsTheServer(t *testing.T) {
	var sent atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	t.Cleanup(listener.Close)
	key := filepath.Join(t.TempDir(), "adc.json")
	if err := os.WriteFile(key, []byte(`{"type":"authorized_user","client_id":"host","client_secret":"host","refresh_token":"host"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", key)
	m := newMatrix(t)
	ctx := t.Context()
	text := "kind: provider\nname: stolen\ntype: google\nsettings: {zone: europe-west3-a, project: project-one, api_url: '" + listener.URL + "/'}\n"
	r := m.apply(tenantAdmin(here), yamlOf(text))
	if r.Saved || !slices.ContainsFunc(r.Problems, func(p catalog.Problem) bool {
		return p.Severity == "error" && p.Field == "settings.api_url" && p.Line == 4 && strings.Contains(p.Message, "only the installation can set")
	}) {
		t.Errorf("%+v", r)
	}
	before := catalog.Revision{CatalogKey: template.CatalogKey{Kind: template.KindProvider, Name: "stolen"}, At: time.Now(), By: "ada", Text: text}
	if _, err := m.server.Store.SaveTenantCatalog(ctx, tenantAdmin(here), catalog.TenantCatalogSave{At: time.Now(), Entries: []catalog.Revision{before}, AsOf: -1}); err != nil {
		t.Fatal(err)
	}
	check, err := m.server.Services.Fleet.Installation.CheckProvider(ctx, tenantAdmin(here), "stolen")
	if err != nil || !slices.ContainsFunc(check.Findings, func(f family.Finding) bool {
		return !f.OK && strings.Contains(f.Message, "only the installation can set")
	}) {
		t.Errorf("%+v, %v", check, err)
	}
	specs, err := m.server.Services.Catalog.TenantProviders(ctx)
	if err != nil || len(specs) != 1 || !specs[0].Untrusted {
		t.Fatalf("%+v, %v", specs, err)
	}
	_, err = server.TenantAccounts{Set: m.server.Providers, Tenants: m.server.Store.TenantNames, Resolve: m.server.Services.Secret.SecretsOf}.Provider(ctx, *specs[0])
	if err == nil || app.AsError(err).Reason != "installation_only" {
		t.Errorf("the reconciler opens it: %v", err)
	}
	if n := sent.Load(); n > 0 {
		t.Errorf("%d requests reached the address", n)
	}
}

// What an own image has an engine fetch or run is kept from it as own services are, also where the provider is the installation's.
func TestTenantsAdminsHaveNothingBuiltOnTheHost(t *testing.T) {
	m := newMatrix(t)
	super := app.Actor{Tenant: here, User: "root", Role: app.RoleSuperadmin, Via: app.ViaAPI}
	if r := m.apply(super, yamlOf("kind: provider\nname: dock\ntype: docker\nsettings: {build: missing}\n---\nkind: provider\nname: hub\ntype: docker\nsettings: {pull: missing}\n---\n"+
		"kind: hardware\nname: box\nproviders: {dock: {flavor: unlimited}, hub: {flavor: unlimited}}\n")); !r.Saved {
		t.Fatalf("%+v", r)
	}
	for name, c := range map[string]struct {
		provider, image string
		refused         bool
	}{
		"what the engine has":         {"dock", `{image: "debian:12"}`, false},
		"what is to be built":         {"dock", `{image: built, extra: {dockerfile: "FROM debian:12"}}`, true},
		"what may have to be fetched": {"hub", `{image: "debian:12"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			text := "kind: image\nname: own\nproviders: {" + c.provider + ": " + c.image + "}\n---\nkind: template\nname: owned\nextends: web\ndefaults: {provider: " + c.provider + ", hardware: box, image: own}\n" +
				"compatibility: {hardware: [box], images: [own]}\n"
			ask := func() error {
				_, err := m.server.Services.Cluster.Creates.Preview(t.Context(), app.Actor{Tenant: here, User: "bob", Role: app.RoleUser}, cluster.CreateRequest{Request: layout.Request{Template: "owned", Size: 4}})
				return err
			}
			if r := m.apply(tenantAdmin(here), yamlOf(text)); !r.Saved {
				t.Fatalf("%+v", r)
			}
			if err := ask(); c.refused != (err != nil) || err != nil && (app.AsError(err).Reason != "host_access" || !strings.Contains(app.AsError(err).Message, "Image own")) {
				t.Errorf("saved by a tenant's admin: %v", err)
			}
			if r := m.apply(super, yamlOf(text)); !r.Saved {
				t.Fatalf("%+v", r)
			}
			if err := ask(); err != nil {
				t.Errorf("saved by a superadmin: %v", err)
			}
		})
	}
}

// Undo, prune and conflicts: all or nothing, and no one overwrites what they have not seen.
func TestChangesOfTheCatalogAreWholeAndCanBeUndone(t *testing.T) {
	m := newMatrix(t)
	a, ctx, ada := m.server.Services, t.Context(), tenantAdmin(here)
	k := template.CatalogKey{Kind: template.KindTemplate, Name: "blog"}
	first := m.apply(ada, yamlOf(blogYAML))
	if r := m.apply(ada, yamlOf(blogYAML+"---\nkind: template\nname: broken\nextends: nothing\n")); r.Saved || r.OK() {
		t.Errorf("half of it was saved: %+v", r)
	}
	m.apply(ada, yamlOf(strings.Replace(blogYAML, "label: Blog", "label: Weblog", 1)))
	late := yamlOf(strings.Replace(blogYAML, "label: Blog", "label: Late", 1))
	late.AsOf = first.Revision
	if _, err := a.Catalog.ApplyCatalog(ctx, ada, late); app.CodeOf(err) != app.EConflict || app.AsError(err).Reason != "catalog_changed" {
		t.Errorf("over someone else's change: %v", err)
	}
	if r, err := a.Catalog.RevertCatalog(ctx, ada, k, 1, ""); err != nil || !r.Saved || r.Changes[0].Number != 3 || len(r.Changes[0].Fields) != 1 ||
		r.Changes[0].Fields[0] != (catalog.FieldChange{Path: "label", Before: "Weblog", After: "Blog"}) {
		t.Errorf("%+v, %v", r, err)
	}
	versions, err := a.Catalog.TemplateVersions(ctx, ada, "blog")
	if err != nil || len(versions) != 3 || !versions[0].Current {
		t.Errorf("%d versions, %v", len(versions), err)
	}
	prune := yamlOf("kind: template\nname: other\nextends: web\n")
	prune.Prune = true
	if r := m.apply(ada, prune); !r.Saved || len(r.Changes) != 2 {
		t.Errorf("%+v", r)
	}
	if c, err := a.Catalog.Catalog(ctx, ada); err != nil || c.Templates["blog"] != nil || c.Templates["other"] == nil {
		t.Errorf("after the prune: %v", err)
	}
	if p, err := a.Cluster.Trials.TryCatalog(ctx, ada, yamlOf(blogYAML), cluster.CreateRequest{Request: layout.Request{Template: "blog", Size: 4}}); err != nil || p.Layout.Size() != 4 {
		t.Errorf("a text that is not saved: %+v, %v", p.Layout, err)
	}
	if c, err := a.Catalog.Catalog(ctx, ada); err != nil || c.Templates["blog"] != nil {
		t.Error("the try-out has saved something")
	}
}

func BenchmarkPreviewWithOwnCatalog(b *testing.B) {
	m := newMatrix(b)
	for name, own := range map[string]bool{"installation": false, "own": true} {
		tenant := there
		if own {
			tenant = here
			m.apply(tenantAdmin(here), yamlOf(blogYAML))
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.server.Services.Cluster.Creates.Preview(b.Context(), app.Actor{Tenant: tenant, User: "bob", Role: app.RoleUser},
					cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 4}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Each door through which an entry comes to the catalog says so where nothing differs, and nothing gets a new version by it: not the entry, where it
// is at most laid out otherwise, and not the template, where only comments differ.
func TestWhatIsUnchangedGetsNoNewVersion(t *testing.T) {
	t.Parallel()
	f := &foreign{matrix: newMatrix(t)}
	site := httptest.NewServer(f.server.HTTP.Handler)
	defer site.Close()
	boss := f.visitor(site.URL, here, app.RoleSuperadmin)
	send := func(method, path, kind string, body io.Reader) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, site.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		client := boss.client
		if r.Header.Set("Content-Type", kind); strings.HasPrefix(path, "/api/") {
			r.Header.Set("Authorization", "Bearer "+boss.token)
			client = http.DefaultClient
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	api := func(path string, in any) string {
		t.Helper()
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		_, answer := send(http.MethodPost, "/api/v1"+path, "application/json", bytes.NewReader(b))
		var r catalog.Report
		if err := json.Unmarshal([]byte(answer), &r); err != nil || !r.OK() {
			t.Fatalf("%s answers %s", path, answer)
		}
		if !r.Saved && r.Unchanged == 1 && len(r.Changes) == 0 {
			return "Unchanged"
		}
		return answer
	}
	// edited posts the form of an entry's page, as a browser does.
	edited := func(name string, change func(url.Values)) string {
		t.Helper()
		path := "/admin/catalog/template/" + name + "/edit"
		_, shown := send(http.MethodGet, path, "", nil)
		forms, err := demodata.Forms(path, []byte(shown))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(forms, func(x demodata.Form) bool { return x.Values.Has("text") })
		if i < 0 {
			t.Fatalf("%s has no form with the text", path)
		}
		in, answers := forms[i].Values, ""
		change(in)
		for name, values := range in {
			in.Set(name, strings.ReplaceAll(strings.ReplaceAll(values[0], "\r\n", "\n"), "\n", "\r\n"))
		}
		for _, do := range []string{"review", "save"} {
			in.Set("do", do)
			_, answer := send(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(in.Encode()))
			answers += strings.Join(cli.Readable(answer), " ")
			if do == "save" && strings.Count(answers, "Unchanged") == 1 {
				t.Errorf("%s says it once only: to %s", path, do)
			}
		}
		return answers
	}
	zipped := func(name, text string) string {
		t.Helper()
		var packed, form bytes.Buffer
		z, m := zip.NewWriter(&packed), multipart.NewWriter(&form)
		w, err := z.Create("template/" + name + ".yaml")
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			w, err = m.CreateFormFile("files", "catalog.zip")
		}
		if err == nil {
			_, err = w.Write(packed.Bytes())
		}
		if err == nil {
			err = m.WriteField("do", "apply")
		}
		if err == nil {
			err = m.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		status, answer := send(http.MethodPost, "/admin/catalog/import", m.FormDataContentType(), &form)
		return fmt.Sprint(status) + strings.Join(cli.Readable(answer), " ")
	}
	written := func(name, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cli := func(args ...string) string {
		t.Helper()
		r := runAlone(t, append(args, "--server", site.URL, "--token", boss.token)...)
		if r.code != cli.ExitDone {
			t.Fatalf("%v: %s %s", args, r.out, r.errOut)
		}
		return r.out
	}
	const (
		first   = "# How it runs\nkind: template\nname: NAME\nlabel: Blog\nextends: web\ndescription: \"A web site of our own.\"\nlease: {initial: 1h, max: 1d, step: 1h}\n"
		laidOut = "kind: template\nlease:\n  max: 1d\n  step: 1h\n\n  initial: 1h\n# How it runs\nextends:   web\ndescription: A web site of our own.\nlabel: 'Blog'\nname: NAME\n"
		remark  = "# How it runs, since 2026\nkind: template\nname: NAME\nlabel: Blog\nextends: web\ndescription: \"A web site of our own.\"\nlease: {initial: 1h, max: 1d, step: 1h}\n"
		coopr   = `{"name": "NAME", "description": "of old", "defaults": {"services": ["base"], "provider": "sandbox", "hardwaretype": "small", "imagetype": "host", "config": {}}, "compatibility": {"services": ["base"]}}`
	)
	for name, door := range map[string]struct {
		bring func(name, text string) string
		texts []string // the same, laid out otherwise, other comments; as far as there are such
	}{
		"api":    {func(_, text string) string { return api("/catalog/apply", yamlOf(text)) }, []string{first, laidOut, remark}},
		"cli":    {func(name, text string) string { return cli("catalog", "apply", "-f", written(name+".yaml", text)) }, []string{first, laidOut, remark}},
		"form":   {func(name, _ string) string { return edited(name, func(url.Values) {}) }, []string{first}},
		"editor": {func(name, text string) string { return edited(name, func(in url.Values) { in.Set("text", text) }) }, []string{first, laidOut, remark}},
		"zip":    {zipped, []string{first, laidOut, remark}},
		"restore": {func(name, _ string) string {
			return api("/catalog/template/"+name+"/revert", map[string]int{"number": 1})
		}, []string{first}},
		"settings": {func(name, text string) string {
			return cli("tenant", "import", written(name+".yaml", "muster_tenant: 1\ncatalog:\n  template/"+name+":\n    text: |\n      "+strings.ReplaceAll(text, "\n", "\n      ")+"\n"))
		}, []string{first, laidOut, remark}},
		"coopr": {func(name, text string) string {
			return api("/catalog/apply", catalog.Change{Files: []catalog.File{{Name: "clustertemplates/" + name + ".json", Text: text}}})
		}, []string{coopr, strings.NewReplacer(`{"name": "NAME", `, "{\n", `"config": {}}`, `"config":{ } }, "name" : "NAME"`).Replace(coopr)}},
	} {
		t.Run(name, func(t *testing.T) {
			name := "of-" + name
			key := template.CatalogKey{Kind: template.KindTemplate, Name: name}
			count := func() (texts, templates int) {
				t.Helper()
				history, err := f.server.Services.Catalog.CatalogHistory(t.Context(), boss.actor, key)
				if err != nil {
					t.Fatal(err)
				}
				versions, err := f.server.Services.Catalog.TemplateVersions(t.Context(), boss.actor, name)
				if err != nil {
					t.Fatal(err)
				}
				return len(history), len(versions)
			}
			file := catalog.File{Name: "a.yaml", Text: strings.ReplaceAll(door.texts[0], "NAME", name)}
			if strings.HasPrefix(file.Text, "{") {
				file.Name = "clustertemplates/" + name + ".json"
			}
			if r := f.apply(boss.actor, catalog.Change{Files: []catalog.File{file}}); !r.Saved {
				t.Fatalf("%+v", r)
			}
			for i, text := range door.texts {
				answer := door.bring(name, strings.ReplaceAll(text, "NAME", name))
				texts, templates := count()
				want := 1
				if i == 2 {
					want = 2 // comments are kept
				}
				if texts != want || templates != 1 || (strings.Contains(answer, "Unchanged") || strings.Contains(answer, "No changes")) != (i < 2) {
					t.Errorf("text %d: %d versions of the text, want %d, and %d of the template, want 1: %s", i, texts, want, templates, answer)
				}
			}
		})
	}
}
