package portal

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"muster/app"
	"muster/app/catalog"
	"muster/app/template"
	"muster/portal/site"
)

// withTemplates is a fake that also tells of templates. It has two versions of each.
type withTemplates struct {
	site.Templates
	fake *fake
}

func (f withTemplates) Template(_ context.Context, _ app.Actor, name string) (catalog.TemplateView, error) {
	t := f.fake.catalog.Templates[name]
	if t == nil {
		return catalog.TemplateView{}, app.Errorf(app.ENotFound, "Template %q doesn't exist.", name)
	}
	return catalog.TemplateView{Template: *t, Number: 2, Warnings: t.Warnings(), Parts: t.Parts()}, nil
}

func (f withTemplates) TemplateVersions(_ context.Context, _ app.Actor, name string) ([]catalog.TemplateVersion, error) {
	t := f.fake.catalog.Templates[name]
	if t == nil {
		return nil, app.Errorf(app.ENotFound, "Template %q doesn't exist.", name)
	}
	return []catalog.TemplateVersion{{CatalogVersion: template.CatalogVersion{Number: 2, At: f.fake.now()}, Template: *t, Current: true}, {CatalogVersion: template.CatalogVersion{Number: 1, At: f.fake.now()}, Template: *t}}, nil
}

func (f withTemplates) TemplateChanges(_ context.Context, _ app.Actor, name string, from, to int) (catalog.TemplateDiff, error) {
	if from > 2 || to > 2 {
		return catalog.TemplateDiff{}, app.Errorf(app.ENotFound, "Template %s has no version %d.", name, max(from, to))
	}
	return catalog.TemplateDiff{Name: name, From: 1, To: 2, Changes: []app.ValueChange{{Path: "defaults.config.web.port", Before: "80", After: "<b>81"}}}, nil
}

// parametered returns the fake's template web parameters of every type.
func parametered(f *fake) {
	t := f.catalog.Templates["web"]
	t.Parameters = []template.Parameter{
		{Name: "port", Label: "Port", Help: "Where it listens.", Type: template.ParameterInteger, Min: "1", Max: "65535", Default: 80, To: []string{"config.web.port"}},
		{Name: "title", Type: template.ParameterText, Required: true},
		{Name: "tls", Label: "Encrypted", Type: template.ParameterBoolean, Default: true},
		{Name: "mode", Type: template.ParameterChoice, Options: []template.ParameterOption{{Value: "fast"}, {Value: "safe", Label: "Safe & slow"}}, Default: "safe"},
		{Name: "cache", Type: template.ParameterSize, Max: "2G"},
		{Name: "keep", Type: template.ParameterDuration, Default: "7d"},
		{Name: "load", Type: template.ParameterNumber},
	}
	old := *f.catalog.Templates["hadoop"]
	old.State, old.ReplacedBy = template.StateDeprecated, "web"
	f.catalog.Templates["hadoop"] = &old
}

func TestParametersAreFieldsOfTheForm(t *testing.T) {
	s := signedIn(t, "ada")
	parametered(s.f)
	a := s.get("/clusters/new?template=web&size=3")
	a.reads(http.StatusOK, "Port", "Where it listens. A whole number from 1 to 65535.", "title is required", "Encrypted", "Safe & slow", "A size such as 512M or 10G of at most 2G.",
		"Template hadoop is deprecated. Use web instead.")
	in := a.fields()
	if in.Get("set-port") != "80" || in.Get("set-tls") != "true" || in.Get("set-mode") != "safe" || in.Get("set-keep") != "7d" || in.Get("plan_hash") != "" {
		t.Errorf("the form begins with %v", in)
	}
	in.Set("set-title", "Shop")
	in.Set("set-port", "0")
	in.Set("set-cache", "much")
	a = s.post("/clusters/preview", in)
	a.reads(http.StatusUnprocessableEntity, "is less than 1", `"much" isn't a size`)
	if back := a.fields(); back.Get("set-port") != "0" || back.Get("set-cache") != "much" || back.Get("set-title") != "Shop" {
		t.Errorf("what was typed is lost: %v", back)
	}
	part := s.post("/clusters/preview", in, "HX-Request", "true")
	if !strings.Contains(part.body, `id="err-set-port"`) {
		t.Error("the complaint does not come to its field")
	}
	in.Set("set-port", "8080")
	in.Set("set-cache", "")
	in.Del("set-tls")
	a = s.post("/clusters/preview", in)
	a.reads(http.StatusOK, "Cost per hour")
	s.post("/clusters", a.fields())
	if len(s.f.asked) != 1 {
		t.Fatal("nothing was asked for")
	}
	want := map[string]any{"port": "8080", "title": "Shop", "tls": "false"}
	if got := s.f.asked[0].Parameters; len(got) != len(want) || got["port"] != want["port"] || got["title"] != want["title"] || got["tls"] != want["tls"] {
		t.Errorf("asked for %v, want what differs: %v", got, want)
	}
}

func TestADeprecatedTemplateIsNotOfferedFirst(t *testing.T) {
	s := signedIn(t, "ada")
	parametered(s.f)
	if in := s.get("/clusters/new").fields(); in.Get("template") == "hadoop" {
		t.Error("the first choice is deprecated")
	}
}

func TestTemplatePages(t *testing.T) {
	s := visit(t, func(c *Config) {
		f := fakeOf(c)
		parametered(f)
		c.UseCases = useCases(f, withTemplates{f, f})
	})
	s.signIn("ada")
	s.get("/templates").reads(http.StatusOK, "Web with a load balancer", "deprecated", "Use web instead.")
	a := s.get("/templates/web")
	a.reads(http.StatusOK, "Definition", "defaults.provider", "sets config.web.port", "required", "Changes from version 1 to 2", "defaults.config.web.port 80 <b>81")
	if strings.Contains(a.body, "<b>81") {
		t.Error("a value gets into the page as it is")
	}
	s.get("/templates/web?from=1&to=7").reads(http.StatusNotFound, "has no version 7")
	s.get("/templates/none").reads(http.StatusNotFound, "doesn't exist")
}
