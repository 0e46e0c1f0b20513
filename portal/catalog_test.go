package portal

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"muster/app"
	"muster/app/catalog"
	"muster/app/humanize"
	"muster/app/template"
	catalogpage "muster/portal/catalog"
)

// all returns what the page's fields hold, those of text areas among them.
func (a seen) all() url.Values {
	v := a.fields()
	for d := range a.tree().Descendants() {
		if d.Data == "textarea" && d.FirstChild != nil {
			v.Set(attr(d, "name"), strings.TrimPrefix(d.FirstChild.Data, "\n"))
		} else if d.Data == "textarea" {
			v.Set(attr(d, "name"), "")
		}
	}
	v.Del("q")
	return v
}

// says is the content of a text area.
func (a seen) says(id string) string {
	a.t.Helper()
	n := a.find(id)
	if n == nil {
		a.t.Fatalf("there is no %s", id)
	}
	if n.FirstChild == nil {
		return ""
	}
	return n.FirstChild.Data
}

func TestTheCatalogIsForAdmins(t *testing.T) {
	s, _ := newCatalogSite(t, "ada")
	for _, path := range []string{"", "/template", "/template/greet", "/template/new", "/template/greet/edit", "/template/greet/remove", "/import", "/export", "/template/greet/publish"} {
		if a := s.get("/admin/catalog" + path); a.status != http.StatusForbidden {
			t.Errorf("%s answers %d to a user", path, a.status)
		}
	}
	if a := s.post("/admin/catalog/template/greet/edit", url.Values{"text": {"kind: template\nname: greet\n"}, "do": {"save"}}); a.status != http.StatusForbidden {
		t.Errorf("a user's save answers %d", a.status)
	}
	if strings.Contains(s.get("/clusters").body, "/admin/catalog") {
		t.Error("a user is led to the catalog of admins")
	}
	s.signIn("root")
	s.get("/admin").reads(http.StatusOK, "Catalog", "Templates, services, images, hardware and providers.")
}

func TestTheCatalogIsListed(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	s.get("/admin/catalog").reads(http.StatusOK, "Templates 1", "Services 2", "Greeting", "One node that greets.", "Hello", "sandbox")
	s.get("/admin/catalog?q=morning").reads(http.StatusOK, "Hello", "Services 1", "Templates 0")
	s.get("/admin/catalog?own=true").reads(http.StatusOK, "No matching entries")
	s.get("/admin/catalog/service").reads(http.StatusOK, "New service", "bye")
	s.get("/admin/catalog/template/greet").reads(http.StatusOK, "Greeting", "shared", "Override", "Duplicate", "kind : template", "Maximum nodes", "5")
	s.get("/admin/catalog/template/none").reads(http.StatusNotFound)
	s.get("/admin/catalog/cloud").reads(http.StatusNotFound)
}

