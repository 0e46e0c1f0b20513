package site

import (
	"net/http"

	"muster/app/cluster"
)

// ToCluster redirects to a changed cluster.
func (p *Site) ToCluster(w http.ResponseWriter, r *http.Request) func(cluster.View, error) error {
	return func(v cluster.View, err error) error {
		if err != nil {
			return err
		}
		http.Redirect(w, r, "/clusters/"+v.ID, http.StatusSeeOther)
		return nil
	}
}
