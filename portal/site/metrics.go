package site

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"muster/app"
	"muster/app/observe"
)

// Watched measures and traces a handler's requests. Route returns their pattern, never their path, and is called when they end; "" means no
// route.
func Watched(m observe.Meter, t observe.Tracer, route func(*http.Request) string, next http.Handler) http.Handler {
	m = observe.MeterOf(m)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ww, wrapped := w.(middleware.WrapResponseWriter)
		if !wrapped {
			ww = middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		}
		method := methodLabel(r.Method)
		ctx, end := observe.Begin(observe.WithTrace(r.Context(), r.Header.Get("Traceparent")), t, "HTTP "+method, observe.Attribute{Name: observe.KindAttribute, Value: "server"},
			observe.Attribute{Name: "http.request.method", Value: method})
		r = r.WithContext(ctx)
		m.Add(observe.MetricRequestsOpen, 1)
		defer func() {
			m.Add(observe.MetricRequestsOpen, -1)
			at, status := route(r), ww.Status()
			if at == "" {
				at = "none"
			}
			if status == 0 {
				status = http.StatusOK
			}
			m.Add(observe.MetricRequests, 1, at, method, strconv.Itoa(status))
			if !strings.HasPrefix(ww.Header().Get("Content-Type"), "text/event-stream") {
				m.ObserveDuration(observe.MetricRequestTime, time.Since(began), at, method)
			}
			var err error
			if status >= http.StatusInternalServerError {
				err = app.Errorf(app.EInternal, "status %d", status)
			}
			end(err, observe.Attribute{Name: "http.route", Value: at}, observe.Attribute{Name: "http.response.status_code", Value: status})
		}()
		next.ServeHTTP(ww, r)
	})
}

// methodLabel keeps unknown methods out of the labels.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
