package catalog

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"muster/app"
	"muster/app/template"
)

const asking = `kind: service
name: web
actions:
  configure:
    person:
      ask: Type the key for %host.self%.
      fields:
        - {name: key, type: text, min: 8, secret: true, required: true}
        - {name: seats, type: integer, max: 9, default: 5}
      who: [owner, ops]
      not: requester
      timeout: 2d
      once: true
  start: "true"
---
kind: template
name: base
defaults: {services: [web], config: {web: {key: "%answer.web.key%"}}}
batches: {ask: true, who: [ops], on_timeout: continue}
---
kind: template
name: shop
extends: base
`

func TestPeopleInTheCatalog(t *testing.T) {
	r := LintFS(families(), Source{Name: "c", FS: fstest.MapFS{"c.yaml": {Data: []byte(asking)}}})
	if len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	want := &template.Person{Ask: "Type the key for %host.self%.", Who: []string{"owner", "ops"}, Not: "requester", Timeout: 48 * time.Hour, Once: true,
		Fields: []template.PersonField{{Parameter: template.Parameter{Name: "key", Type: template.ParameterText, Min: "8", Required: true}, Secret: true},
			{Parameter: template.Parameter{Name: "seats", Type: template.ParameterInteger, Max: "9", Default: 5}}}}
	if got := r.Catalog.Services["web"].Actions[app.ActionConfigure].Person; !reflect.DeepEqual(got, want) {
		t.Errorf("asked is %+v, want %+v", got, want)
	}
	if got := r.Catalog.Templates["shop"].Batches; got == nil || got.Ask != template.AskBetweenBatches || !got.GoesOn() || !reflect.DeepEqual(got.Who, []string{"ops"}) {
		t.Errorf("between batches asked is %+v", got)
	}
}

// What cannot be asked is said where it is written, with what would be right.
func TestWrongManualSteps(t *testing.T) {
	for _, c := range []struct{ name, person, place, says string }{
		{"no question", "{help: x}", "person", "ask"},
		{"an empty question", `{ask: " "}`, "ask", "ask is empty"},
		{"a tool beside", "{ask: x, automator: shell}", "person", "automator"},
		{"a macro that there is not", `{ask: "%host.selv%"}`, "ask", "unknown macro"},
		{"a secret of the tenant", `{ask: "${secret:KEY}"}`, "ask", "secret"},
		{"a time that is too long", "{ask: x, timeout: 60d}", "timeout", "30d"},
		{"a time-out that there is not", "{ask: x, on_timeout: veto}", "on_timeout", "use fail or continue"},
		{"someone excluded", "{ask: x, not: owner}", "not", "can't exclude \"owner\""},
		{"the same group twice", "{ask: x, who: [a, a]}", "who", "repeated"},
		{"a field without a type", "{ask: x, fields: [{name: a}]}", "fields", "type"},
		{"a field twice", "{ask: x, fields: [{name: a, type: text}, {name: a, type: text}]}", "fields", "twice"},
		{"a secret number", "{ask: x, fields: [{name: a, type: integer, secret: true}]}", "secret", "text"},
		{"a field that sets something", "{ask: x, fields: [{name: a, type: text, to: config.b}]}", "fields", "to"},
		{"continuing without what is required", "{ask: x, on_timeout: continue, fields: [{name: a, type: text, required: true}]}", "on_timeout", "without field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := LintFS(families(), Source{Name: "c", FS: fstest.MapFS{"c.yaml": {Data: []byte("kind: service\nname: web\nactions:\n  configure:\n    person: " + c.person + "\n")}}}).Problems
			for _, p := range problems {
				if text := p.String(); strings.Contains(text, c.says) && strings.Contains(text, c.place) {
					return
				}
			}
			t.Errorf("the problems are %v", problems)
		})
	}
}
