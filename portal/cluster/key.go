package cluster

import (
	"net/http"
	"net/url"

	"muster/app"
	"muster/portal/identity"

	"github.com/go-chi/chi/v5"
)

func (p *accessPages) Key(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id := chi.URLParam(r, "id")
	_, pem, err := p.ClusterAccess.ClusterKey(r.Context(), a, id)
	if err != nil && app.AsError(err).Reason == app.StepUpReason && a.Session != "" {
		return identity.StepUpFor(w, r, "/clusters/"+url.PathEscape(id)+"/access") // a download has no page to come back to
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-pem-file")
	h.Set("Content-Disposition", `attachment; filename="muster-`+safeName(id)+`.pem"`)
	_, _ = w.Write(pem)
	return nil
}

// safeName keeps the characters that need no quoting in a file name.
func safeName(s string) string {
	out := []byte{}
	for i := range len(s) {
		c := s[i]
		if c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			out = append(out, c)
		}
	}
	return string(out)
}