func TestAnEntryIsWrittenWithoutAScript(t *testing.T) {
	s, f := newCatalogSite(t, "root")
	a := s.get("/admin/catalog/template/new")
	a.reads(http.StatusOK, "New template", "Minimum nodes", "Available keys", "No problems found.")
	in := a.all()
	in.Set("f/name", "shop")
	in.Set("f/constraints/size/max", "9")
	in.Set("f/lease/initial", "8 hours")
	in.Set("f/defaults/services", "hello, bey")
	in.Set("do", "check")
	a = s.post("/admin/catalog/template/new", in)
	a.reads(http.StatusOK, "name: shop", "{min: 1, max: 9}", "[hello, bey]", "2 errors", "did you mean")
	if got := a.at("err-f-lease-initial"); !strings.Contains(got, "8 hours") {
		t.Errorf("the lease's complaint is %q", got)
	}
	if a.at("err-f-defaults-services") == "" {
		t.Error("the services have no complaint")
	}

	// Sizes one by one: numbers are written as numbers, and what is none is told beside the field.
	sizes := a.all()
	for name, value := range map[string]string{"f/constraints/size/min": "", "f/constraints/size/max": "", "f/constraints/size/one_of": "3, five 7", "do": "check"} {
		sizes.Set(name, value)
	}
	b := s.post("/admin/catalog/template/new", sizes)
	if got := b.at("err-f-constraints-size-one_of"); !strings.Contains(got, "five") || b.all().Get("f/constraints/size/one_of") != "3, five, 7" || strings.Contains(b.body, "sizes must be") {
		t.Errorf("beside the sizes is %q", got)
	}
	sizes = b.all()
	sizes.Set("f/constraints/size/one_of", "3, 5 7")
	sizes.Del("try_sizes")
	sizes.Set("do", "check")
	b = s.post("/admin/catalog/template/new", sizes)
	b.reads(http.StatusOK, "one_of: [3, 5, 7]")
	if got := b.at("err-f-constraints-size-one_of"); got != "" || b.all().Get("try_sizes") != "3, 5" {
		t.Errorf("beside the sizes is %q, and %q is tried", got, b.all().Get("try_sizes"))
	}
	sizes = b.all()
	sizes.Set("f/constraints/size/min", "2")
	sizes.Set("do", "check")
	b = s.post("/admin/catalog/template/new", sizes)
	if got := b.at("err-f-constraints-size-one_of"); !strings.Contains(got, "contradict min or max") {
		t.Errorf("beside sizes with a least one is %q", got)
	}

	// What is wrong is not saved, and stays.
	in = a.all()
	in.Set("do", "review")
	a = s.post("/admin/catalog/template/new", in)
	a.reads(http.StatusUnprocessableEntity, "The entry has problems and can't be saved.", "8 hours")

	in = a.all()
	in.Set("f/lease/initial", "8h")
	in.Set("f/defaults/services", "hello, bye")
	in.Set("text", "# Ours.\n"+in.Get("text")) // both are changed at once
	in.Set("do", "review")
	a = s.post("/admin/catalog/template/new", in)
	a.reads(http.StatusOK, "Save shop", "New entry", "# Ours.", "services : [ hello , bye ]", "Not used by any cluster or entry.")
	in = a.all()
	in.Set("note", "for the shop")
	in.Set("do", "save")
	if a = s.post("/admin/catalog/template/new", in); a.status != http.StatusSeeOther || a.header.Get("Location") != "/admin/catalog/template/shop?saved" {
		t.Fatalf("%d to %s: %s", a.status, a.header.Get("Location"), a.text())
	}
	s.get("/admin/catalog/template/shop?saved").reads(http.StatusOK, "Saved as version 1", "draft", "Publish", "for the shop", "tenant")
	k := template.CatalogKey{Kind: "template", Name: "shop"}
	if v := f.own[k]; len(v) != 1 || !strings.HasPrefix(v[0].Text, "# Ours.\nkind: template\nname: shop\n") {
		t.Fatalf("%+v", v)
	}

	// It is published after its changes were seen.
	a = s.get("/admin/catalog/template/shop/publish")
	a.reads(http.StatusOK, "Publish shop", "state", "draft", "published", "1 line added, 1 line removed")
	in = a.all()
	in.Set("do", "save")
	if a = s.post("/admin/catalog/template/shop/edit", in); a.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	s.get("/admin/catalog/template/shop").reads(http.StatusOK, "published", "2 versions")
	s.get("/admin/catalog/template/shop?from=1&to=2").reads(http.StatusOK, "Changes from version 1 to 2", "state : draft", "state : published")
	s.get("/admin/catalog/template/shop?from=1&to=7").reads(http.StatusNotFound)

	// What was done can be undone.
	a = s.get("/admin/catalog/template/shop/revert/1")
	a.reads(http.StatusOK, "Restore version 1 of shop", "state : draft")
	if a = s.post("/admin/catalog/template/shop/revert/1", url.Values{"note": {"too early"}}); a.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	s.get("/admin/catalog/template/shop").reads(http.StatusOK, "draft", "too early", "3 versions")
	s.get("/admin/catalog/template/shop/revert/99").reads(http.StatusNotFound)

	// And it can be removed, with those told whom that touches.
	s.get("/admin/catalog/template/shop/remove").reads(http.StatusOK, "2 clusters stand by it.", "Remove template")
	if a = s.post("/admin/catalog/template/shop/remove", url.Values{}); a.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	s.get("/admin/catalog/template/shop").reads(http.StatusOK, "removed", "4 versions")
	s.get("/admin/catalog/template/shop/edit").reads(http.StatusNotFound)
}

