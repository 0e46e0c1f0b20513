package resource

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/resource"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// resourcesOnPage is the page size.
const resourcesOnPage = 50

func (p *Service) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showResources(w, r, a, http.StatusOK, Form{Stage: true})
}

func (p *Service) showResources(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form Form) error {
	q := r.URL.Query()
	l := List{Now: p.Now(), Form: form, Search: clip(strings.TrimSpace(q.Get("search")), 100)}
	var more bool
	var err error
	if l.Types, err = p.Resources.ResourceTypes(r.Context(), a); err != nil {
		return err
	}
	if l.Resources, more, err = p.Resources.Resources(r.Context(), a, resource.Filter{Search: l.Search, After: q.Get("after"), Limit: resourcesOnPage}); err != nil {
		return err
	}
	if more {
		l.Next = "/admin/resources?" + url.Values{"search": {l.Search}, "after": {l.Resources[len(l.Resources)-1].ID.String()}}.Encode()
	}
	// The preview of a sync needs no permission to sync.
	if l.Sync, err = p.Versions.SyncResources(r.Context(), a, resource.Filter{}, true); err != nil && app.CodeOf(err) != app.EForbidden {
		return err
	}
	p.Render(w, r, status, ListPage(p.AdminFrame(r, "Resources"), l))
	return nil
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

func (p *Service) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := resource.ParseResourceID(chi.URLParam(r, "resource"))
	if err != nil {
		return site.ErrNoSuchPage
	}
	return p.showResource(w, r, a, http.StatusOK, id, Form{Stage: true})
}

func (p *Service) showResource(w http.ResponseWriter, r *http.Request, a app.Actor, status int, id resource.ID, form Form) error {
	info, err := p.Resources.Resource(r.Context(), a, id)
	if err != nil {
		return err
	}
	p.Render(w, r, status, ShowPage(p.AdminFrame(r, info.Name), Show{Now: p.Now(), Resource: info, Form: form}))
	return nil
}

func (p *Service) Diff(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := resource.ParseResourceID(chi.URLParam(r, "resource"))
	if err != nil {
		return site.ErrNoSuchPage
	}
	d := Diff{}
	if d.Resource, err = p.Resources.Resource(r.Context(), a, id); err != nil {
		return err
	}
	from, to := versionAsked(r, "from"), versionAsked(r, "to")
	if from == 0 && to == 0 { // by default, the changes of the newest version
		for _, v := range d.Resource.Versions {
			if to, from = max(to, from), v.Number; to > 0 {
				break
			}
		}
		if to == 0 {
			to = from
		}
	}
	if d.Diff, err = p.Resources.DiffResource(r.Context(), a, id, from, to); err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, DiffPage(p.AdminFrame(r, d.Resource.Name), d))
	return nil
}

