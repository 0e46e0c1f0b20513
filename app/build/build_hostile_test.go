package build_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/build"
	"muster/portal/buildsystems/buildsystemtest"
)

// senders sign as each build system does.
var senders = map[string]struct {
	scheme buildsystemtest.Scheme
	secret string
}{
	"buildkite": {buildsystemtest.HexTimed("X-Buildkite-Signature"), "a-secret-that-is-long-enough"},
	"circleci":  {buildsystemtest.Hex("Circleci-Signature", "v1="), "a-secret-that-is-long-enough"},
	"generic":   {buildsystemtest.Standard, buildsystemtest.StandardSecret(1)},
	"github":    {buildsystemtest.Hex("X-Hub-Signature-256", "sha256="), "a-secret-that-is-long-enough"},
	"gitlab":    {buildsystemtest.Standard, buildsystemtest.StandardSecret(1)},
	"jenkins":   {buildsystemtest.Standard, buildsystemtest.StandardSecret(1)},
}

// gate takes deliveries of all build systems, each at a hook with a cluster for every build.
type gate struct {
	*harness.Harness
	hooks map[string]build.BuildHook
	sent  int
}

func newGate(t testing.TB) *gate {
	g := &gate{Harness: harness.New(t), hooks: map[string]build.BuildHook{}}
	understand(g.Services)
	for _, s := range g.Services.Build.Hooks.BuildSystems() {
		if _, ok := senders[s.Name]; !ok {
			t.Fatalf("no one signs as %s: add it to senders, with the scheme and a secret of its own test", s.Name)
		}
	}
	owner, queue := "ada", 1000
	rules := []build.Rule{
		{Name: "deep", When: `has(event.payload.deep) && event.payload.deep.size() > 3`, Do: build.ActionNothing},
		{Name: "all", When: "true", Do: build.ActionCreate, Template: "web", Forks: build.ForksAll, Queue: &queue, Cluster: "ci-${event.branch}", Callback: "${event.payload.callback_url}",
			Parameters: map[string]any{"all": "${event.payload}"}},
	}
	for name, s := range senders {
		saved, err := g.Services.Build.Hooks.SaveBuildHook(t.Context(), g.Actor("root", app.RoleAdmin), build.BuildHookRequest{Name: name, System: name, Owner: &owner, Rules: &rules, Secret: s.secret})
		if err != nil {
			t.Fatal(err)
		}
		g.hooks[name] = saved.BuildHook
	}
	return g
}

// send signs a body as a system does, and delivers it.
func (g *gate) send(t testing.TB, system string, body []byte, headers map[string]string) (build.IntakeResponse, error) {
	g.sent++
	s := senders[system]
	signed := s.scheme.Sign(s.secret, fmt.Sprint("id-", g.sent), g.Clock.Now(), body)
	return g.Services.Build.Intake.IngestBuild(t.Context(), g.hooks[system].ID, func(name string) string {
		if v, ok := signed[name]; ok {
			return v
		}
		return headers[name]
	}, body, "192.0.2.7")
}

func (g *gate) newest(t testing.TB) int64 {
	t.Helper()
	list, err := g.Store.Builds(t.Context(), app.DefaultTenant, build.Filter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return 0
	}
	return list[0].ID
}

