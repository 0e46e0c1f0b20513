package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
)

func (p *Portal) clusterResume(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.muster.ResumeCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
	return nil
}
