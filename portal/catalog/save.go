package catalog

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

// review shows what would be saved. What is wrong keeps the editor open.
func (e *catalogEditor) review(w http.ResponseWriter, r *http.Request, in url.Values, saved string) error {
	if !e.nameFits() {
		return e.show(w, r, in)
	}
	stored, err := e.secrets(r.Context(), in)
	if err != nil {
		return err
	}
	for name := range in {
		if strings.HasPrefix(name, "f/settings/") && len(stored) > 0 {
			in.Del(name) // they are kept now
		}
	}
	report, err := e.check(r.Context())
	if err != nil {
		return err
	}
	switch {
	case !report.OK() || e.view.Told.Message != "":
		e.refuse(page.Complaint{Message: "It cannot be saved as it is.", Hint: "What is wrong stands beside the text."})
		return e.show(w, r, in)
	case len(report.Changes) == 0, !e.view.New() && e.view.Text == saved:
		return e.unchanged(w, r, in)
	}
	v := e.reviewOf(report, saved)
	v.Secrets = stored
	e.p.showReview(w, r, http.StatusOK, v)
	return nil
}

// unchanged says that there is nothing to save.
func (e *catalogEditor) unchanged(w http.ResponseWriter, r *http.Request, in url.Values) error {
	e.view.Told = page.Complaint{Message: "Unchanged: " + e.key().Name + " is saved like this already."}
	return e.show(w, r, in)
}

func (e *catalogEditor) reviewOf(report catalog.CatalogReport, saved string) Review {
	k := e.key()
	v := Review{Key: k, Title: "Save " + k.Name, Text: e.view.Text, Save: "Save", Action: e.view.Path(), Do: "save", Back: Path(k),
		AsOf: e.view.AsOf, Report: report, Editable: true, New: e.view.New(), Diff: e.p.catalogDiff(saved, e.view.Text)}
	if v.New {
		v.Back = "/admin/catalog/" + k.Kind
		v.Diff.Fields = nil // all of it is new
	}
	return v
}

// nameFits tells whether the text may be saved under the name that it says.
func (e *catalogEditor) nameFits() bool {
	k := e.key()
	if !e.view.New() && k.Name != e.view.Name && e.view.Form.Unread == "" {
		e.refuse(page.Complaint{Message: "This entry is called " + e.view.Name + ", and the text says " + k.Name + ".", Hint: "To have one of another name, copy it as new."})
		return false
	}
	if kind := e.tree.At("kind").String(); kind != e.view.Kind && e.view.Form.Unread == "" {
		e.refuse(page.Complaint{Message: "This page is for the kind " + e.view.Kind + ", and the text says " + kind + ".", Hint: "Put kind: " + e.view.Kind + " into the text."})
		return false
	}
	return true
}

// save saves what was reviewed. Where someone else has saved meanwhile, both texts are shown.
func (e *catalogEditor) save(w http.ResponseWriter, r *http.Request, in url.Values, saved string) error {
	if !e.nameFits() {
		return e.show(w, r, in)
	}
	c := e.change()
	c.Note, c.AsOf = catalogNote(in), e.view.AsOf
	k := e.key()
	if e.view.New() && in.Get("over") == "" {
		if s, err := e.p.Catalogs.CatalogSource(r.Context(), e.a, k); err == nil && s.Own {
			return e.conflict(w, r, in, s, "There is a "+k.Kind+" "+k.Name+" already.")
		}
	}
	report, err := e.p.Catalogs.ApplyCatalog(r.Context(), e.a, c)
	switch x := app.AsError(err); {
	case err == nil && report.Saved:
		http.Redirect(w, r, savedPath(k), http.StatusSeeOther)
		return nil
	case err == nil && report.OK():
		return e.unchanged(w, r, in)
	case err != nil && x.Code == app.EConflict && x.Reason == "catalog_changed":
		theirs, gone := e.p.Catalogs.CatalogSource(r.Context(), e.a, k)
		if gone != nil && app.CodeOf(gone) != app.ENotFound {
			return gone
		}
		return e.conflict(w, r, in, theirs, x.Message)
	case err != nil:
		told, err := catalogRefused(err)
		if err != nil {
			return err
		}
		v := e.reviewOf(report, saved)
		v.Note, v.Problem = c.Note, told
		e.p.showReview(w, r, site.StatusOf(x), v)
		return nil
	}
	e.refuse(page.Complaint{Message: "It was not saved.", Hint: "What is wrong stands beside the text."})
	return e.show(w, r, in)
}

// conflict shows what is saved by now and what was written here.
func (e *catalogEditor) conflict(w http.ResponseWriter, r *http.Request, in url.Values, theirs catalog.CatalogSource, why string) error {
	e.view.AsOf = "" // from now on it is what is there now
	report, err := e.check(r.Context())
	if err != nil {
		return err
	}
	v := e.reviewOf(report, theirs.Text)
	v.Title, v.Save, v.Conflict, v.Theirs, v.Note = "Somebody has saved "+e.key().Name+" meanwhile", "Save mine over it", true, theirs, catalogNote(in)
	v.Problem = page.Complaint{Message: why, Hint: "Nothing of yours is lost: it stands below, beside what is saved now."}
	e.p.showReview(w, r, http.StatusConflict, v)
	return nil
}