// samples are deliveries as each system sends them.
func samples(t testing.TB, each func(system string, body []byte)) {
	t.Helper()
	for system := range senders {
		files, err := filepath.Glob(filepath.Join("..", "..", "portal", "buildsystems", system, "testdata", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no samples: %v", system, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			each(system, b)
		}
	}
}

// hostile are bodies that no system sends, signed all the same.
func hostile() map[string][]byte {
	packed := &bytes.Buffer{}
	z := gzip.NewWriter(packed)
	_, _ = z.Write([]byte(`{"event":"build","phase":"running","build":"a"}`))
	_ = z.Close()
	deep := func(open, shut string, n int) []byte {
		return []byte(strings.Repeat(open, n) + strings.Repeat(shut, n))
	}
	many := []string{}
	for i := range 100_001 {
		many = append(many, fmt.Sprint(i))
	}
	return map[string][]byte{
		"empty": {}, "null": []byte("null"), "an array": []byte("[]"), "an array of events": []byte(`[{"event":"build"}]`), "a text": []byte(`"build"`), "a number": []byte("1e999"),
		"an empty object": []byte("{}"), "two objects": []byte(`{}{}`), "broken off": []byte(`{"event":"build","phase":`), "NUL": {0}, "a byte order mark": []byte("\ufeff{}"),
		"nested arrays": []byte(`{"event":` + string(deep("[", "]", 400_000)) + `}`), "nested objects": deep(`{"a":`, "1}", 100_000), "nested and open": []byte(strings.Repeat(`{"a":[`, 100_000)),
		"many values": []byte(`{"event":[` + strings.Join(many, ",") + `]}`), "many names": []byte(`{"a` + strings.Join(many, `":1,"a`) + `":1}`),
		"a huge number":      []byte(`{"event":"build","pull_request":` + strings.Repeat("9", 100_000) + `}`),
		"a huge exponent":    []byte(`{"event":"build","pull_request":1e1000000000}`),
		"beyond 64 bits":     []byte(`{"event":"build","pull_request":18446744073709551616,"workflow_job":{"id":9223372036854775808,"run_id":-1}}`),
		"duplicate names":    []byte(`{"event":"build","event":"push","phase":"running","phase":"ended","build":"a","build":"b"}`),
		"invalid UTF-8":      []byte("{\"event\":\"build\",\"build\":\"\xff\xfe\"}"),
		"half a surrogate":   []byte(`{"event":"build","phase":"running","build":["\ud800"]}`),
		"gzip":               packed.Bytes(),
		"a form":             []byte("payload=" + url.QueryEscape(`{"action":"queued","workflow_job":{"id":1,"run_id":2}}`)),
		"XML":                []byte(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>`),
		"YAML":               []byte("event: build\nbuild: a\n"),
		"null for objects":   []byte(`{"workflow_job":null,"repository":null,"object_kind":null,"object_attributes":null,"build":null,"pipeline":null,"event":null,"type":null,"workflow":null,"job":null}`),
		"arrays for objects": []byte(`{"action":"queued","workflow_job":[],"repository":[],"object_kind":"pipeline","object_attributes":[],"build":[],"pipeline":[],"event":"build.running","type":"workflow-completed","workflow":[],"job":[],"name":[]}`),
		"texts for objects":  []byte(`{"action":"queued","workflow_job":"x","repository":"x","object_kind":"build","object_attributes":"x","build":"x","pipeline":"x","event":"job.started","type":"job-completed","workflow":"x","job":"x"}`),
		"missing fields":     []byte(`{"action":"queued","workflow_job":{},"repository":{},"object_kind":"pipeline","object_attributes":{},"build":{},"pipeline":{},"event":"build.running","type":"workflow-completed","workflow":{},"job":{}}`),
		"large":              append([]byte(`{"event":"`), append(bytes.Repeat([]byte("x"), build.MaxBuildBody-100), `"}`...)...),
		"too large":          bytes.Repeat([]byte("x"), build.MaxBuildBody+1),
	}
}

// Bodies that no build system sends are refused with what is wrong, at once, and begin nothing; what is kept of them is within its limits.
func TestHostileDeliveriesStartNothing(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for name, body := range hostile() {
		for system := range senders {
			for _, header := range []map[string]string{{}, {"Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip", "X-Github-Event": "workflow_job", "X-Gitlab-Event": "Job Hook", "X-Buildkite-Event": "build.running"}} {
				if len(header) > 0 && len(body) > 10_000 {
					continue // it is long enough once
				}
				began := time.Now()
				r, err := g.send(t, system, body, header)
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("%s, %s: it took %s", system, name, took)
				}
				switch code := app.CodeOf(err); {
				case code == app.EInvalid, code == app.EUnauthorized, code == app.ETooLarge, app.AsError(err).Reason == "replayed":
				case err == nil && r.Outcome != build.OutcomeStarted && r.Build == 0:
					// An event of a kind that is not known is noted.
				default:
					t.Errorf("%s, %s: %+v, %v", system, name, r, err)
				}
				if err != nil && app.AsError(err).Message == "" {
					t.Errorf("%s, %s: nothing is said", system, name)
				}
			}
		}
	}
	if n := g.newest(t); n != 0 {
		t.Errorf("%d builds were begun", n)
	}
	for system := range senders {
		list, err := g.Store.BuildDeliveries(t.Context(), app.DefaultTenant, system, 0, 200)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			if text, err := json.Marshal(d); err != nil || len(text) > 8<<10 || d.Size > build.MaxBuildBody {
				t.Errorf("%s keeps %d bytes of a delivery: %.200s, %v", system, len(text), text, err)
			}
		}
	}
	// That the webhook sends forms is said at the hook, and not to the sender.
	g.Clock.Move(time.Minute)
	_, err := g.send(t, "github", hostile()["a form"], nil)
	if app.CodeOf(err) != app.EUnauthorized {
		t.Errorf("a form is answered with %v", err)
	}
	if h, err := g.Store.BuildHook(t.Context(), app.DefaultTenant, "github"); err != nil || !strings.Contains(h.Refused, "forms") || !strings.Contains(h.Refused, "application/json") {
		t.Errorf("at the hook is %q, %v", h.Refused, err)
	}
}

// FuzzBuildDeliveries: whatever a body says that was signed right, it is taken or refused with words, never a fault of ours; what is refused
// begins nothing, and what begins belongs to a build.
func FuzzBuildDeliveries(f *testing.F) {
	samples(f, func(system string, body []byte) { f.Add(system, body) })
	for _, body := range hostile() {
		if len(body) < 10_000 {
			f.Add("github", body)
			f.Add("generic", body)
		}
	}
	g := newGate(f)
	last := int64(0)
	f.Fuzz(func(t *testing.T, system string, body []byte) {
		if _, known := senders[system]; !known {
			return
		}
		began := time.Now()
		r, err := g.send(t, system, body, nil)
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("it took %s", took)
		}
		now := g.newest(t)
		switch code := app.CodeOf(err); {
		case err == nil && r.Outcome == build.OutcomeStarted:
			b, err := g.Store.Build(t.Context(), app.DefaultTenant, r.Build)
			if err != nil || b.Key == "" || b.Event.Build == "" || len(b.Key) > build.MaxBuildKey || len(b.Spec.Cluster) > 40 {
				t.Errorf("begun is %+v, %v", b, err)
			}
			if now != last+1 {
				t.Errorf("it began %d builds", now-last)
			}
		case err == nil, code == app.EInvalid, code == app.EUnauthorized, code == app.ETooLarge, app.AsError(err).Reason == "replayed":
			if now != last && !(err == nil && r.Outcome == build.OutcomeRefused) {
				t.Errorf("%+v, %v began something", r, err)
			}
		default:
			t.Errorf("%+v, %v", r, err)
		}
		last = now
	})
}
