package cel_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/build"
	"muster/app/file/spec"
	"muster/app/label"
	"muster/app/policy/cel"
)

var push = app.BuildEvent{System: "github", Event: "push", Phase: build.PhaseRunning, Build: "octo/web/1", Branch: "feature/Über", Labels: []string{"muster"}, PullRequest: 7,
	Payload: map[string]any{"n": int64(3), "list": []any{"a", int64(1)}, "deep": map[string]any{"url": "https://ci.example.com/told"}, "long": strings.Repeat("x", 5000)}}

// A callback is put together like other texts; where that cannot be done the rule applies all the same, and says why there is no callback.
func TestCallbacksArePutTogether(t *testing.T) {
	t.Parallel()
	e := cel.NewBuilds()
	for callback, want := range map[string][2]string{
		"":                                      {"", ""},
		"none":                                  {"none", ""},
		"https://ci.example.com/${event.build}": {"https://ci.example.com/octo/web/1", ""},
		"${event.payload.deep.url}":             {"https://ci.example.com/told", ""},
		"${event.payload.n}":                    {"3", ""},
		"${event.payload.gone}":                 {"", "no such key: gone"},
		"${event.payload.long}":                 {"", "must be at most"},
		"https://a/${event.payload.long}":       {"", "must be at most"},
		"${has(event.payload.gone) ? event.payload.gone : ''}": {"", ""},
	} {
		r := build.Rule{Name: "web", When: "true", Do: build.ActionCreate, Template: "web", Callback: callback}
		if err := e.CheckRule(r); err != nil {
			t.Errorf("%s: %v", callback, err)
			continue
		}
		j, err := e.JudgeRule(t.Context(), r, push)
		if err != nil || !j.Applies || j.Ask.Template != "web" || j.Callback != want[0] || !strings.Contains(j.CallbackWhy, want[1]) || want[1] == "" && j.CallbackWhy != "" {
			t.Errorf("%s: %q, %q, %v; want %q", callback, j.Callback, j.CallbackWhy, err, want)
		}
	}
}

// What an event says becomes what a label can be; one of nothing is left out.
func TestLabelsOfBuilds(t *testing.T) {
	t.Parallel()
	e := cel.NewBuilds()
	r := build.Rule{Name: "web", When: "true", Do: build.ActionCreate, Template: "web", Labels: map[string]string{
		"branch": "${event.branch}", "list": "[${event.build}]", "none": "${has(event.payload.gone) ? event.payload.gone : ''}", "long": "${event.payload.long}"}}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if err := e.CheckRule(r); err != nil {
		t.Fatal(err)
	}
	j, err := e.JudgeRule(t.Context(), r, push)
	want := label.Labels{"branch": "feature/Über", "list": "_octo/web/1_", "long": strings.Repeat("x", label.MaxValue)}
	if err != nil || !maps.Equal(j.Ask.Labels, want) || !maps.Equal(j.Ask.Request().Labels, want) || label.Check(j.Ask.Labels) != nil {
		t.Errorf("%v, %v", j.Ask.Labels, err)
	}
	for name, labels := range map[string]map[string]string{"reserved": {"muster-node": "x"}, "capitals": {"Team": "x"}} {
		r.Labels = labels
		if r.Check() == nil {
			t.Errorf("%s: it's taken", name)
		}
	}
	r.Labels = map[string]string{"team": "${evnt.branch}"}
	if err := e.CheckRule(r); err == nil || app.AsError(err).Field != "labels.team" {
		t.Errorf("a wrong text: %v", err)
	}
}

// fieldsOfRules are where something can be wrong.
var fieldsOfRules = []string{"when", "key", "template", "cluster", "callback", "parameters", "labels"}