func TestRowsAreAddedAndRemoved(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	in := s.get("/admin/catalog/hardware/new").all()
	in.Set("do", "addnamed:f/providers")
	s.post("/admin/catalog/hardware/new", in).reads(http.StatusUnprocessableEntity, "Enter a name.")
	in.Set("new-provider", "north")
	a := s.post("/admin/catalog/hardware/new", in)
	a.reads(http.StatusOK, "Remove north", "isn't in the catalog")
	in = a.all()
	in.Set("f/providers/north/flavor", "n-1")
	in.Set("f/providers/north/cost_per_hour", "0.25")
	in.Set("do", "remove:f/providers/sandbox")
	a = s.post("/admin/catalog/hardware/new", in)
	if text := a.says("text"); !strings.Contains(text, "flavor: n-1") || !strings.Contains(text, "cost_per_hour: 0.25") || strings.Contains(text, "sandbox") {
		t.Fatal(text)
	}
	in = s.get("/admin/catalog/template/greet/edit").all()
	in.Set("do", "add:f/parameters/0/name")
	a = s.post("/admin/catalog/template/greet/edit", in)
	in = a.all()
	for k, v := range map[string]string{"name": "port", "type": "integer", "default": "80", "min": "1", "to": "config.web.port"} {
		in.Set("f/parameters/0/"+k, v)
	}
	in.Set("do", "add:f/links/0/label")
	a = s.post("/admin/catalog/template/greet/edit", in)
	text := a.says("text")
	for _, want := range []string{"name: port", "type: integer", "default: 80", "min: 1", "to: [config.web.port]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// A name that is not added yet stays beside its button, whatever else the form is sent for; once it has a row, the field is empty again.
func TestNamesToAddAreKeptUntilTheyAreAdded(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	for page, field := range map[string]string{"/admin/catalog/template/greet/edit": "new-limits", "/admin/catalog/hardware/new": "new-provider"} {
		in := s.get(page).all()
		in.Set(field, "north")
		for do, text := range map[string]string{"check": in.Get("text"), "review": "name: [", "add:f/links/0/label": in.Get("text")} {
			in.Set("do", do)
			in.Set("text", text)
			if got := s.post(page, in).all().Get(field); got != "north" {
				t.Errorf("after %q on %s, %s is %q", do, page, field, got)
			}
		}
		in = s.get(page).all()
		in.Set("do", map[string]string{"new-limits": "addnamed:f/constraints/services", "new-provider": "addnamed:f/providers"}[field])
		in.Set(field, "north")
		a := s.post(page, in)
		a.reads(http.StatusOK, "Remove north")
		if got := a.all().Get(field); got != "" {
			t.Errorf("%s still says %q", field, got)
		}
	}
}

func TestActionsOfServicesHaveTheirAutomatorsFields(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	a := s.get("/admin/catalog/service/hello/edit")
	in := a.all()
	if in.Get("f/actions/install") != "echo hello\n" {
		t.Fatalf("the script is %q", in.Get("f/actions/install"))
	}
	in.Set("f/actions/install", "set -x\r\necho \"hello\"")
	in.Set("f/actions/start", "true")
	in.Set("f/health/tcp", "8080")
	in.Set("do", "apply")
	a = s.post("/admin/catalog/service/hello/edit", in)
	text := a.says("text")
	for _, want := range []string{"  install: |\n    set -x\n    echo \"hello\"\n", "start: \"true\"", "tcp: 8080"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	in = a.all()
	in.Set("text", "kind: service\nname: hello\nactions:\n  install:\n    automator: shell\n    timeout: 5m\n    fields: {script: echo, args: a b}\nreads: [x]\n")
	in.Set("do", "read")
	in = s.post("/admin/catalog/service/hello/edit", in).all()
	if in.Get("f/actions/install/fields/args") != "a b" || in.Get("f/actions/install/timeout") != "5m" || in.Get("f/reads") != "x" {
		t.Fatalf("%v", in)
	}
}

func TestSecretsAreTypedOnce(t *testing.T) {
	s, f := newCatalogSite(t, "root")
	in := s.get("/admin/catalog/provider/new").all()
	in.Set("f/name", "north")
	in.Set("f/type", "cloud")
	in.Set("do", "check")
	a := s.post("/admin/catalog/provider/new", in)
	in = a.all()
	in.Set("f/settings/region", "eu")
	in.Set("f/settings/token", "s3cret-value")
	in.Set("do", "check")
	a = s.post("/admin/catalog/provider/new", in)
	a.reads(http.StatusOK, "Type the secret again when you save.")
	if strings.Contains(a.body, "s3cret-value") || len(f.secrets) != 0 {
		t.Fatal("a check keeps or shows the secret")
	}
	f.secrets["PROVIDER_NORTH_TOKEN"] = "another's"
	in = a.all()
	in.Set("f/settings/token", "s3cret-value")
	in.Set("do", "review")
	a = s.post("/admin/catalog/provider/new", in)
	a.reads(http.StatusOK, "PROVIDER_NORTH_TOKEN_2", "${secret:PROVIDER_NORTH_TOKEN_2}", "region : eu")
	if strings.Contains(a.body, "s3cret-value") || f.secrets["PROVIDER_NORTH_TOKEN_2"] != "s3cret-value" || f.secrets["PROVIDER_NORTH_TOKEN"] != "another's" {
		t.Fatalf("%v", f.secrets)
	}
	in = a.all()
	in.Set("do", "save")
	s.post("/admin/catalog/provider/new", in)
	a = s.get("/admin/catalog/provider/north/edit")
	a.reads(http.StatusOK, "Stored as ${secret:PROVIDER_NORTH_TOKEN_2}")
	in = a.all()
	in.Set("f/settings/token", "another")
	in.Set("do", "review")
	s.post("/admin/catalog/provider/north/edit", in)
	if f.secrets["PROVIDER_NORTH_TOKEN_2"] != "another" {
		t.Fatalf("%v", f.secrets)
	}
}

// Each setting is shown and written by its type.
func TestSettingsByType(t *testing.T) {
	s, f := newCatalogSite(t, "root")
	in := s.get("/admin/catalog/provider/new").all()
	in.Set("f/name", "north")
	in.Set("f/type", "typed")
	in.Set("do", "check")
	a := s.post("/admin/catalog/provider/new", in)
	in = a.all()
	if strings.Contains(in.Get("text"), "settings:\n") {
		t.Errorf("untyped text is in the YAML: %s", in.Get("text"))
	}
	for _, want := range []string{`name="f/settings/disk_gb" value="" type="number"`, `<textarea id="f-settings-machines"`, `<textarea id="f-settings-key"`, `<select id="f-settings-size"`,
		`<input type="checkbox" id="f-settings-public" name="f/settings/public" value="true" checked`, `<input type="checkbox" id="f-settings-spot" name="f/settings/spot" value="true" aria`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("there is no %s", want)
		}
	}
	set := func(changes url.Values) string {
		for name, values := range changes {
			in[name] = values
		}
		in.Set("do", "check")
		a = s.post("/admin/catalog/provider/new", in)
		in = a.all()
		return in.Get("text")
	}
	text := set(url.Values{"f/settings/project": {"0123"}, "f/settings/machines": {"a 10.0.0.1\nb 10.0.0.2"}, "f/settings/disk_gb": {"40"}, "f/settings/public": {"false"}, "f/settings/spot": {"true", "false"},
		"f/settings/size": {"large"}, "f/settings/networks": {"lan, wan"}})
	for _, want := range []string{"project: \"0123\"", "machines: |", "disk_gb: 40", "public: false", "spot: true", "size: large", "networks: lan, wan"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the text:\n%s", want, text)
		}
	}
	if text = set(url.Values{"f/settings/public": {"true", "false"}}); !strings.Contains(text, "public: true") {
		t.Errorf("switched on again: %s", text)
	}
	key := "-----BEGIN KEY-----\nx\n-----END KEY-----\n"
	in.Set("f/settings/key", key)
	in.Set("do", "review")
	if a = s.post("/admin/catalog/provider/new", in); f.secrets["PROVIDER_NORTH_KEY"] != key || strings.Contains(a.body, "BEGIN KEY") {
		t.Errorf("the key is kept as %q", f.secrets["PROVIDER_NORTH_KEY"])
	}
}

func TestNothingTypedIsLost(t *testing.T) {
	s, f := newCatalogSite(t, "root")
	a := s.get("/admin/catalog/template/greet/edit")
	in := a.all()

	// A text that cannot be read, and a field that was changed beside it.
	in.Set("text", "kind: template\nname: greet\n  bad: [")
	in.Set("f/constraints/size/max", "7")
	in.Set("do", "check")
	b := s.post("/admin/catalog/template/greet/edit", in)
	b.reads(http.StatusUnprocessableEntity, "changes in the form aren't applied yet", "error")
	if got := b.all(); got.Get("f/constraints/size/max") != "7" || !strings.Contains(got.Get("text"), "bad: [") {
		t.Fatalf("%v", got)
	}
	// Once the YAML is fixed, the field is applied.
	in = b.all()
	in.Set("text", installation[strings.Index(installation, "kind: template"):])
	in.Set("do", "check")
	b = s.post("/admin/catalog/template/greet/edit", in)
	if text := b.says("text"); !strings.Contains(text, "max: 7") {
		t.Fatal(text)
	}

	// Both say something about the same thing.
	in = a.all()
	in.Set("text", strings.Replace(in.Get("text"), "max: 5", "max: 6", 1))
	in.Set("f/constraints/size/max", "8")
	in.Set("do", "check")
	b = s.post("/admin/catalog/template/greet/edit", in)
	b.reads(http.StatusUnprocessableEntity, "Form and YAML conflict", `"8" in the form and "6" in the YAML`)
	if got := b.all(); got.Get("f/constraints/size/max") != "8" || !strings.Contains(got.Get("text"), "max: 6") {
		t.Fatalf("%v", got)
	}
	in = b.all()
	in.Set("do", "read")
	if got := s.post("/admin/catalog/template/greet/edit", in).all(); got.Get("f/constraints/size/max") != "6" {
		t.Fatalf("%v", got)
	}

	// Someone else saves meanwhile.
	in = a.all()
	in.Set("f/label", "Mine")
	in.Set("do", "review")
	review := s.post("/admin/catalog/template/greet/edit", in)
	if _, err := f.ApplyCatalog(t.Context(), app.Actor{Tenant: "default", User: "eve", Role: app.RoleAdmin},
		catalog.Change{Files: []catalog.File{{Name: "x.yaml", Text: strings.Replace(in.Get("text"), "Greeting", "Theirs", 1)}}}); err != nil {
		t.Fatal(err)
	}
	in = review.all()
	in.Set("do", "save")
	in.Set("note", "a long note")
	b = s.post("/admin/catalog/template/greet/edit", in)
	b.reads(http.StatusConflict, "greet was changed by someone else", "label : Theirs", "label : Mine", "version 1 by eve", "Overwrite with my version", "a long note")
	in = b.all()
	in.Set("do", "save")
	if b = s.post("/admin/catalog/template/greet/edit", in); b.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", b.status, b.text())
	}
	// A new one of a name that there is.
	in = s.get("/admin/catalog/template/new?copy=greet").all()
	in.Set("f/name", "greet")
	in.Set("do", "review")
	in = s.post("/admin/catalog/template/new", in).all()
	in.Set("do", "save")
	s.post("/admin/catalog/template/new", in).reads(http.StatusConflict, "Template greet already exists.")
	// An entry keeps its name.
	in = s.get("/admin/catalog/template/greet/edit").all()
	in.Set("text", strings.Replace(in.Get("text"), "name: greet", "name: other", 1))
	in.Set("do", "review")
	s.post("/admin/catalog/template/greet/edit", in).reads(http.StatusUnprocessableEntity, "The name of this entry is greet", "duplicate the entry")
	// A note that is too long.
	in = s.get("/admin/catalog/template/greet/edit").all()
	in.Set("text", strings.Replace(in.Get("text"), "label: Mine", "label: Ours", 1))
	in.Set("do", "save")
	in.Set("note", strings.Repeat("x", 1001))
	b = s.post("/admin/catalog/template/greet/edit", in)
	b.reads(http.StatusUnprocessableEntity, "at most 1,000", "label : Ours")
}

