package portal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"mime/multipart"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"muster/app"
	appcatalog "muster/app/catalog"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/layout"
	"muster/app/template"
	catalogpage "muster/portal/catalog"
	"muster/portal/site"
)

// withCatalog is a fake whose tenant lays own entries over the installation's. Texts are understood as the server understands them.
type withCatalog struct {
	site.Catalogs
	fake    *fake
	base    string
	own     map[template.CatalogKey][]appcatalog.Revision // oldest first
	rev     int
	changed map[template.CatalogKey]int // the revision of the last change
	secrets map[string]string
	tried   []cluster.CreateRequest
}

const installation = `kind: provider
name: sandbox
type: sandbox
---
kind: hardware
name: small
providers: {sandbox: {flavor: small, cost_per_hour: 0.01}}
---
kind: image
name: host
providers: {sandbox: {image: host}}
---
kind: service
name: hello
label: Hello
description: Says good morning.
actions:
  install: |
    echo hello
---
kind: service
name: bye
runtime: {requires: [hello]}
actions: {install: "true"}
---
kind: template
name: greet
label: Greeting
description: One node that greets.
defaults: {services: [hello], provider: sandbox, hardware: small, image: host}
constraints: {size: {min: 1, max: 5}}
`

func newWithCatalog(f *fake) *withCatalog {
	w := &withCatalog{Catalogs: f, fake: f, base: installation, own: map[template.CatalogKey][]appcatalog.Revision{}, changed: map[template.CatalogKey]int{},
		secrets: map[string]string{}}
	f.catalog = w.read(nil).Catalog
	return w
}

// newCatalogSite is a portal with a catalog and a signed-in person.
func newCatalogSite(t *testing.T, user string) (*testSite, *withCatalog) {
	t.Helper()
	var f *withCatalog
	s := visit(t, func(c *Config) {
		f = newWithCatalog(fakeOf(c))
		c.UseCases, c.Texts = useCases(f.fake, f), catalog.Texts{}
	})
	s.signIn(user)
	return s, f
}

// read lays own entries and files over the installation's.
func (f *withCatalog) read(files []appcatalog.File, without ...template.CatalogKey) catalog.Report {
	own, change := fstest.MapFS{}, fstest.MapFS{}
	for k, all := range f.own {
		if last := all[len(all)-1]; !last.Deleted && !slices.Contains(without, k) {
			own[k.Kind+"/"+k.Name+".yaml"] = &fstest.MapFile{Data: []byte(last.Text)}
		}
	}
	for _, x := range files {
		change[x.Name] = &fstest.MapFile{Data: []byte(x.Text)}
	}
	sources := []catalog.Source{{FS: fstest.MapFS{"installation.yaml": {Data: []byte(f.base)}}}}
	for _, s := range []fstest.MapFS{own, change} {
		if len(s) > 0 {
			sources = append(sources, catalog.Source{FS: s})
		}
	}
	return catalog.LintFS(catalog.Options{ProviderTypes: []string{"sandbox", "cloud"}, Automators: []string{"shell"}}, sources...)
}

// entries takes texts apart.
func entries(name, text string) (out []appcatalog.Text) {
	for _, doc := range strings.Split(text, "\n---\n") {
		tree, err := catalog.Texts{}.Tree(doc)
		if err == nil && tree.At("name").String() != "" {
			out = append(out, appcatalog.Text{CatalogKey: template.CatalogKey{Kind: tree.At("kind").String(), Name: tree.At("name").String()}, File: name, Text: strings.TrimRight(doc, "\n") + "\n"})
		}
	}
	return out
}

func (f *withCatalog) item(k template.CatalogKey) (s appcatalog.Source, ok bool) {
	for _, e := range entries("installation.yaml", f.base) {
		if e.CatalogKey == k {
			s.Text, s.Origin, ok = e.Text, "installation.yaml:1", true
		}
	}
	s.Replaces = ok
	if all := f.own[k]; len(all) > 0 && !all[len(all)-1].Deleted {
		last := all[len(all)-1]
		s.Own, s.Number, s.At, s.By, s.Text, s.Origin, ok = true, last.Number, last.At, last.By, last.Text, "", true
	}
	s.Replaces = s.Replaces && s.Own
	s.CatalogKey, s.Revision = k, strconv.Itoa(f.rev)
	if tree, err := (catalog.Texts{}).Tree(s.Text); err == nil {
		s.Label, s.Description, s.Type, s.State = tree.At("label").String(), tree.At("description").String(), tree.At("type").String(), template.State(tree.At("state").String())
	}
	return s, ok
}

