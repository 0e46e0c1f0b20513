package portal

import (
	"bytes"
	"net/http"
	"strings"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// metricsPath is where monitoring looks.
const metricsPath = "/metrics"

// metricsShow answers monitoring that has the token of someone who looks after the installation. No one else learns more than that.
func (p *Portal) metricsShow(w http.ResponseWriter, r *http.Request) {
	refuse := func(err error) {
		if app.CodeOf(err) == app.EUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		p.WriteProblem(w, r, err)
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		refuse(&app.Error{Code: app.EUnauthorized, Message: "Metrics require a token.",
			Hint: "Send the header Authorization: Bearer <token> with a superadmin's token with scope read, or use the address of --metrics-listen."})
		return
	}
	a, err := p.SignIns.ActorOfToken(r.Context(), token, site.Address(r))
	if err != nil {
		refuse(err)
		return
	}
	site.RequestOf(r.Context()).User = a.Tenant + "/" + a.Name()
	if err := p.quota.TooOften(w, r, a); err != nil {
		refuse(err)
		return
	}
	var out bytes.Buffer
	if err := p.Metering.Metrics(r.Context(), a, &out); err != nil {
		refuse(err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

// watched is Watched for the portal's own routes.
func (p *Portal) watched(next http.Handler) http.Handler {
	return site.Watched(p.Meter, p.tracer, func(r *http.Request) string {
		if c := chi.RouteContext(r.Context()); c != nil {
			return strings.TrimSuffix(c.RoutePattern(), "/*")
		}
		return ""
	}, next)
}
