//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/observe"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/observe/trace/otlptest"
	"muster/cmd/muster/server"
	rest "muster/portal/client"
)

// tracedSpan is a span as a collector received it.
type tracedSpan struct{ service, name, trace, id, parent string }

// spanCollector is an OpenTelemetry collector that keeps what it gets.
type spanCollector struct {
	*httptest.Server
	mu    sync.Mutex
	raw   bytes.Buffer
	spans []tracedSpan
}

func newSpanCollector(t *testing.T) *spanCollector {
	c := &spanCollector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body = z
		}
		b, err := io.ReadAll(body)
		exported, wrong := otlptest.Decode(b)
		if err != nil || wrong != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s is no export of spans: %v, %v", r.URL.Path, err, wrong)
			http.Error(w, "no spans", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw.Write(b)
		for _, from := range exported {
			service := ""
			for _, a := range from.Resource.Attributes {
				if a.Key == "service.name" {
					service = a.Value.GetStringValue()
				}
			}
			for _, scope := range from.ScopeSpans {
				for _, s := range scope.Spans {
					c.spans = append(c.spans, tracedSpan{service, s.Name, hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId)})
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// find returns the first span of a name in a trace; any trace where that is "".
func (c *spanCollector) find(trace, name string) *tracedSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.name == name && (trace == "" || s.trace == trace) {
			return &s
		}
	}
	return nil
}

// A request, the steps that it led to in another process, and what these did over SSH stand in one trace; and that process shows what it
// did to Prometheus.
func TestARequestIsFollowedOntoAnotherHost(t *testing.T) {
	t.Parallel()
	to := newSpanCollector(t)
	w := newFleetServer(t, "", func(c *server.Config) { c.Observe = server.ObserveConfig{OTLP: to.URL, Metrics: "127.0.0.1:0"} })
	h := w.start("h1", "--otlp-endpoint", to.URL, "--metrics-listen", "127.0.0.1:0", "--log-format", "json", "--verbose")
	var settings rest.Settings
	b, err := os.ReadFile(filepath.Join(w.server.Data, cli.ClientFile))
	if err == nil {
		err = json.Unmarshal(b, &settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	secure, err := rest.Trust(w.server.Fingerprint)
	if err != nil {
		t.Fatal(err)
	}
	ask := &http.Client{Transport: &http.Transport{TLSClientConfig: secure}}
	defer ask.CloseIdleConnections()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/api/v1/clusters", strings.NewReader(`{"name":"c","template":"slow","size":1}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+settings.Token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	answer, err := ask.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	var made cluster.View
	if answer.StatusCode != http.StatusCreated || json.Unmarshal(said, &made) != nil {
		t.Fatalf("%s: %s", answer.Status, said)
	}
	w.active("", made.ID)
	var request, step, ssh *tracedSpan
	w.until("spans of request, step and SSH have come", func() bool {
		request, step, ssh = to.find(trace, "HTTP POST"), to.find(trace, "step start"), to.find(trace, "ssh run")
		return request != nil && step != nil && ssh != nil && to.find(trace, "provider create") != nil && to.find(trace, "ssh connect") != nil
	})
	if request.service != "muster-server" || step.service != "muster-worker" || ssh.service != "muster-worker" {
		t.Errorf("who did what: %+v, %+v, %+v", request, step, ssh)
	}
	if request.parent != "00f067aa0ba902b7" || step.parent != request.id {
		t.Errorf("the step is not below the request, or that not below its caller: %+v, %+v", request, step)
	}
	to.mu.Lock()
	for _, secret := range []string{"secret-of-the-cloud", settings.Token, w.token, "PRIVATE KEY", "done_marker"} {
		if bytes.Contains(to.raw.Bytes(), []byte(secret)) {
			t.Errorf("%q was sent to the collector", secret)
		}
	}
	to.mu.Unlock()

	at := regexp.MustCompile(`Metrics at (\S+)`).FindStringSubmatch(h.out.String())
	if at == nil {
		t.Fatalf("the provisioner does not say where its metrics are: %s", h.out)
	}
	w.until("the provisioner shows the worker's steps", func() bool {
		text := fetched(t, at[1])
		return strings.Contains(text, `muster_steps_total{action="start",code="ok"} 1`) && strings.Contains(text, `muster_provider_calls_total{code="ok",operation="create",provider="cloud"} 1`)
	})
	if text := fetched(t, "http://"+w.server.Sides.Metrics+"/metrics"); !strings.Contains(text, `muster_http_requests_total{code="201",method="POST",route="/api/v1/clusters"} 1`) ||
		!strings.Contains(text, `muster_steps_claimed_total{action="start"} 1`) || strings.Contains(text, "{metric=\"steps\"} 1") {
		t.Errorf("the server shows\n%s", text)
	}
	if !regexp.MustCompile(`"msg":"step".*"cluster":"` + made.ID + `".*"attempt":1,"trace_id":"` + trace).MatchString(h.out.String()) {
		t.Errorf("no line of the log says which step of which trace it is about:\n%s", h.out)
	}
}

func fetched(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", url, answer.Status, err, b)
	}
	return string(b)
}

// Metrics are no one's but superadmins', and no listener is open that was not asked for.
func TestMetricsAreClosedToStrangers(t *testing.T) {
	m := newMatrix(t)
	if m.server.Sides.Metrics != "" || m.server.Sides.Pprof != "" {
		t.Errorf("open by default: %+v", m.server.Sides)
	}
	get := func(token string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		m.server.HTTP.Handler.ServeHTTP(w, r)
		return w
	}
	root, err := m.server.Services.Identity.Tokens.LocalToken(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if w := get(root); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "\nmuster_clusters") && !strings.Contains(w.Body.String(), "\nmuster_leader 1") {
		t.Errorf("a superadmin gets %d", w.Code)
	}
	for _, token := range []string{"", "made-up"} {
		if w := get(token); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "muster_leader") {
			t.Errorf("a stranger gets %d %s", w.Code, w.Body)
		}
	}
	for _, role := range app.Roles {
		if role == app.RoleSuperadmin {
			continue
		}
		var out bytes.Buffer
		err := m.server.Services.Fleet.Installation.Metrics(t.Context(), app.Actor{Tenant: here, User: "u", Role: role}, &out)
		if app.CodeOf(err) != app.EForbidden || out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", role, err, out.Len())
		}
	}
}