func (f *withCatalog) CatalogItems(_ context.Context, a app.Actor, kind, query string) (out []appcatalog.Item, err error) {
	if err := refused(a, "CatalogItems"); err != nil {
		return nil, err
	}
	keys := map[template.CatalogKey]bool{}
	for _, e := range entries("", f.base) {
		keys[e.CatalogKey] = true
	}
	for k := range f.own {
		keys[k] = true
	}
	for k := range keys {
		s, ok := f.item(k)
		if ok && (kind == "" || k.Kind == kind) && strings.Contains(strings.ToLower(s.Name+" "+s.Label+" "+s.Description), strings.ToLower(query)) {
			out = append(out, s.Item)
		}
	}
	slices.SortFunc(out, func(a, b appcatalog.Item) int { return cmp.Compare(a.Kind+a.Name, b.Kind+b.Name) })
	return out, f.fake.broken
}

func (f *withCatalog) CatalogSource(_ context.Context, a app.Actor, k template.CatalogKey) (appcatalog.Source, error) {
	if err := refused(a, "CatalogSource"); err != nil {
		return appcatalog.Source{}, err
	}
	s, ok := f.item(k)
	if !ok {
		return s, app.Errorf(app.ENotFound, "There is no %s %q.", k.Kind, k.Name)
	}
	return s, nil
}

func (f *withCatalog) CatalogHistory(_ context.Context, a app.Actor, k template.CatalogKey) ([]appcatalog.Revision, error) {
	if err := refused(a, "CatalogHistory"); err != nil {
		return nil, err
	}
	out := slices.Clone(f.own[k])
	slices.Reverse(out)
	return out, nil
}

func (f *withCatalog) CheckCatalog(_ context.Context, a app.Actor, c appcatalog.Change) (appcatalog.Report, error) {
	if err := refused(a, "CheckCatalog"); err != nil {
		return appcatalog.Report{}, err
	}
	r := appcatalog.Report{Revision: strconv.Itoa(f.rev)}
	found := f.read(c.Files, c.Remove...)
	for _, p := range found.Problems {
		r.Problems = append(r.Problems, appcatalog.Problem{File: strings.TrimPrefix(p.Origin.File, "/"), Line: p.Origin.Line, Column: p.Column, Severity: string(p.Severity), Message: p.Message, Hint: p.Hint})
		if m := named.FindStringSubmatch(p.Message); m != nil {
			r.Problems[len(r.Problems)-1].Field = m[1]
		}
	}
	held := map[template.CatalogKey]bool{}
	for _, x := range c.Files {
		for _, e := range entries(x.Name, x.Text) {
			held[e.CatalogKey] = true
			was, ok := f.item(e.CatalogKey)
			act := "add"
			if was.Own {
				act = "change"
			}
			if ok && was.Text == e.Text {
				r.Unchanged++
				continue
			}
			r.Changes = append(r.Changes, appcatalog.Edit{CatalogKey: e.CatalogKey, Act: act, Number: len(f.own[e.CatalogKey]) + 1})
		}
	}
	for _, k := range c.Remove {
		r.Changes = append(r.Changes, appcatalog.Edit{CatalogKey: k, Act: "remove", Warnings: []string{"2 clusters stand by it."}})
	}
	if c.Prune {
		for k := range f.own {
			if !held[k] {
				r.Changes = append(r.Changes, appcatalog.Edit{CatalogKey: k, Act: "remove"})
			}
		}
	}
	return r, f.fake.broken
}

func (f *withCatalog) ApplyCatalog(ctx context.Context, a app.Actor, c appcatalog.Change) (appcatalog.Report, error) {
	if err := refused(a, "ApplyCatalog"); err != nil {
		return appcatalog.Report{}, err
	}
	r, err := f.CheckCatalog(ctx, a, c)
	if err != nil || !r.OK() {
		return r, err
	}
	if len(c.Note) > 1000 {
		return r, &app.Error{Code: app.EInvalid, Field: "note", Message: "Note must be at most 1,000 characters."}
	}
	for _, x := range r.Changes {
		if asOf, _ := strconv.Atoi(c.AsOf); c.AsOf != "" && f.changed[x.CatalogKey] > asOf {
			return r, &app.Error{Code: app.EConflict, Reason: "catalog_changed", Message: fmt.Sprintf("%s %s was changed meanwhile.", x.Kind, x.Name)}
		}
	}
	f.rev++
	for _, x := range r.Changes {
		v := appcatalog.Revision{CatalogKey: x.CatalogKey, Number: len(f.own[x.CatalogKey]) + 1, At: f.fake.now(), By: a.User, Note: c.Note, Deleted: x.Act == "remove"}
		for _, file := range c.Files {
			for _, e := range entries(file.Name, file.Text) {
				if e.CatalogKey == x.CatalogKey {
					v.Text = e.Text
				}
			}
		}
		f.own[x.CatalogKey] = append(f.own[x.CatalogKey], v)
		f.changed[x.CatalogKey] = f.rev
	}
	f.fake.mu.Lock()
	f.fake.catalog = f.read(nil).Catalog
	f.fake.mu.Unlock()
	r.Saved, r.Revision = true, strconv.Itoa(f.rev)
	return r, nil
}

