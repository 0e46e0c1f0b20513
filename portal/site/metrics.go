package site

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/app"

	"github.com/go-chi/chi/v5/middleware"
)

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
