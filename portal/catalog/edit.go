package catalog

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	appcatalog "muster/app/catalog"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

// catalogEditor is an entry being edited: its YAML and form.
type catalogEditor struct {
	p        *Service
	a        app.Actor
	families appcatalog.Families
	schema   map[string]any
	catalog  *template.Catalog
	names    catalogNames
	tree     *appcatalog.Node // of the YAML; of the last valid one if it's invalid
	text     string
	view     Edit
	status   int
	others   bool   // a choice changed the set of fields
	added    string // the name field whose row was added
	moved    []any  // lists whose rows the YAML has changed since the form was made
}

// openEditor makes an editor for an entry; without a name, for a new one.
func (p *Service) openEditor(ctx context.Context, a app.Actor, k template.CatalogKey) (*catalogEditor, error) {
	if !a.May("ApplyCatalog") {
		return nil, &app.Error{Code: app.EForbidden, Message: "Only admins can edit the catalog.", Hint: "Ask an admin of your tenant."}
	}
	e := &catalogEditor{p: p, a: a, status: http.StatusOK, view: Edit{Kind: k.Kind, Name: k.Name}}
	var err error
	if e.families, err = p.Catalogs.CatalogFamilies(ctx, a); err != nil {
		return nil, err
	}
	if e.catalog, err = p.Catalogs.Catalog(ctx, a); err != nil {
		return nil, err
	}
	e.schema = p.schema.of(e.families.Schema, k.Kind)
	e.names = catalogNames{template.KindTemplate: site.Names(e.catalog.Written), template.KindService: site.Names(e.catalog.Services), template.KindHardware: site.Names(e.catalog.Hardware),
		template.KindImage: site.Names(e.catalog.Images), template.KindProvider: site.Names(e.catalog.Providers)}
	if len(e.catalog.Written) == 0 {
		e.names[template.KindTemplate] = site.Names(e.catalog.Templates)
	}
	for _, kind := range template.CatalogKinds {
		e.view.Lists = append(e.view.Lists, Names{ID: "names-" + kind, Names: e.names[kind][:min(len(e.names[kind]), 1000)]})
	}
	return e, nil
}

// Write shows the editor and handles its form.
func (p *Service) Write(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	k := catalogKey(r)
	if k.Name == "" && r.URL.Query().Has("entry") {
		return p.Show(w, r, a)
	}
	e, err := p.openEditor(r.Context(), a, k)
	if err != nil {
		return err
	}
	if k.Name != "" {
		s, err := p.Catalogs.CatalogSource(r.Context(), a, k)
		if err != nil {
			return err
		}
		e.view.Item, e.text, e.view.AsOf = s.Item, s.Text, s.Revision
	}
	if r.Method != http.MethodPost {
		if err := e.begin(r.Context(), r.URL.Query()); err != nil {
			return err
		}
		return e.show(w, r, url.Values{})
	}
	if err := site.Form(r); err != nil {
		return err
	}
	return e.answer(w, r, r.PostForm)
}

// begin makes a new entry's YAML: a copy of another one, or a minimal skeleton.
func (e *catalogEditor) begin(ctx context.Context, q url.Values) error {
	if e.view.New() {
		e.text = skeleton(e.view.Kind, e.names)
		if of := q.Get("copy"); of != "" {
			s, err := e.p.Catalogs.CatalogSource(ctx, e.a, template.CatalogKey{Kind: e.view.Kind, Name: of})
			if err != nil {
				return err
			}
			e.view.Copy = of
			if e.text, err = e.p.Texts.Set(s.Text, appcatalog.Set{Path: []any{"name"}, Value: of + "-copy"}); err != nil {
				return err
			}
		}
	}
	e.read(e.text)
	return nil
}

// read parses YAML. If it isn't valid, the form keeps the last valid one.
func (e *catalogEditor) read(text string) {
	e.view.Text = text
	tree, err := e.p.Texts.Tree(text)
	if err != nil {
		e.view.Form.Unread = app.AsError(err).Message
		if e.tree == nil {
			e.tree = &appcatalog.Node{Map: true}
		}
		return
	}
	e.tree, e.view.Base = tree, text
}

// formOf makes the form of a tree.
func (e *catalogEditor) formOf(tree *appcatalog.Node) Form {
	return newCatalogForm(e.view.Kind, tree, e.schema, e.families, e.names, !e.view.New())
}

// key is the entry's key according to its YAML.
func (e *catalogEditor) key() template.CatalogKey {
	return template.CatalogKey{Kind: e.view.Kind, Name: e.tree.At("name").String()}
}