func TestSizesAreTriedBeforeAnythingIsSaved(t *testing.T) {
	s, f := newCatalogSite(t, "root")
	in := s.get("/admin/catalog/template/greet/edit").all()
	if in.Get("try_sizes") != "1, 5" {
		t.Errorf("trying begins with %q", in.Get("try_sizes"))
	}
	in.Set("f/constraints/size/max", "8")
	in.Set("try_sizes", "2, 8, 9")
	in.Set("do", "try")
	a := s.post("/admin/catalog/template/greet/edit", in)
	a.reads(http.StatusOK, "2 nodes", "8 nodes", "Layout 8 machines", "you entered 9", "A cluster has at most 5 nodes.", "5 nodes instead of 9")
	if len(f.tried) != 3 || len(f.own) != 0 {
		t.Fatalf("%+v, %v", f.tried, f.own)
	}
	for _, wrong := range []string{"many", "0", "", "1,2,3,4,5,6,7"} {
		in.Set("try_sizes", wrong)
		a = s.post("/admin/catalog/template/greet/edit", in)
		if a.at("err-try_sizes") == "" {
			t.Errorf("%q is tried", wrong)
		}
	}
	in = s.get("/admin/catalog/hardware/small/edit").all()
	in.Set("do", "try")
	s.post("/admin/catalog/hardware/small/edit", in).reads(http.StatusOK, "Layout 1 machine")
}

