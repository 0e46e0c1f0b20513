package bot

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/template"
)

func asking(t *testing.T) (checkedBot, *stub) {
	b, s := talk(t)
	s.asks = []execution.ManualStep{{Operation: 41, Index: 7, Attempt: 2, Action: app.ActionConfigure, Service: "lb", Node: "n1", Cluster: "shop-7", ClusterName: "shop", Owner: "ada",
		State: execution.ManualStepOpen, Waits: "ada or an admin", Until: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC),
		Person: template.Person{Ask: "Plug the cable in,\nand say which port <!channel>.", Help: "Rack 4.", Fields: []template.PersonField{
			{Parameter: template.Parameter{Name: "port", Type: template.ParameterInteger, Required: true, Min: "1", Max: "48"}},
			{Parameter: template.Parameter{Name: "side", Type: template.ParameterChoice, Default: "left", Options: []template.ParameterOption{{Value: "left"}, {Value: "right"}}}}}}}}
	return b, s
}

func TestManualSteps(t *testing.T) {
	b, s := asking(t)
	a := b.Say(t.Context(), ada, "answer")
	if len(a.Buttons) != 1 || !strings.Contains(a.text(), "shop: lb configure on n1: Plug the cable in, and say which port <!channel>.\nWaiting for ada or an admin until 23 Nov 2026 10:00 UTC.") {
		t.Fatalf("what is asked is %+v", a)
	}
	m := b.Press(t.Context(), ada, a.Buttons[0].Value).Modal
	if m == nil || m.ID != modalManualStep || fieldOf(t, *m, "v:side").Values[0] != "=left" || !fieldOf(t, *m, "v:port").Optional {
		t.Fatalf("it opens %+v", m)
	}
	form := m.asForm(map[string]string{"v:port": "99"})
	d := b.Submit(t.Context(), ada, form)
	if len(d.Errors) != 1 || !strings.Contains(d.Errors["v:port"], "more than 48") || fieldOf(t, *d.Late, "v:port").Values[0] != "99" {
		t.Errorf("a wrong value: %+v", d)
	}
	form = m.asForm(map[string]string{"v:port": "12", "v:side": "=right"})
	if d = b.Submit(t.Context(), ada, form); d.Answer == nil || !strings.Contains(d.Answer.text(), "The operation continues.") {
		t.Errorf("answered: %+v", d)
	}
	last := s.answers[len(s.answers)-1]
	if last.Operation != 41 || last.Index != 7 || last.Attempt != 2 || last.Values["port"] != "12" || last.Values["side"] != "right" || last.Refuse != "" {
		t.Errorf("the answer is %+v", last)
	}
	form.Values["refuse"] = []string{" The rack is full. "}
	d = b.Submit(t.Context(), ada, form)
	if last = s.answers[len(s.answers)-1]; last.Refuse != "The rack is full." || len(last.Values) != 0 || !strings.Contains(d.Answer.text(), "The step fails") {
		t.Errorf("refused: %+v, %+v", last, d)
	}

	// Someone was faster, or the step is asked again.
	given := len(s.answers)
	s.asks[0].Attempt = 3
	if d = b.Submit(t.Context(), ada, form); d.Modal == nil || !strings.Contains(d.Modal.text(), "This manual step no longer needs an answer.") {
		t.Errorf("too late: %+v", d)
	}
	s.asks[0].Attempt, s.asks[0].Owner = 2, "bob"
	if d = b.Submit(t.Context(), ada, form); d.Modal == nil || !strings.Contains(d.Modal.text(), "can't answer this manual step") || len(s.answers) != given {
		t.Errorf("who is not asked: %+v", d)
	}
	if a = b.Say(t.Context(), ada, "answer shop"); a.text() != "Manual steps waiting for you\nNo manual steps are waiting for you." {
		t.Errorf("of others' questions: %s", a.text())
	}
}

func TestSecretsAreNotEnteredInChats(t *testing.T) {
	b, s := asking(t)
	s.asks[0].Person.Fields[0].Secret = true
	a := b.Press(t.Context(), ada, manualStepButton(s.asks[0], true).Value)
	if a.Modal != nil || len(a.Links) != 1 || !strings.Contains(a.text(), "asks for a secret") || !a.Beside {
		t.Errorf("it is answered %+v", a)
	}
}

func TestManualStepsAtHomeAndDirectly(t *testing.T) {
	b, s := asking(t)
	if got := (Modal{Parts: b.Home(t.Context(), ada).Parts}).text(); !strings.Contains(got, "Manual steps waiting for you\nshop: lb configure on n1") {
		t.Errorf("the home says\n%s", got)
	}
	a := b.notices.message(t.Context(), b.request(ada, s.actor), s.asks[0].AskedNotice(time.Now()))
	if len(a.Buttons) != 1 || !strings.Contains(b.Press(t.Context(), ada, a.Buttons[0].Value).text(), "Plug the cable in") {
		t.Errorf("they are told %+v", a)
	}
	if a = b.notices.message(t.Context(), b.request(ada, s.actor), s.asks[0].OverdueNotice(time.Now())); len(a.Buttons) != 0 {
		t.Errorf("when it is over, they are told %+v", a)
	}
}