func (f *withCatalog) RevertCatalog(ctx context.Context, a app.Actor, k template.CatalogKey, number int, note string) (appcatalog.Report, error) {
	if err := refused(a, "RevertCatalog"); err != nil {
		return appcatalog.Report{}, err
	}
	v := f.own[k][number-1]
	if v.Deleted {
		return f.ApplyCatalog(ctx, a, appcatalog.Change{Remove: []template.CatalogKey{k}, Note: note})
	}
	return f.ApplyCatalog(ctx, a, appcatalog.Change{Files: []appcatalog.File{catalogpage.File(k, v.Text)}, Note: note})
}

func (f *withCatalog) TryCatalog(_ context.Context, a app.Actor, c appcatalog.Change, r cluster.CreateRequest) (cluster.Preview, error) {
	if err := refused(a, "TryCatalog"); err != nil {
		return cluster.Preview{}, err
	}
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	f.tried = append(f.tried, r)
	was := f.fake.catalog
	defer func() { f.fake.catalog = was }()
	f.fake.catalog = f.read(c.Files).Catalog
	return f.fake.preview(r)
}

func (f *withCatalog) ExplainCatalog(context.Context, app.Actor, appcatalog.Change, cluster.CreateRequest) (layout.Explanation, error) {
	return layout.Explanation{Conflict: []layout.Clause{{Kind: "size", Text: "A cluster has at most 5 nodes.", Origin: "template/greet.yaml:7"}}, Fixes: []layout.Fix{{Text: "5 nodes instead of 9"}}}, nil
}

func (f *withCatalog) ExportCatalog(_ context.Context, a app.Actor, all bool) (out []appcatalog.File, err error) {
	if err := refused(a, "ExportCatalog"); err != nil {
		return nil, err
	}
	for k := range maps.Keys(f.own) {
		if s, ok := f.item(k); ok {
			out = append(out, catalogpage.File(k, s.Text))
		}
	}
	if all {
		out = append(out, appcatalog.File{Name: "installation.yaml", Text: f.base})
	}
	return out, nil
}

func (f *withCatalog) CatalogFamilies(_ context.Context, a app.Actor) (appcatalog.Families, error) {
	if err := refused(a, "CatalogFamilies"); err != nil {
		return appcatalog.Families{}, err
	}
	return appcatalog.Families{
		Providers: []family.Descriptor{
			{Name: "cloud", Description: "Machines elsewhere.", Fields: []family.Field{{Name: "token", Label: "Token", Required: true, Secret: true}, {Name: "region", Label: "Region", Options: []string{"eu", "us"}}}},
			{Name: "sandbox", Description: "Machines on this host.", Fields: []family.Field{{Name: "max_machines", Label: "Most machines", Default: "64"}}},
			{Name: "typed", Description: "One field of each type.", Fields: []family.Field{
				{Name: "project", Label: "Project", Type: family.FieldText, Required: true}, {Name: "key", Label: "Private key", Type: family.FieldLines, Secret: true, Help: "In PEM form."},
				{Name: "machines", Label: "Machines", Type: family.FieldLines, Help: "One in each line."}, {Name: "disk_gb", Label: "Disk (GB)", Type: family.FieldInt, Default: "20"},
				{Name: "public", Label: "Public address", Type: family.FieldBool, Default: "true"}, {Name: "spot", Label: "Spot", Type: family.FieldBool},
				{Name: "size", Label: "Size", Type: family.FieldChoice, Default: "small", Options: []string{"small", "large"}}, {Name: "networks", Label: "Networks", Type: family.FieldList}}},
		},
		Automators: []family.Descriptor{{Name: "shell", Fields: []family.Field{{Name: "script", Label: "Script", Type: family.FieldLines, Required: true}, {Name: "args", Label: "Arguments"}}}},
		Schema:     string(form.Schema()),
	}, nil
}

func (f *withCatalog) Secrets(context.Context, app.Actor) (out []app.Secret, err error) {
	for n := range f.secrets {
		out = append(out, app.Secret{Name: n})
	}
	return out, nil
}

func (f *withCatalog) SetSecret(_ context.Context, _ app.Actor, name string, value []byte) error {
	f.secrets[name] = string(value)
	return nil
}

func (f *withCatalog) DeleteSecret(context.Context, app.Actor, string) error { return nil }

// named finds the place in a problem's words.
var named = regexp.MustCompile(`^[a-z]+ "[^"]*": ([a-z_]+[][a-z_.0-9]*)`)

func refused(a app.Actor, useCase string) error {
	if a.May(useCase) {
		return nil
	}
	return &app.Error{Code: app.EForbidden, Message: "This is for admins."}
}

// multipartBody is a form with files as a browser sends it.
func multipartBody(t *testing.T, fields url.Values, files map[string]string) (body, kind string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for name, values := range fields {
		for _, v := range values {
			if name != "files" {
				_ = w.WriteField(name, v)
			}
		}
	}
	for name, text := range files {
		to, err := w.CreateFormFile("files", name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = to.Write([]byte(text))
	}
	_ = w.Close()
	return buf.String(), w.FormDataContentType()
}