func versionAsked(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Push streams a form with a file, which is never held in memory.
func (p *Service) Push(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	answered := site.LongBody(w, r)
	form, here := Form{}, false
	parts, err := r.MultipartReader()
	if err != nil {
		return site.Malformed(err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), site.UploadTime)
	defer cancel()
	for fields := 0; ; fields++ {
		part, e := parts.NextPart()
		if e == io.EOF { //nolint:errorlint // a truncated body ends with a wrapped io.EOF
			err = &app.Error{Code: app.EInvalid, Field: "content", Message: "Choose a file."}
			break
		}
		if e == nil && fields > 20 {
			e = errors.New("too many form fields")
		}
		if e != nil {
			return site.Malformed(e)
		}
		if part.FormName() == "content" {
			_, err = p.pushPart(ctx, a, form, part.FileName(), part)
			break
		}
		b, e := io.ReadAll(io.LimitReader(part, 4<<10))
		if e != nil {
			return site.Malformed(e)
		}
		switch text := strings.TrimSpace(string(b)); part.FormName() {
		case "type":
			form.Type = text
		case "name":
			form.Name = text
		case "note":
			form.Note = text
		case "stage":
			form.Stage = text != ""
		case "here":
			here = text != ""
		}
	}
	answered()
	if err != nil {
		return p.resourceComplaint(w, r, a, form, here, err, []string{"type", "name", "note", "content"})
	}
	id, err := resourceOf(form.Type, form.Name)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/resources/"+id.Path(), http.StatusSeeOther)
	return nil
}

func (p *Service) pushPart(ctx context.Context, a app.Actor, form Form, file string, content io.Reader) (resource.Version, error) {
	id, err := resourceOf(form.Type, form.Name)
	if err != nil {
		return resource.Version{}, err
	}
	return p.Versions.PushResource(ctx, a, resource.Push{ID: id, Source: resource.Source{File: file}, Note: form.Note, Stage: form.Stage}, content)
}

// resourceOf parses a form's type, member/type.
func resourceOf(kind, name string) (resource.ID, error) {
	member, typ, ok := strings.Cut(kind, "/")
	if !ok || member == "" || typ == "" || strings.Contains(typ, "/") {
		return resource.ID{}, &app.Error{Code: app.EInvalid, Field: "type", Message: "Unknown resource type.", Hint: "Choose one from the list."}
	}
	id := resource.ID{Family: resource.ForAutomator, Member: member, Type: typ, Name: name}
	again, err := resource.ParseResourceID(id.Path())
	if err == nil && again != id {
		err = &app.Error{Code: app.EInvalid, Field: "name", Message: "Invalid resource name.", Hint: "Use letters, digits, dots, dashes and underscores only."}
	}
	if err != nil && name == "" {
		err = &app.Error{Code: app.EInvalid, Field: "name", Message: "Enter a name.", Hint: "For example site."}
	}
	return id, err
}

// resourceComplaint shows the form again with its errors.
func (p *Service) resourceComplaint(w http.ResponseWriter, r *http.Request, a app.Actor, form Form, here bool, err error, fields []string) error {
	e := app.AsError(err)
	status := http.StatusUnprocessableEntity
	switch e.Code {
	case app.EInvalid, app.EForbidden:
	case app.EConflict, app.EQuota:
		status = http.StatusConflict
	case app.ETooLarge:
		status = http.StatusRequestEntityTooLarge
	case app.ETransient, app.ECapacity, app.ETimeout:
		status = http.StatusServiceUnavailable
	default:
		return err
	}
	if e.Code == app.EForbidden && e.Reason == "role" {
		return err
	}
	if form.Field = e.Field; !slices.Contains(fields, form.Field) {
		form.Field = ""
	}
	form.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
	if id, err := resourceOf(form.Type, form.Name); here && err == nil {
		return p.showResource(w, r, a, status, id, form)
	}
	return p.showResources(w, r, a, status, form)
}

func (p *Service) Import(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	text := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	in := Form{Stage: true, ImportTo: text("import_name"), Git: text("git"), Ref: text("ref"), Folder: text("folder"), Secret: text("secret")}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	id, err := resourceOf(text("import_type"), in.ImportTo)
	if err == nil {
		_, err = p.Versions.ImportResource(r.Context(), a, resource.Push{ID: id, Source: resource.Source{Git: in.Git, Ref: in.Ref, Folder: in.Folder, Secret: in.Secret}})
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(site.RequestTime))
	if err != nil {
		if e := app.AsError(err); e.Field == "name" && e.Code == app.EInvalid {
			moved := *e
			moved.Field = "import_name"
			err = &moved
		}
		return p.resourceComplaint(w, r, a, in, false, err, []string{"import_name", "git", "ref", "folder", "secret"})
	}
	http.Redirect(w, r, "/admin/resources/"+id.Path(), http.StatusSeeOther)
	return nil
}

func (p *Service) Sync(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if _, err := p.Versions.SyncResources(r.Context(), a, resource.Filter{}, false); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/resources", http.StatusSeeOther)
	return nil
}

// versionAct handles a button of a version.
func (p *Service) versionAct(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := resource.ParseResourceID(chi.URLParam(r, "resource"))
	n, e := strconv.ParseInt(chi.URLParam(r, "version"), 10, 64)
	if err != nil || e != nil {
		return site.ErrNoSuchPage
	}
	switch chi.URLParam(r, "act") {
	case "stage":
		_, err = p.Versions.StageResource(r.Context(), a, id, n)
	case "recall":
		_, err = p.Versions.RecallResource(r.Context(), a, id, n)
	default:
		err = p.Versions.DeleteResource(r.Context(), a, id, n)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/resources/"+id.Path(), http.StatusSeeOther)
	return nil
}

func (p *Service) download(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := resource.ParseResourceID(chi.URLParam(r, "resource"))
	n, e := strconv.ParseInt(chi.URLParam(r, "version"), 10, 64)
	if err != nil || e != nil {
		return site.ErrNoSuchPage
	}
	return p.sendResource(r.Context(), w, a, id, n, "")
}
