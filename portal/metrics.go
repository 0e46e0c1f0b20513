package portal

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"muster/app"
)

// Metering is a power that a Muster may have: to write what is measured. A portal without it has no /metrics.
type Metering interface {
	Metrics(ctx context.Context, a app.Actor, to io.Writer) error
}

// metricsPath is where monitoring looks.
const metricsPath = "/metrics"

func (p *Portal) metering() Metering {
	m, _ := p.muster.(Metering)
	return m
}

// metricsShow answers monitoring that has the token of somebody who looks after the installation. Nobody else learns more than that.
func (p *Portal) metricsShow(w http.ResponseWriter, r *http.Request) {
	refuse := func(err error) {
		if app.CodeOf(err) == app.EUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		p.writeProblem(w, r, err)
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		refuse(&app.Error{Code: app.EUnauthorized, Message: "Metrics are for monitoring that has a token.",
			Hint: "Send the header Authorization: Bearer <token> with a superadmin's token of the scope read, or look at the address of --metrics-listen."})
		return
	}
	a, err := p.muster.ActorOfToken(r.Context(), token, address(r))
	if err != nil {
		refuse(err)
		return
	}
	requestOf(r.Context()).user = a.Tenant + "/" + a.Name()
	if err := p.tooOften(w, r, a); err != nil {
		refuse(err)
		return
	}
	var out bytes.Buffer
	if err := p.metering().Metrics(r.Context(), a, &out); err != nil {
		refuse(err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

// Watched counts and follows the requests of a handler. Route names them by their pattern, never by their path, and is asked when they have
// ended; "" stands for what has no route.
func Watched(m app.Meter, t app.Tracer, route func(*http.Request) string, next http.Handler) http.Handler {
	m = app.MeterOf(m)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ww, wrapped := w.(middleware.WrapResponseWriter)
		if !wrapped {
			ww = middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		}
		method := methodLabel(r.Method)
		ctx, end := app.Begin(app.WithTrace(r.Context(), r.Header.Get("Traceparent")), t, "HTTP "+method, app.Fact{Name: app.FactKind, Value: "server"},
			app.Fact{Name: "http.request.method", Value: method})
		r = r.WithContext(ctx)
		m.Add(app.MetricRequestsOpen, 1)
		defer func() {
			m.Add(app.MetricRequestsOpen, -1)
			at, status := route(r), ww.Status()
			if at == "" {
				at = "none"
			}
			if status == 0 {
				status = http.StatusOK
			}
			m.Add(app.MetricRequests, 1, at, method, strconv.Itoa(status))
			if !strings.HasPrefix(ww.Header().Get("Content-Type"), "text/event-stream") {
				m.Took(app.MetricRequestTime, time.Since(began), at, method)
			}
			var err error
			if status >= http.StatusInternalServerError {
				err = app.Errorf(app.EInternal, "status %d", status)
			}
			end(err, app.Fact{Name: "http.route", Value: at}, app.Fact{Name: "http.response.status_code", Value: status})
		}()
		next.ServeHTTP(ww, r)
	})
}

// methodLabel keeps made-up methods from being remembered.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// watched is Watched for the portal's own routes.
func (p *Portal) watched(next http.Handler) http.Handler {
	return Watched(p.meter, p.tracer, func(r *http.Request) string {
		if c := chi.RouteContext(r.Context()); c != nil {
			return strings.TrimSuffix(c.RoutePattern(), "/*")
		}
		return ""
	}, next)
}