// merge applies changed fields to the YAML. If the YAML changed too, only fields that changed count; conflicts become errors.
func (e *catalogEditor) merge(in url.Values) {
	text, base := typed(in, "text"), typed(in, "base")
	if !in.Has("base") || in.Get("do") == "read" {
		e.read(text)
		return
	}
	was, err := e.p.Texts.Tree(base)
	if err != nil {
		e.read(text)
		return
	}
	e.tree, e.view.Base = was, base
	sets, fields := catalogChanges(e.formOf(was), in)
	e.others = slices.ContainsFunc(fields, func(x *Field) bool { return decides(x.Path) })
	now, err := e.p.Texts.Tree(text)
	if err != nil {
		e.read(text)
		if len(sets) > 0 {
			e.keep(in)
			e.refuse(page.Complaint{Message: "The YAML is invalid, so changes in the form aren't applied yet.", Hint: "Fix the YAML; the form keeps your changes."})
		}
		return
	}
	if text != base {
		e.moved = movedLists(was, now)
		if clash := e.clash(now, fields); clash {
			e.view.Text, e.view.Base = text, base
			e.keep(in)
			return
		}
	}
	if merged, err := e.p.Texts.Set(text, sets...); err == nil {
		text = merged
	} else if len(sets) > 0 {
		e.refuse(page.Complaint{Message: app.AsError(err).Message, Hint: app.AsError(err).Hint})
	}
	e.read(text)
}

// clash reports whether form and YAML were changed to different values in the same place.
func (e *catalogEditor) clash(now *appcatalog.Node, fields []*Field) bool {
	is := map[string]*Field{}
	f := e.formOf(now)
	eachField(&f, func(_ *Section, x *Field) { is[x.Name] = x })
	mine := e.formOf(e.tree)
	eachField(&mine, func(_ *Section, x *Field) {
		for _, c := range fields {
			there := ""
			if is[c.Name] != nil {
				there = is[c.Name].Value
			}
			if c.Name == x.Name && there != x.Value && !sameValue(&Field{Kind: x.Kind, Value: there}, c.Value) {
				e.refuse(page.Complaint{Message: "Form and YAML conflict: " + x.Label + " is " + strconv.Quote(c.Value) + " in the form and " + strconv.Quote(there) + " in the YAML.",
					Hint: "Make them equal, or load the form from the YAML."})
			}
		}
	})
	return e.view.Complaint.Message != ""
}

// keep keeps the form's typed values if they can't be applied to the YAML.
func (e *catalogEditor) keep(in url.Values) {
	e.view.Form = e.formOf(e.tree)
	eachField(&e.view.Form, func(_ *Section, x *Field) {
		if in.Has(x.Name) {
			x.Value = typed(in, x.Name)
		}
	})
}

func (e *catalogEditor) refuse(c page.Complaint) {
	if e.view.Complaint.Message == "" {
		e.view.Complaint, e.status = c, http.StatusUnprocessableEntity
	}
}

// answer handles a button of the form.
func (e *catalogEditor) answer(w http.ResponseWriter, r *http.Request, in url.Values) error {
	saved := e.text
	e.view.AsOf, e.view.Copy = in.Get("as_of"), in.Get("copy")
	e.merge(in)
	e.rows(in)
	switch do := in.Get("do"); {
	case do == "review" && e.view.Complaint.Message == "":
		return e.review(w, r, in, saved)
	case do == "save" && e.view.Complaint.Message == "":
		return e.save(w, r, in, saved)
	}
	return e.show(w, r, in)
}

// rows adds, removes and moves list rows.
func (e *catalogEditor) rows(in url.Values) {
	if e.view.Complaint.Message != "" {
		return
	}
	act, place, _ := strings.Cut(in.Get("do"), ":")
	path := placeOf(strings.TrimPrefix(place, "f/"))
	if act != "add" && slices.Contains(e.moved, path[0]) {
		e.refuse(page.Complaint{Message: "The rows of " + joinPath(path) + " were changed in the YAML, so the button's row may be another one now.",
			Hint: "The form has the new rows. Press the button again."})
		return
	}
	set := appcatalog.Set{Path: path}
	switch act {
	case "add":
		if list := e.tree.At(path[0]); len(path) == 3 && list != nil && list.List { // which the YAML may have made longer
			path[1] = len(list.Items)
		}
		set.Value = ""
	case "addnamed":
		field := map[string]string{"providers": "new-provider", "constraints": "new-limits"}[joinPath(path)]
		name := strings.TrimSpace(in.Get(field))
		if name == "" {
			e.refuse(page.Complaint{Message: "Enter a name.", Hint: "Choose or type a name next to the button."})
			return
		}
		if e.added = field; e.tree.At(append(slices.Clone(path), name)...) != nil {
			return
		}
		set.Path, set.Value = append(path, name), map[string]any{}
	case "up", "down":
		i, ok := path[len(path)-1].(int)
		if !ok {
			return
		}
		set.Value = appcatalog.To(i + map[string]int{"up": -1, "down": 1}[act])
	case "remove":
	default:
		return
	}
	text, err := e.p.Texts.Set(e.view.Text, set)
	if err != nil {
		e.added = ""
		e.refuse(page.Complaint{Message: app.AsError(err).Message, Hint: app.AsError(err).Hint})
		return
	}
	e.read(text)
}