// FuzzBuildRules: whatever a rule and an event say, the rule is refused with its place, or evaluated within bounds, and each time alike. It is
// written and read as what it was.
func FuzzBuildRules(f *testing.F) {
	e := cel.NewBuilds()
	for _, s := range [][3]string{
		{`event.event == "push" && event.branch.startsWith("feature/")`, `event.build`, "ci-${event.branch}"},
		{`"muster" in event.labels`, `string(event.pull_request)`, "${event.payload.deep.url}"},
		{`event.payload.list.all(x, event.payload.list.all(y, event.payload.list.all(z, x != y || y != z)))`, `event.payload.long + event.payload.long`, "${event.payload}"},
		{`has(event.payload.gone)`, `event.payload.n`, "${{'a': [1, 2.5, null, timestamp('2026-01-01T00:00:00Z'), b'x', 1u]}}"},
		{`event.payload.long.matches("(x+)+$")`, `"\x00\xff"`, "${'}'}${\"${\"}"},
		{`event.pull_request / 0 == 1`, `event.labels[9]`, "${event.payload.long}${event.payload.long}"},
		{`event.build.size() > 9223372036854775807`, `event.`, "${"},
		{`duration("1h") > duration(event.payload.long)`, `[1,2,3].map(x, event.payload.list.map(y, event.payload.long))[0][0]`, "${duration('1h')}"},
	} {
		f.Add(s[0], s[1], s[2], `{"n": 3, "list": ["a", 1, {"b": null}], "deep": {"url": "https://ci.example.com"}, "long": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx!"}`)
	}
	f.Fuzz(func(t *testing.T, when, key, text, payload string) {
		if len(when) > 2000 || len(key) > 2000 || len(text) > 500 || len(payload) > 64<<10 {
			return // what is longer is not let in
		}
		event := push
		event.Payload = map[string]any{}
		_ = json.Unmarshal([]byte(payload), &event.Payload)
		r := build.Rule{Name: "fuzz", When: when, Do: build.ActionCreate, Key: key, Template: text, Cluster: text, Callback: text,
			Parameters: map[string]any{"text": text, "deep": map[string]any{"list": []any{text, 1.0, true, nil}}}}
		written, err := spec.BuildRules([]build.Rule{r})
		if err != nil {
			t.Fatalf("it cannot be written: %v", err)
		}
		if read, err := spec.ReadBuildRules(written); err != nil || utf8.ValidString(when+key+text) && !reflect.DeepEqual(read, []build.Rule{r}) {
			t.Fatalf("written as\n%s\nit is read as %+v, %v", written, read, err)
		}
		began := time.Now()
		if err := e.CheckRule(r); err != nil {
			wrong := app.AsError(err)
			field, _, _ := strings.Cut(wrong.Field, ".")
			if wrong.Code != app.EInvalid || !slices.Contains(fieldsOfRules, field) || wrong.Message == "" || len(wrong.Message) > 10<<10 {
				t.Fatalf("it is refused as %+v", wrong)
			}
			if again := e.CheckRule(r); again == nil || again.Error() != err.Error() {
				t.Fatalf("refused is first %v, then %v", err, again)
			}
		}
		j, err := e.JudgeRule(t.Context(), r, event)
		if took := time.Since(began); took > 2*time.Minute {
			t.Fatalf("it took %s", took)
		}
		if err != nil {
			if c := app.CodeOf(err); c != app.EInvalid && c != app.ETimeout {
				t.Fatalf("it can't be encoded: %v", err)
			}
			if j.Applies {
				t.Fatalf("with %v it applies", err)
			}
			return
		}
		const most = 4 << 10
		if len(j.Callback) > most || len(j.CallbackWhy) > most || len(j.Ask.Template) > most || len(j.Ask.Cluster) > 40 || len(j.Key) > 2<<20 || tooLarge(j.Ask.Parameters) {
			t.Fatalf("it asks for too much: %d bytes of key, %+v", len(j.Key), j)
		}
		if _, err := json.Marshal(j.Ask); err != nil {
			t.Fatalf("it asks for what cannot be kept: %v", err)
		}
		if again, err := e.JudgeRule(t.Context(), r, event); err == nil && !reflect.DeepEqual(again, j) {
			t.Fatalf("it is first %+v, then %+v", j, again)
		}
	})
}

func tooLarge(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) > 4<<10
	case []any:
		return slices.ContainsFunc(v, tooLarge)
	case map[string]any:
		for _, e := range v {
			if tooLarge(e) {
				return true
			}
		}
	}
	return false
}