func TestAnEditorKeepsItselfInStep(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	in := s.get("/admin/catalog/template/greet/edit").all()
	in.Set("from", "text")
	in.Set("line", "6")
	in.Set("text", strings.Replace(in.Get("text"), "max: 5", "max: 3", 1))
	a := s.post("/admin/catalog/template/greet/edit", in, "HX-Request", "true")
	if n := a.find("fields"); n == nil || attr(n, "hx-swap-oob") != "true" || a.find("text") != nil || a.find("editor") != nil {
		t.Fatalf("the parts are not those: %s", a.body[:min(len(a.body), 600)])
	}
	if a.fields().Get("f/constraints/size/max") != "3" {
		t.Error("the field is not in step")
	}
	a.reads(http.StatusOK, "Available keys in constraints.size", "Maximum nodes. Default: no limit")
	in.Set("from", "fields")
	in.Set("f/constraints/size/max", "x3")
	in.Set("base", in.Get("text"))
	a = s.post("/admin/catalog/template/greet/edit", in, "HX-Request", "true")
	if !strings.Contains(a.says("text"), "max: x3") || a.find("fields") != nil || !strings.Contains(a.at("err-f-constraints-size-max"), "whole number") {
		t.Fatal(a.body)
	}
}

// upload posts files as a browser does.
func (s *testSite) upload(path string, fields url.Values, files map[string]string) seen {
	s.t.Helper()
	body, kind := multipartBody(s.t, fields, files)
	return s.do(s.request("POST", path, body, "Content-Type", kind))
}