func joinPath(path []any) string {
	if len(path) == 0 {
		return ""
	}
	s, _ := path[0].(string)
	return s
}

// rowLists are the lists with rows.
var rowLists = []any{"links", "parameters", "outputs", "actions"}

// movedLists are the lists whose rows differ in number, order or names.
func movedLists(was, now *appcatalog.Node) (moved []any) {
	names := func(tree *appcatalog.Node, list any) (names []string) {
		if n := tree.At(list); n != nil && n.List {
			for _, x := range n.Items {
				names = append(names, x.At("name").String()+"\x00"+x.At("label").String())
			}
		}
		return names
	}
	for _, list := range rowLists {
		if !slices.Equal(names(was, list), names(now, list)) {
			moved = append(moved, list)
		}
	}
	return moved
}

// placeOf parses a path from a field's name. Indexes occur only below lists with rows.
func placeOf(name string) (path []any) {
	for i, word := range strings.Split(name, "/") {
		if n, err := strconv.Atoi(word); err == nil && i == 1 && n >= 0 && slices.Contains(rowLists, path[0]) {
			path = append(path, n)
			continue
		}
		path = append(path, word)
	}
	return path
}

// change is the change to save.
func (e *catalogEditor) change() appcatalog.Change {
	return appcatalog.Change{Files: []appcatalog.File{e.file()}}
}

func (e *catalogEditor) file() appcatalog.File {
	k := e.key()
	if !e.view.New() {
		k.Name = e.view.Name
	}
	return File(k, e.view.Text)
}

// check validates the YAML and shows its problems.
func (e *catalogEditor) check(ctx context.Context) (appcatalog.Report, error) {
	report, err := e.p.Catalogs.CheckCatalog(ctx, e.a, e.change())
	if err != nil {
		c, err := catalogRefused(err)
		if err != nil {
			return report, err
		}
		e.refuse(c)
		return report, nil
	}
	if e.view.AsOf == "" {
		e.view.AsOf = report.Revision
	}
	e.view.Problems = report.Problems[:min(len(report.Problems), 200)]
	return report, nil
}

// show renders the editor; for live updates, only the parts that changed.
func (e *catalogEditor) show(w http.ResponseWriter, r *http.Request, in url.Values) error {
	if _, err := e.check(r.Context()); err != nil {
		return err
	}
	e.finish(in)
	if in.Get("do") == "try" {
		if err := e.try(r.Context(), in); err != nil {
			return err
		}
	} else {
		e.tryForm(in)
	}
	if r.Header.Get("HX-Request") != "" {
		from := in.Get("from")
		if e.others {
			from = "rows"
		}
		part := EditPart(e.view, from, typed(in, "text") != e.view.Text)
		if in.Get("do") == "try" {
			part = TryPart(e.view)
		}
		p := e.p
		p.Render(w, r, http.StatusOK, part)
		return nil
	}
	f := e.p.CatalogFrame(r, "Edit "+e.view.Name)
	if e.view.New() {
		f.Title = "New " + e.view.Kind
	}
	f.Htmx, f.Scripts = true, []string{"editor.js"}
	e.p.Render(w, r, e.status, EditPage(f, e.view))
	return nil
}

// decides reports whether a field determines which other fields exist: the type of a provider, parameter or output, and an action's automator.
func decides(path []any) bool {
	last := path[len(path)-1]
	return last == "type" && (len(path) == 1 || len(path) == 3) || len(path) == 3 && last == "automator"
}

// finish completes the view around the YAML.
func (e *catalogEditor) finish(in url.Values) {
	unread := e.view.Form.Unread
	if len(e.view.Form.Sections) == 0 {
		e.view.Form = e.formOf(e.tree)
	}
	e.view.Form.Unread = unread
	for _, s := range e.view.Form.Sections {
		if s.Add != nil && s.Add.Field != "" && s.Add.Field != e.added {
			s.Add.Typed = strings.TrimSpace(in.Get(s.Add.Field))
		}
	}
	complain(&e.view.Form, e.file().Name, e.view.Problems)
	eachField(&e.view.Form, func(s *Section, x *Field) {
		if x.Secret() && in.Get(x.Name) != "" {
			x.Complaint = page.Complaint{Message: "Type the secret again when you save.", Hint: "Secrets aren't kept while you edit."}
			s.Open = true
		}
	})
	line, _ := strconv.Atoi(in.Get("line"))
	e.view.Reference = reference(e.schema, e.tree, line)
	if of := e.view.Item; of.Name != "" && e.key().Name != e.view.Name && e.view.Form.Unread == "" {
		e.reportName("The name of this entry is " + e.view.Name + ".")
	}
}

func (e *catalogEditor) reportName(message string) {
	eachField(&e.view.Form, func(_ *Section, x *Field) {
		if x.Name == "f/name" {
			x.Complaint = page.Complaint{Message: message, Hint: "To use another name, duplicate the entry."}
		}
	})
}
