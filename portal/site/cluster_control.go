package site

import (
	"net/http"

	"muster/app"
)

// ToCluster goes back to the cluster that a use case has changed.
func (p *Site) ToCluster(w http.ResponseWriter, r *http.Request) func(app.ClusterView, error) error {
	return func(v app.ClusterView, err error) error {
		if err != nil {
			return err
		}
		http.Redirect(w, r, "/clusters/"+v.ID, http.StatusSeeOther)
		return nil
	}
}
