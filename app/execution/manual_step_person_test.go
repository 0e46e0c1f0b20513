package execution

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

func keyManualStep() *template.Person {
	return &template.Person{Ask: "Type the key.", Fields: []template.PersonField{
		{Parameter: template.Parameter{Name: "key", Label: "Licence key", Type: template.ParameterText, Min: "8", Pattern: "[a-z0-9]+", Required: true}, Secret: true},
		{Parameter: template.Parameter{Name: "seats", Type: template.ParameterInteger, Max: "9", Default: 5}},
		{Parameter: template.Parameter{Name: "cache", Type: template.ParameterSize, Unit: "M", Default: "2G"}}}}
}

// What was typed is read by the field's type; what is wrong is said by field, and never shows a secret.
func TestTypedValues(t *testing.T) {
	p := keyManualStep()
	got, err := p.Settle(map[string]any{"key": "hunter2hunter2", "seats": "7"})
	if err != nil || got["key"] != (app.AnswerValue{Text: "hunter2hunter2", Secret: true}) || got["seats"].Text != "7" || got["cache"].Text != "2048" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		given map[string]any
		field string
	}{
		{nil, "values.key"},
		{map[string]any{"key": ""}, "values.key"},
		{map[string]any{"key": "hush"}, "values.key"},
		{map[string]any{"key": "HUSH-HUSH-HUSH"}, "values.key"},
		{map[string]any{"key": "hushhushhush ${secret:X}"}, "values.key"},
		{map[string]any{"key": 7}, "values.key"},
		{map[string]any{"key": "hunter2hunter2", "seats": 10}, "values.seats"},
		{map[string]any{"key": "hunter2hunter2", "sets": 1}, "values.sets"},
	} {
		_, err := p.Settle(c.given)
		if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != c.field || strings.Contains(strings.ToLower(e.ForPeople()+e.Hint), "hush") {
			t.Errorf("%v: %v, field %q", c.given, err, app.AsError(err).Field)
		}
	}
}

// Macros speak of what was typed; until then it is empty, and on nodes without the service that of its first node counts.
func TestMacrosOfAnswers(t *testing.T) {
	m, err := template.ParseMacros(map[string]any{"a": "seats=%answer.app.seats%!", "b": []any{"%answer.my.app.key%"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.Asked(), " "); got != "app my.app" {
		t.Errorf("asked are %q", got)
	}
	nodes := []app.Node{{Name: "n1", Services: []string{"app"}}, {Name: "n2"}}
	shared, err := m.Shared(template.NewMacroCluster("ada", nodes))
	if err != nil {
		t.Fatal(err)
	}
	before, err := shared.For(nodes[0])
	if err != nil || before["a"] != "seats=!" {
		t.Errorf("before: %v, %v", before, err)
	}
	nodes[0].Answers = map[string]map[string]app.AnswerValue{"app": {"seats": {Text: "%host.self% 7"}}, "my.app": {"key": {Text: "k"}}}
	after, err := shared.For(nodes[0])
	if err != nil || after["a"] != "seats=%host.self% 7!" || after["b"].([]any)[0] != "k" {
		t.Errorf("after: %v, %v", after, err)
	}
	for _, wrong := range []string{"%answer.app%", "%answer.%", "%answer.app.%", "%answers.app.key%"} {
		if _, err := template.ParseMacros(map[string]any{"a": wrong}); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// A question says whom it waits for, and its notices go to them.
func TestWhomAManualStepWaitsFor(t *testing.T) {
	q := ManualStep{Tenant: "t", Cluster: "web-1", ClusterName: "web", Owner: "ada", Requester: "ada", Service: "app", Action: app.ActionConfigure, Node: "n1", Person: *keyManualStep(),
		Until: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	n := q.AskedNotice(time.Time{})
	if n.Title != "web: app configure on n1: Type the key." || len(n.Users) != 1 || n.Kind != app.NoticeManualStep || !strings.Contains(n.Text, "Waiting for ada or an admin until 2 Jan 03:04 UTC; then the step fails.") {
		t.Errorf("%+v", n)
	}
	q.Person.Who, q.Person.Not = []string{"owner", "ops"}, template.PersonRequester
	if n = q.ReminderNotice(time.Time{}); len(n.Users) != 0 || len(n.Groups) != 1 || !strings.Contains(n.Text, "Waiting for a member of ops or an admin (not ada) until") {
		t.Errorf("%+v", n)
	}
	q.Person.Who = []string{template.PersonAdmins}
	if q.Person.Owners() || len(q.Person.Groups()) != 0 {
		t.Errorf("admins alone: %v", q.Person.Groups())
	}
}
