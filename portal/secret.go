package portal

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"muster/app"
	auditpage "muster/portal/audit"
)

func (p *Portal) secretList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showSecrets(w, r, a, "", nil)
}

// showSecrets lists names; with a problem the form keeps the name that was typed, and never the value.
func (p *Portal) showSecrets(w http.ResponseWriter, r *http.Request, a app.Actor, name string, problem *app.Error) error {
	all, err := p.secreting().Secrets(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Secrets")
	l := auditpage.SecretList{Now: p.now(), Secrets: all, Name: name}
	status := http.StatusOK
	if problem != nil {
		l.Problem, status = strings.TrimSpace(problem.Message+" "+problem.Hint), statusOf(problem)
	}
	p.render(w, r, status, auditpage.SecretListPage(f, l))
	return nil
}

func (p *Portal) secretSet(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := strings.TrimSpace(r.PostFormValue("name"))
	// Browsers send line ends as CR LF; files that are pasted had LF.
	value := strings.ReplaceAll(r.PostFormValue("value"), "\r\n", "\n")
	if err := p.secreting().SetSecret(r.Context(), a, name, []byte(value)); err != nil {
		if e := app.AsError(err); e.Code == app.EInvalid || e.Code == app.ETooLarge || e.Code == app.EConflict {
			return p.showSecrets(w, r, a, name, e)
		}
		return err
	}
	http.Redirect(w, r, "/admin/secrets", http.StatusSeeOther)
	return nil
}

func (p *Portal) secretDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.secreting().DeleteSecret(r.Context(), a, chi.URLParam(r, "secret")); err != nil {
		if e := app.AsError(err); e.Code == app.EConflict {
			return p.showSecrets(w, r, a, "", e)
		}
		return err
	}
	http.Redirect(w, r, "/admin/secrets", http.StatusSeeOther)
	return nil
}