func TestFilesAreImportedAndExported(t *testing.T) {
	s, f := newCatalogSite(t, "root")
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	for name, text := range map[string]string{"a/one.yaml": "kind: image\nname: one\nproviders: {sandbox: {image: one}}\n", "readme.md": "no", "../b.yml": "kind: image\nname: two\nproviders: {sandbox: {image: two}}\n"} {
		to, _ := w.Create(name)
		_, _ = to.Write([]byte(text))
	}
	_ = w.Close()
	a := s.upload("/admin/catalog/import", url.Values{"do": {"check"}, "note": {"from the old house"}}, map[string]string{"all.zip": z.String(), "three.yaml": "kind: image\nname: three\nproviders: {nowhere: {image: 3}}\n"})
	a.reads(http.StatusUnprocessableEntity, "three.yaml:3", "isn't in the catalog", "3 files uploaded (1 skipped)", "a/one.yaml", "b.yml")
	if a.find("apply") != nil || len(f.own) != 0 {
		t.Fatal("what is wrong could be imported")
	}
	// Only the fixed file must be uploaded again.
	in := a.all()
	in.Set("do", "check")
	a = s.upload("/admin/catalog/import", in, map[string]string{"three.yaml": "kind: image\nname: three\nproviders: {sandbox: {image: three}}\n"})
	a.reads(http.StatusOK, "3 entries added", "Import 3 entries")
	in = url.Values{}
	for d := range a.find("apply").Descendants() {
		if d.Type == html.ElementNode && (d.Data == "input" || d.Data == "textarea") {
			v := attr(d, "value")
			if d.Data == "textarea" && d.FirstChild != nil {
				v = strings.TrimPrefix(d.FirstChild.Data, "\n")
			}
			in.Set(attr(d, "name"), v)
		}
	}
	if in.Get("note") != "from the old house" {
		t.Errorf("the note is lost: %v", in)
	}
	in.Set("do", "apply")
	s.upload("/admin/catalog/import", in, nil).reads(http.StatusOK, "Import complete", "3 entries saved")
	if len(f.own) != 3 {
		t.Fatalf("%v", f.own)
	}
	s.upload("/admin/catalog/import", url.Values{"pasted": {f.own[template.CatalogKey{Kind: "image", Name: "one"}][0].Text}, "prune": {"true"}, "do": {"check"}}, nil).
		reads(http.StatusOK, "2 entries removed", "1 entry is unchanged", "Import 2 entries")

	a = s.get("/admin/catalog/export")
	r, err := zip.NewReader(strings.NewReader(a.body), int64(len(a.body)))
	if err != nil || len(r.File) != 3 || a.header.Get("Content-Type") != "application/zip" {
		t.Fatalf("%v, %v", r, err)
	}
	for name, c := range map[string]struct {
		files map[string]string
		in    url.Values
		says  string
	}{
		"nothing":          {nil, url.Values{}, "Nothing to import"},
		"a picture":        {map[string]string{"a.png": "x"}, url.Values{}, "isn't a catalog file"},
		"a broken archive": {map[string]string{"a.zip": "PK"}, url.Values{}, "can't be read"},
		"a broken tar":     {map[string]string{"a.tar.gz": "no"}, url.Values{}, "can't be read"},
		"a large file":     {map[string]string{"a.yaml": strings.Repeat("#", catalogpage.MaxImportFile+1)}, url.Values{}, "is too large"},
		"a broken stash":   {nil, url.Values{"packed": {"%%%"}}, "no longer available"},
	} {
		a := s.upload("/admin/catalog/import", c.in, c.files)
		if a.status < 400 || a.status >= 500 || !strings.Contains(a.text(), c.says) {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
	}
	var bomb bytes.Buffer
	w = zip.NewWriter(&bomb)
	for i := range 20 {
		to, _ := w.Create(strings.Repeat("x", i+1) + ".yaml")
		_, _ = to.Write(bytes.Repeat([]byte("#"), catalogpage.MaxImportFile))
	}
	_ = w.Close()
	s.upload("/admin/catalog/import", url.Values{}, map[string]string{"bomb.zip": bomb.String()}).reads(http.StatusRequestEntityTooLarge, humanize.Bytes(catalogpage.MaxImport)+" in total")
}
