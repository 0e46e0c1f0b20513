package image

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/image"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

// List is the page of baked images.
type List struct {
	Now       time.Time
	View      image.View
	Templates []string
	Built     *image.Built // that was asked for just now
	Form      Form
}

// Form is what was entered.
type Form struct {
	Act, Template, AfterCreates, Within, KeepUnused string
	Field                                           string // of the complaint
	Complaint                                       page.Complaint
}

// Error returns the error of a field of one of the page's forms.
func (f Form) Error(act, field string) page.Complaint {
	if f.Act == act && f.Field == field {
		return f.Complaint
	}
	return page.Complaint{}
}

func (p *Service) list(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, a, http.StatusOK, List{Form: Form{AfterCreates: "3", Within: "7d", KeepUnused: "30d"}})
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, l List) (err error) {
	l.Now = p.Now()
	if l.View, err = p.Images.Images(r.Context(), a); err != nil {
		return err
	}
	c, err := p.Catalogs.Catalog(r.Context(), a)
	if err != nil {
		return err
	}
	l.Templates = slices.Sorted(maps.Keys(c.Templates))
	f := p.AdminFrame(r, "Baked images")
	if slices.ContainsFunc(l.View.Images, func(i image.Image) bool { return i.State != image.StateReady && i.State != image.StateFailed }) && l.Built == nil {
		f.Refresh = 5
	}
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

// complain shows an error about the input beside its field; it returns any other error.
func (p *Service) complain(w http.ResponseWriter, r *http.Request, a app.Actor, in Form, err error) error {
	e := app.AsError(err)
	status := http.StatusUnprocessableEntity
	switch e.Code {
	case app.EConflict:
		status = http.StatusConflict
	case app.ENotFound, app.EInvalid, app.ETooLarge:
	default:
		return err
	}
	if in.Field = e.Field; !slices.Contains([]string{"after_creates", "within", "keep_unused"}, in.Field) {
		in.Field = ""
	}
	in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
	return p.show(w, r, a, status, List{Form: in})
}

func (p *Service) bake(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	in := Form{Act: "bake", Template: strings.TrimSpace(r.PostForm.Get("template")), AfterCreates: "3", Within: "7d", KeepUnused: "30d"}
	b, err := p.Images.BakeImages(r.Context(), a, in.Template, 0)
	if err != nil {
		return p.complain(w, r, a, in, err)
	}
	if len(b.Left) > 0 {
		return p.show(w, r, a, http.StatusOK, List{Form: in, Built: &b})
	}
	http.Redirect(w, r, "/admin/images", http.StatusSeeOther)
	return nil
}

func (p *Service) setRule(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	text := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	in := Form{Act: "rule", Template: text("template"), AfterCreates: text("after_creates"), Within: text("within"), KeepUnused: text("keep_unused")}
	err := p.changeRule(r, a, in, text("act") == "remove")
	if err != nil {
		return p.complain(w, r, a, in, err)
	}
	http.Redirect(w, r, "/admin/images", http.StatusSeeOther)
	return nil
}

func (p *Service) changeRule(r *http.Request, a app.Actor, in Form, remove bool) (err error) {
	if remove {
		return p.Images.DeleteBakeRule(r.Context(), a, in.Template)
	}
	rule := image.Rule{Template: in.Template}
	if rule.AfterCreates, err = strconv.Atoi(in.AfterCreates); err != nil {
		return &app.Error{Code: app.EInvalid, Field: "after_creates", Message: "Clusters must be a whole number.", Hint: "Enter a number such as 3."}
	}
	for _, x := range []struct {
		field, value string
		to           *time.Duration
	}{{"within", in.Within, &rule.Within}, {"keep_unused", in.KeepUnused, &rule.KeepUnused}} {
		if *x.to, err = template.ParseLength(x.value); err != nil {
			return &app.Error{Code: app.EInvalid, Field: x.field, Message: app.AsError(err).Message, Hint: app.AsError(err).Hint}
		}
	}
	_, err = p.Images.SetBakeRule(r.Context(), a, rule)
	return err
}

func (p *Service) delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PostForm.Get("image"), 10, 64)
	if err != nil {
		return app.Errorf(app.ENotFound, "Image %.20q doesn't exist.", r.PostForm.Get("image"))
	}
	if err := p.Images.DeleteImage(r.Context(), a, id); err != nil {
		return p.complain(w, r, a, Form{Act: "delete", AfterCreates: "3", Within: "7d", KeepUnused: "30d"}, err)
	}
	http.Redirect(w, r, "/admin/images", http.StatusSeeOther)
	return nil
}

// stateMark is the state of an image.
func stateMark(s image.State) (mark, word string) {
	switch s {
	case image.StateReady:
		return "succeeded", "Ready"
	case image.StateFailed:
		return "failed", "Failed"
	case image.StateBuilding:
		return "running", "Building"
	case image.StateDeleting:
		return "running", "Deleting"
	}
	return "queued", "Waiting"
}
