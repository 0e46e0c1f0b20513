package catalog

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/catalog"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

func catalogNote(in url.Values) string {
	return strings.TrimSpace(strings.ReplaceAll(in.Get("note"), "\r\n", "\n"))
}

// showReview previews a change.
func (p *Service) showReview(w http.ResponseWriter, r *http.Request, status int, v Review) {
	p.Render(w, r, status, ReviewPage(p.CatalogFrame(r, v.Title), v))
}

// catalogRefused turns an error that people can fix into a complaint; it returns any other error.
func catalogRefused(err error) (page.Complaint, error) {
	e := app.AsError(err)
	switch e.Code {
	case app.EInvalid, app.EConflict, app.ETooLarge, app.EForbidden, app.ENotFound, app.EQuota:
		if e.Reason == app.StepUpReason {
			return page.Complaint{}, err
		}
		return page.Complaint{Message: e.Message, Hint: e.Hint}, nil
	}
	return page.Complaint{}, err
}

// Remove previews and applies a removal.
func (p *Service) Remove(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	k := catalogKey(r)
	v := Review{Key: k, Title: "Remove " + k.Name, Save: "Remove " + k.Kind, Action: ActPath(k, "remove"), Back: Path(k), Danger: true}
	change := catalog.Change{Remove: []template.CatalogKey{k}}
	s, err := p.Catalogs.CatalogSource(r.Context(), a, k)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if r.Method == http.MethodPost {
		if err := site.Form(r); err != nil {
			return err
		}
		v.Note, v.AsOf = catalogNote(r.PostForm), r.PostForm.Get("as_of")
		change.Note, change.AsOf = v.Note, v.AsOf
		v.Report, err = p.Catalogs.ApplyCatalog(r.Context(), a, change)
		if err == nil && v.Report.Saved {
			http.Redirect(w, r, "/admin/catalog/"+k.Kind, http.StatusSeeOther)
			return nil
		}
		status = http.StatusUnprocessableEntity
		if err != nil {
			status = site.StatusOf(err)
		}
		if v.Problem, err = orNone(err); err != nil {
			return err
		}
		change.AsOf, change.Note = "", "" // show the current state next
	}
	if v.Report, err = p.Catalogs.CheckCatalog(r.Context(), a, change); err != nil {
		return err
	}
	v.AsOf = v.Report.Revision
	if s.Replaces {
		v.Save = "Remove override"
	}
	v.Diff = newDiff(s.Text, "")
	p.showReview(w, r, status, v)
	return nil
}

func orNone(err error) (page.Complaint, error) {
	if err == nil {
		return page.Complaint{}, nil
	}
	return catalogRefused(err)
}

// revert previews and applies a revert to an older version.
func (p *Service) revert(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	k := catalogKey(r)
	number, err := strconv.Atoi(chi.URLParam(r, "number"))
	if err != nil {
		return site.ErrNoSuchPage
	}
	all, err := p.Catalogs.CatalogHistory(r.Context(), a, k)
	if err != nil {
		return err
	}
	_, text, ok := versionTexts(all, 0, number)
	if !ok || number == 0 {
		return &app.Error{Code: app.ENotFound, Message: "This version doesn't exist."}
	}
	v := Review{Key: k, Title: "Restore version " + strconv.Itoa(number) + " of " + k.Name, Save: "Restore version", Number: number,
		Action: ActPath(k, "revert/"+strconv.Itoa(number)), Back: Path(k)}
	status := http.StatusOK
	if r.Method == http.MethodPost {
		if err := site.Form(r); err != nil {
			return err
		}
		v.Note = catalogNote(r.PostForm)
		v.Report, err = p.Catalogs.RevertCatalog(r.Context(), a, k, number, v.Note)
		if err == nil && v.Report.Saved {
			http.Redirect(w, r, savedPath(k), http.StatusSeeOther)
			return nil
		}
		unchanged := err == nil && v.Report.OK()
		status = http.StatusUnprocessableEntity
		if err != nil {
			status = site.StatusOf(err)
		}
		if v.Problem, err = orNone(err); err != nil {
			return err
		}
		if unchanged {
			status, v.Problem = http.StatusOK, page.Complaint{Message: "No changes: version " + strconv.Itoa(number) + " is the same as the current one."}
		}
	}
	change, gone := catalog.Change{Files: []catalog.File{File(k, text)}}, false
	for _, x := range all {
		gone = gone || x.Number == number && x.Deleted
	}
	if gone {
		change = catalog.Change{Remove: []template.CatalogKey{k}}
		text, v.Danger = "", true
	}
	if v.Report, err = p.Catalogs.CheckCatalog(r.Context(), a, change); err != nil {
		return err
	}
	now := ""
	if s, err := p.Catalogs.CatalogSource(r.Context(), a, k); err == nil {
		now = s.Text
	}
	v.Diff = p.catalogDiff(now, text)
	p.showReview(w, r, status, v)
	return nil
}

// File is an entry as a file of a change.
func File(k template.CatalogKey, text string) catalog.File {
	name := k.Name
	if name == "" {
		name = "new"
	}
	return catalog.File{Name: k.Kind + "/" + name + ".yaml", Text: text}
}

func savedPath(k template.CatalogKey) string {
	to := Path(k)
	if strings.Contains(to, "?") {
		return to + "&saved"
	}
	return to + "?saved"
}
