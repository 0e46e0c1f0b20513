package volume

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/app/volume"
)

// List shows the volumes that someone may see.
func (p *Service) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if id := r.URL.Query().Get("delete"); id != "" {
		return p.deleteAsk(w, r, a, id)
	}
	return p.show(w, r, a, http.StatusOK, nil)
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, wrong *app.Error) error {
	list, err := p.Volumes.Volumes(r.Context(), a, volume.Filter{})
	if err != nil {
		return err
	}
	snapshots, err := p.Volumes.Snapshots(r.Context(), a, volume.SnapshotFilter{})
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(x, y volume.Volume) int { return rank(x) - rank(y) }) // kept ones first
	f := p.Frame(r, "Volumes")
	f.At = "clusters"
	p.Render(w, r, status, ListPage(f, List{Now: p.Now(), Volumes: list, Snapshots: snapshots, Wrong: wrong}))
	return nil
}

func rank(v volume.Volume) int {
	if v.Cluster == "" {
		return 0
	}
	return 1
}

func (p *Service) extend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	d, err := keepFor(r.FormValue("keep_for"))
	if err == nil {
		_, err = p.Volumes.ExtendVolume(r.Context(), a, chi.URLParam(r, "volume"), d)
	}
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid {
		return p.show(w, r, a, http.StatusUnprocessableEntity, e)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/volumes", http.StatusSeeOther)
	return nil
}

func (p *Service) deleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor, id string) error {
	if volume.IsSnapshot(id) {
		s, err := p.Volumes.Snapshot(r.Context(), a, id)
		if err != nil {
			return err
		}
		f := p.Frame(r, "Delete snapshot of "+s.Name)
		f.At = "clusters"
		p.Render(w, r, http.StatusOK, DeleteSnapshotPage(f, s))
		return nil
	}
	v, err := p.Volumes.Volume(r.Context(), a, id)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Delete volume "+v.Name)
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, DeletePage(f, v))
	return nil
}

func (p *Service) delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if _, err := p.Volumes.DeleteVolume(r.Context(), a, chi.URLParam(r, "volume")); err != nil {
		return err
	}
	http.Redirect(w, r, "/volumes", http.StatusSeeOther)
	return nil
}
