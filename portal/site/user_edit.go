package site

import "net/http"

// PeopleDone leads to a page that says once what was done.
func (p *Site) PeopleDone(w http.ResponseWriter, r *http.Request, text, to string) error {
	p.Sessions.Put(r.Context(), KeyDone, text)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
