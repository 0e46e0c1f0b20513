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
	"muster/app/humanize"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

// review previews the change. Problems keep the editor open.
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
			in.Del(name) // stored now
		}
	}
	report, err := e.check(r.Context())
	if err != nil {
		return err
	}
	switch {
	case !report.OK() || e.view.Complaint.Message != "":
		e.refuse(page.Complaint{Message: "The entry has problems and can't be saved.", Hint: "Fix the problems listed below the YAML."})
		return e.show(w, r, in)
	case len(report.Changes) == 0, !e.view.New() && e.view.Text == saved:
		return e.unchanged(w, r, in)
	}
	v := e.reviewOf(report, saved)
	v.Secrets = stored
	e.p.showReview(w, r, http.StatusOK, v)
	return nil
}

// unchanged shows that there is nothing to save.
func (e *catalogEditor) unchanged(w http.ResponseWriter, r *http.Request, in url.Values) error {
	e.view.Complaint = page.Complaint{Message: "No changes to save."}
	return e.show(w, r, in)
}

func (e *catalogEditor) reviewOf(report catalog.Report, saved string) Review {
	k := e.key()
	v := Review{Key: k, Title: "Save " + k.Name, Text: e.view.Text, Save: "Save " + k.Kind, Action: e.view.Path(), Do: "save", Back: Path(k),
		AsOf: e.view.AsOf, Report: report, Editable: true, New: e.view.New(), Diff: e.p.catalogDiff(saved, e.view.Text)}
	if v.New {
		v.Back = "/admin/catalog/" + k.Kind
		v.Diff.Fields = nil // all of it is new
	}
	return v
}

// nameFits checks that the YAML has the entry's name and kind.
func (e *catalogEditor) nameFits() bool {
	k := e.key()
	if !e.view.New() && k.Name != e.view.Name && e.view.Form.Unread == "" {
		e.refuse(page.Complaint{Message: "The name of this entry is " + e.view.Name + ", but the YAML says " + k.Name + ".", Hint: "To use another name, duplicate the entry."})
		return false
	}
	if kind := e.tree.At("kind").String(); kind != e.view.Kind && e.view.Form.Unread == "" {
		e.refuse(page.Complaint{Message: "The kind of this entry is " + e.view.Kind + ", but the YAML says " + kind + ".", Hint: "Set kind: " + e.view.Kind + " in the YAML."})
		return false
	}
	return true
}

// save saves the reviewed change. If someone else saved meanwhile, it shows both versions.
func (e *catalogEditor) save(w http.ResponseWriter, r *http.Request, in url.Values, saved string) error {
	if !e.nameFits() {
		return e.show(w, r, in)
	}
	c := e.change()
	c.Note, c.AsOf = catalogNote(in), e.view.AsOf
	k := e.key()
	if e.view.New() && in.Get("over") == "" {
		if s, err := e.p.Catalogs.CatalogSource(r.Context(), e.a, k); err == nil && s.Own {
			return e.conflict(w, r, in, s, humanize.Upper(k.Kind)+" "+k.Name+" already exists.")
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
		reported, err := catalogRefused(err)
		if err != nil {
			return err
		}
		v := e.reviewOf(report, saved)
		v.Note, v.Problem = c.Note, reported
		e.p.showReview(w, r, site.StatusOf(x), v)
		return nil
	}
	e.refuse(page.Complaint{Message: "The entry wasn't saved.", Hint: "Fix the problems listed below the YAML."})
	return e.show(w, r, in)
}

// conflict shows the saved version and the edited one.
func (e *catalogEditor) conflict(w http.ResponseWriter, r *http.Request, in url.Values, theirs catalog.Source, why string) error {
	e.view.AsOf = "" // continue from the saved version
	report, err := e.check(r.Context())
	if err != nil {
		return err
	}
	v := e.reviewOf(report, theirs.Text)
	v.Title, v.Save, v.Conflict, v.Theirs, v.Note = e.key().Name+" was changed by someone else", "Overwrite with my version", true, theirs, catalogNote(in)
	v.Problem = page.Complaint{Message: why, Hint: "Your version isn't lost: compare it with the saved one below."}
	e.p.showReview(w, r, http.StatusConflict, v)
	return nil
}

// Publish previews publishing a draft; saving it publishes it.
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
	e.view.Item = s.Item
	text, err := p.Texts.Set(s.Text, catalog.Set{Path: []any{"state"}, Value: string(template.StatePublished)})
	if err != nil {
		return err
	}
	e.read(text)
	report, err := e.check(r.Context())
	if err != nil {
		return err
	}
	if !report.OK() {
		e.refuse(page.Complaint{Message: "The entry has problems and can't be published.", Hint: "Fix the problems listed below the YAML."})
		return e.show(w, r, url.Values{})
	}
	if len(report.Changes) == 0 {
		return e.unchanged(w, r, url.Values{})
	}
	v := e.reviewOf(report, s.Text)
	v.Title, v.Save = "Publish "+k.Name, "Publish "+k.Kind
	p.showReview(w, r, http.StatusOK, v)
	return nil
}

var notInSecretNames = regexp.MustCompile(`[^A-Z0-9]+`)

// secrets stores the values of secret fields, and writes references to them into the YAML. It returns the secrets' names.
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
			var reported page.Complaint
			if reported, err = catalogRefused(err); err == nil {
				e.refuse(reported)
			}
			return
		}
		text, wrong := e.p.Texts.Set(e.view.Text, catalog.Set{Path: x.Path, Value: "${secret:" + name + "}"})
		if wrong != nil {
			err = wrong
			return
		}
		stored = append(stored, name)
		e.read(text)
	})
	return stored, err
}

// secretFor names a field's secret: the one that the YAML refers to, or a new, unused name.
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

// skeleton is the initial YAML of a new entry.
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
		return "kind: service\nname: my-service\nlabel: My service\nactions:\n  install: |\n    # Scripts run with sh -eu and must be safe to run twice.\n    mkdir -p \"$MUSTER_STATE\"\n" +
			"  start: |\n    echo \"$MUSTER_SERVICE is running on $MUSTER_HOSTNAME\"\n"
	case template.KindImage:
		return "kind: image\nname: my-image\nproviders:\n  " + first(template.KindProvider) + ":\n    image: IMAGE\n    ssh_user: root\n"
	case template.KindHardware:
		return "kind: hardware\nname: my-hardware\nproviders:\n  " + first(template.KindProvider) + ":\n    flavor: FLAVOR\n"
	}
	return "kind: provider\nname: my-provider\ntype: \nsettings: {}\n"
}
