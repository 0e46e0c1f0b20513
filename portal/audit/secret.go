package audit

import (
	"net/http"
	"strings"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

func (p *Service) secretList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showSecrets(w, r, a, "", nil)
}

// showSecrets lists names. With a problem, the form keeps the typed name, but never the value.
func (p *Service) showSecrets(w http.ResponseWriter, r *http.Request, a app.Actor, name string, problem *app.Error) error {
	all, err := p.Secrets.Secrets(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Secrets")
	l := SecretList{Now: p.Now(), Secrets: all, Name: name}
	status := http.StatusOK
	if problem != nil {
		l.Problem, status = strings.TrimSpace(problem.Message+" "+problem.Hint), site.StatusOf(problem)
	}
	p.Render(w, r, status, SecretListPage(f, l))
	return nil
}

func (p *Service) secretSet(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := strings.TrimSpace(r.PostFormValue("name"))
	// Browsers send line ends as CR LF, also of pasted files with LF.
	value := strings.ReplaceAll(r.PostFormValue("value"), "\r\n", "\n")
	if err := p.Secrets.SetSecret(r.Context(), a, name, []byte(value)); err != nil {
		if e := app.AsError(err); e.Code == app.EInvalid || e.Code == app.ETooLarge || e.Code == app.EConflict {
			return p.showSecrets(w, r, a, name, e)
		}
		return err
	}
	http.Redirect(w, r, "/admin/secrets", http.StatusSeeOther)
	return nil
}

func (p *Service) secretDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.Secrets.DeleteSecret(r.Context(), a, chi.URLParam(r, "secret")); err != nil {
		if e := app.AsError(err); e.Code == app.EConflict {
			return p.showSecrets(w, r, a, "", e)
		}
		return err
	}
	http.Redirect(w, r, "/admin/secrets", http.StatusSeeOther)
	return nil
}