// Publish shows what publishing a draft changes; saving that is what publishes it.
func (p *Service) Publish(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	k := catalogKey(r)
	e, err := p.openEditor(r.Context(), a, k)
	if err != nil {
		return err
	}
	s, err := p.Catalogs.CatalogSource(r.Context(), a, k)
	if err != nil {
		return err
	}
	e.view.Item = s.CatalogItem
	text, err := p.Texts.Set(s.Text, catalog.CatalogSet{Path: []any{"state"}, Value: string(template.TemplatePublished)})
	if err != nil {
		return err
	}
	e.read(text)
	report, err := e.check(r.Context())
	if err != nil {
		return err
	}
	if !report.OK() {
		e.refuse(page.Complaint{Message: "It cannot be published as it is.", Hint: "What is wrong stands beside the text."})
		return e.show(w, r, url.Values{})
	}
	if len(report.Changes) == 0 {
		return e.unchanged(w, r, url.Values{})
	}
	v := e.reviewOf(report, s.Text)
	v.Title, v.Save = "Publish "+k.Name, "Publish"
	p.showReview(w, r, http.StatusOK, v)
	return nil
}

var notInSecretNames = regexp.MustCompile(`[^A-Z0-9]+`)

// secrets stores what was typed into fields for secrets, and writes references to it into the text. It returns their names.
func (e *catalogEditor) secrets(ctx context.Context, in url.Values) (stored []string, err error) {
	keep := e.p.Secrets
	f := e.formOf(e.tree)
	var known []app.Secret
	eachField(&f, func(_ *Section, x *Field) {
		value := typed(in, x.Name)
		if err != nil || !x.Secret() || value == "" {
			return
		}
		if known == nil {
			if known, err = keep.Secrets(ctx, e.a); err != nil {
				return
			}
		}
		name := secretFor(e.key().Name, fmt.Sprint(x.Path[len(x.Path)-1]), x.Value, known)
		if err = keep.SetSecret(ctx, e.a, name, []byte(value)); err != nil {
			var told page.Complaint
			if told, err = catalogRefused(err); err == nil {
				e.refuse(told)
			}
			return
		}
		text, wrong := e.p.Texts.Set(e.view.Text, catalog.CatalogSet{Path: x.Path, Value: "${secret:" + name + "}"})
		if wrong != nil {
			err = wrong
			return
		}
		stored = append(stored, name)
		e.read(text)
	})
	return stored, err
}

// secretFor names the secret of a field: the one that the text refers to, or a new one of which there is none yet.
func secretFor(provider, field, reference string, known []app.Secret) string {
	if name, ok := strings.CutPrefix(reference, "${secret:"); ok && strings.HasSuffix(name, "}") {
		return strings.TrimSuffix(name, "}")
	}
	base := strings.Trim(notInSecretNames.ReplaceAllString(strings.ToUpper("PROVIDER_"+provider+"_"+field), "_"), "_")
	base = base[:min(len(base), 56)]
	name := base
	for i := 2; slices.ContainsFunc(known, func(s app.Secret) bool { return s.Name == name }); i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	return name
}

// skeleton is what a new entry begins with.
func skeleton(kind string, names catalogNames) string {
	first := func(kind string) string {
		if len(names[kind]) > 0 {
			return names[kind][0]
		}
		return "NAME"
	}
	switch kind {
	case template.KindTemplate:
		return "kind: template\nname: my-template\nlabel: My template\nstate: draft\ndefaults:\n  services: [" + first(template.KindService) + "]\n  provider: " + first(template.KindProvider) +
			"\n  hardware: " + first(template.KindHardware) + "\n  image: " + first(template.KindImage) + "\n  config: {}\nconstraints:\n  size: {min: 1, max: 5}\nlease: {initial: 8h, max: 3d}\n"
	case template.KindService:
		return "kind: service\nname: my-service\nlabel: My service\nactions:\n  install: |\n    # Each script is run with sh -eu. Running it twice must do no harm.\n    mkdir -p \"$MUSTER_STATE\"\n" +
			"  start: |\n    echo \"$MUSTER_SERVICE runs on $MUSTER_HOSTNAME\"\n"
	case template.KindImage:
		return "kind: image\nname: my-image\nproviders:\n  " + first(template.KindProvider) + ":\n    image: IMAGE\n    ssh_user: root\n"
	case template.KindHardware:
		return "kind: hardware\nname: my-hardware\nproviders:\n  " + first(template.KindProvider) + ":\n    flavor: FLAVOR\n"
	}
	return "kind: provider\nname: my-provider\ntype: \nsettings: {}\n"
}