// Listeners that others reach, and settings that mean nothing, are refused before anything is opened.
func TestHowAProcessIsWatchedIsChecked(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, tt := range []struct {
		o    server.ObserveConfig
		word string // of the refusal; "" where there is none
	}{
		{server.ObserveConfig{}, ""},
		{server.ObserveConfig{Metrics: "127.0.0.1:9464", Pprof: "[::1]:6060", OTLP: "https://otel.example", Format: "json", Level: "warn"}, ""},
		{server.ObserveConfig{Metrics: "0.0.0.0:9464"}, "--metrics-anywhere"},
		{server.ObserveConfig{Metrics: ":9464"}, "--metrics-anywhere"},
		{server.ObserveConfig{Metrics: ":9464", MetricsAnywhere: true}, ""},
		{server.ObserveConfig{Pprof: "192.0.2.7:6060"}, "--pprof-anywhere"},
		{server.ObserveConfig{Pprof: "192.0.2.7:6060", MetricsAnywhere: true}, "--pprof-anywhere"},
		{server.ObserveConfig{Metrics: "9464"}, "HOST:PORT"},
		{server.ObserveConfig{OTLP: "127.0.0.1:4318"}, "http://"},
		{server.ObserveConfig{OTLP: "http://me:secret@otel.example"}, "OTEL_EXPORTER_OTLP_HEADERS"},
		{server.ObserveConfig{Format: "xml"}, "text or json"},
		{server.ObserveConfig{Level: "loud"}, "debug, info"},
	} {
		err := tt.o.Check(none)
		text := ""
		if err != nil {
			text = err.Error()
			if e, ok := err.(*cli.UsageError); ok {
				text += " " + e.Advice
			} else {
				text += " " + app.AsError(err).Hint
			}
		}
		if (tt.word == "") != (err == nil) || !strings.Contains(text, tt.word) || strings.Contains(text, "secret") {
			t.Errorf("%+v: %q", tt.o, text)
		}
	}
}

// Another name for this host is refused, as browsers can be made to use one.
func TestSideListenersKnowTheirName(t *testing.T) {
	sides, err := server.OpenSides(server.ObserveConfig{Metrics: "127.0.0.1:0", Pprof: "127.0.0.1:0"}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "figures") }), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer sides.Close()
	if got := fetched(t, "http://"+sides.Metrics+"/metrics"); got != "figures" {
		t.Errorf("%q", got)
	}
	if got := fetched(t, "http://"+sides.Pprof+"/debug/pprof/"); !strings.Contains(got, "goroutine") {
		t.Errorf("%q", got)
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+sides.Metrics+"/metrics", nil)
	r.Host = "rebound.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("another name gets %s", answer.Status)
	}
}

// Lines say what they are about.
func TestLogLinesCarryTheirContext(t *testing.T) {
	var b bytes.Buffer
	ctx := observe.WithTrace(observe.At(context.Background(), observe.Place{Cluster: "c-1", Operation: 7, Step: "n1/start/web", Attempt: 2}), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	o := server.ObserveConfig{Format: "json", Level: "debug"}
	o.Logger(&b, false).With("tenant", "lab").DebugContext(ctx, "step", "took", "1s")
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"tenant": "lab", "cluster": "c-1", "operation": 7.0, "step": "n1/start/web", "attempt": 2.0,
		"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7", "took": "1s"} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}
