package buildsystemtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/build"
)

var update = flag.Bool("update", false, "write what payloads give to testdata/*.golden")

// read understands a body as it would be after it was verified.
func (m Member) read(body []byte, event string) (app.BuildEvent, error) {
	return m.Systems.Read(build.Delivery{System: m.Name, Event: event, Body: body})
}

func (m Member) golden(t *testing.T, name string, body []byte) {
	s, secret := m.Schemes[0], m.Secret(0)
	d, err := m.verify(m.headers(s, secret, "id-1", now, body), body, secret)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Systems.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	Limits(t, e)
	if e.Event != d.Event || e.Payload == nil {
		t.Errorf("Verify calls it %q, Read %q; payload %v", d.Event, e.Event, e.Payload != nil)
	}
	got, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: write it with -update, and review it", err)
	}
	if strings.TrimSpace(string(want)) != string(got) {
		t.Errorf("it returns\n%s\nwant\n%s", got, want)
	}
}

// Limits fails where an event is not within what app.BuildEvent promises.
func Limits(t *testing.T, e app.BuildEvent) {
	t.Helper()
	texts := append([]string{e.Event, e.Action, e.Job, e.JobID, e.Result, e.Repository, e.Branch, e.Tag, e.Commit, e.Actor, e.URL, e.Build}, e.Labels...)
	for _, s := range texts {
		if len(s) > build.MaxBuildField || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("it has a text that is too long or not clean: %.100q", s)
		}
	}
	if len(e.Build) > build.MaxBuildKey || len(e.Labels) > 50 || e.PullRequest < 0 || e.Fork && e.ForkUnknown || e.URL != "" && !strings.HasPrefix(e.URL, "https://") {
		t.Errorf("it is beyond its limits: %+v", e)
	}
	switch e.Phase {
	case build.PhaseQueued, build.PhaseRunning, build.PhaseEnded:
		if e.Build == "" {
			t.Errorf("it is %s and of no build", e.Phase)
		}
	case build.PhaseOther:
	default:
		t.Errorf("its phase is %q", e.Phase)
	}
	if e.Result != "" && e.Phase != build.PhaseEnded && e.System != "generic" {
		t.Errorf("it has the result %q and is %s", e.Result, e.Phase)
	}
}

// hostile puts what does not belong there in every place of a payload. It is refused with that place, or makes no difference.
func (m Member) hostile(t *testing.T, body []byte) {
	good, err := m.read(body, "")
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := json.Marshal(good)
	walk(decode(t, body), "", func(place string, old any, with func(any) []byte) {
		for _, bad := range []any{nil, true, json.Number("7"), json.Number("-3"), json.Number("1.5"), json.Number("99999999999999999999"), "x\x00\u202e" + strings.Repeat("é", 2000), "", "http://[::1", []any{}, []any{[]any{}}, map[string]any{}, map[string]any{"id": []any{}}} {
			changed := with(bad)
			e, err := m.read(changed, good.Event)
			if err != nil {
				if a := app.AsError(err); a.Code != app.EInvalid || a.Field == "" || a.Message == "" {
					t.Errorf("%s as %T: %v", place, bad, err)
				}
				continue
			}
			Limits(t, e)
			if got, _ := json.Marshal(e); bad != nil && old != nil && kind(bad) != kind(old) && string(got) != string(plain) && place != "build.pull_request.id" {
				t.Errorf("%s as %T silently returns another event: %s", place, bad, got)
			}
		}
	})
}

// rubbish is refused, with a place, whatever event it is said to be.
func (m Member) rubbish(t *testing.T, payloads map[string][]byte) {
	good, err := m.read(payloads[slices.Sorted(maps.Keys(payloads))[0]], "")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing": "", "null": "null", "a list": "[]", "a number": "1", "a text": `"x"`, "no end": `{"a":`, "a wrong end": `{"a":1]`, "two": `{}{}`, "rubbish behind": "{} x",
		"deep lists": `{"a":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + "}", "deep objects": strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"a name twice": `{"action":"queued","action":"completed"}`, "a name twice below": `{"a":{"b":1,"b":1}}`, "no UTF-8": "{\"a\":\"\xff\"}", "a huge number": `{"a":1e999}`,
		"many values": `{"a":[` + strings.Repeat("1,", 200_000) + "1]}", "no name": `{1:2}`, "a trailing comma": `{"a":1,}`, "a comment": `{"a":1/**/}`, "a byte order mark": "\ufeff{}",
		"no number": `{"a":NaN}`, "leading zeros": `{"a":01}`, "a control character": "{\"a\":\"\n\"}", "another encoding": "\xfe\xff\x00{\x00}",
	} {
		e, err := m.read([]byte(text), good.Event)
		if a := app.AsError(err); err == nil || a.Code != app.EInvalid || a.Field == "" || len(a.Message) > 600 {
			t.Errorf("%s: %v, %+v", name, err, e.Phase)
		}
	}
	if _, err := m.read(make([]byte, build.MaxBuildBody+1), good.Event); app.CodeOf(err) != app.ETooLarge {
		t.Errorf("a body that is too large: %v", err)
	}
}

func (m Member) unknown(t *testing.T) {
	if m.Unknown == "" {
		return
	}
	body := []byte(m.Unknown)
	h := m.headers(m.Schemes[0], m.Secret(0), "id-1", now, body)
	d, err := m.verify(h, body, m.Secret(0))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := m.Systems.Read(d); err != nil || e.Phase != build.PhaseOther || e.Build != "" || e.Event == "" {
		t.Errorf("an event that is not understood: %+v, %v", e, err)
	}
}

func decode(t *testing.T, body []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// walk visits every place of a value; with returns the whole with something else there.
func walk(root any, _ string, visit func(place string, old any, with func(any) []byte)) {
	var down func(v any, place string, set func(any))
	whole := func() []byte {
		b, err := json.Marshal(root)
		if err != nil {
			panic(err) // it was JSON before
		}
		return b
	}
	down = func(v any, place string, set func(any)) {
		if set != nil {
			visit(strings.TrimPrefix(place, "."), v, func(bad any) []byte {
				set(bad)
				defer set(v)
				return whole()
			})
		}
		switch v := v.(type) {
		case map[string]any:
			for name, one := range v {
				down(one, place+"."+name, func(x any) { v[name] = x })
			}
		case []any:
			for i, one := range v {
				down(one, fmt.Sprintf("%s[%d]", place, i), func(x any) { v[i] = x })
			}
		}
	}
	down(root, "", nil)
}

func kind(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case json.Number:
		return "number"
	}
	return fmt.Sprintf("%T", v)
}
