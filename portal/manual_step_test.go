package portal

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/identity"
	appplan "muster/app/plan"
	"muster/app/template"
)

// asked makes a cluster of ada's whose operation asks; the requester is ada, too.
func (o *fullSite) asked(name string, p template.Person) execution.ManualStep {
	o.Helper()
	plan := appplan.Plan{Kind: app.OperationCreate, ManualSteps: map[string]*template.Person{"a.configure": &p},
		Steps: []appplan.Step{{ID: "n1.a.configure", Node: "n1", Service: "a", Action: app.ActionConfigure, Asks: "a.configure"}}}
	n := apptest.NewCluster(app.DefaultTenant, name, 1, o.clock.now(), plan)
	n.Cluster.Visibility = app.VisibleTenant
	op, err := o.store.CreateCluster(o.Context(), n)
	if err != nil {
		o.Fatal(err)
	}
	q, err := o.store.ManualStep(o.Context(), app.DefaultTenant, op.ID, 0)
	if err != nil {
		o.Fatal(err)
	}
	return q
}

func answerForm(q execution.ManualStep, more ...string) url.Values {
	form := url.Values{"operation": {strconv.FormatInt(q.Operation, 10)}, "index": {strconv.Itoa(q.Index)}, "attempt": {strconv.Itoa(q.Attempt)}, "act": {"go"}}
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

var withKey = template.Person{Ask: "Type the licence key.", Help: "It came by post.", Fields: []template.PersonField{
	{Parameter: template.Parameter{Name: "key", Label: "Licence key", Type: template.ParameterText, Min: "8", Required: true}, Secret: true},
	{Parameter: template.Parameter{Name: "seats", Type: template.ParameterInteger, Max: "9", Default: 5}}}}

// A manual step is on its cluster's page and on the page of manual steps, with typed fields. Errors are shown beside the fields; what is secret
// comes back nowhere.
func TestManualStepsAreAnsweredOnPages(t *testing.T) {
	o := newFullSite(t)
	q := o.asked("web", withKey)
	ada := o.at("ada")
	for _, path := range []string{"/manual-steps", "/clusters/web-1"} {
		page := ada.get(path)
		if text := page.text(); page.status != http.StatusOK || !strings.Contains(text, "Type the licence key.") || !strings.Contains(text, "It came by post.") ||
			!strings.Contains(page.body, `type="password"`) || !strings.Contains(text, "Manual steps 1") {
			t.Fatalf("%s: %d %s", path, page.status, text)
		}
	}
	prefix := "q" + strconv.FormatInt(q.Operation, 10) + "-0-1-set-"
	for _, c := range []struct{ name, says, back string }{{"key", "shorter than 8 characters", ""}, {"seats", "more than 9", "questions"}} {
		form := answerForm(q, prefix+"key", "sesame-open", prefix+"seats", "7", "back", c.back)
		form.Set(prefix+c.name, map[string]string{"key": "hush", "seats": "70"}[c.name])
		page := ada.post("/clusters/web-1/answers", form)
		if page.status != http.StatusUnprocessableEntity || !strings.Contains(page.text(), c.says) || strings.Contains(page.body, "sesame") || strings.Contains(page.body, "hush") {
			t.Errorf("a wrong %s is answered %d: %s", c.name, page.status, page.text())
		}
	}
	if page := ada.post("/clusters/web-1/answers", answerForm(q, "act", "refuse", "refuse", " ")); page.status != http.StatusUnprocessableEntity || !strings.Contains(page.text(), "Enter a reason.") {
		t.Errorf("a refusal without a reason is answered %d", page.status)
	}
	if page := ada.post("/clusters/web-1/answers", url.Values{"operation": {"x"}}); page.status != http.StatusBadRequest && page.status != http.StatusUnprocessableEntity {
		t.Errorf("an answer to nothing is answered %d", page.status)
	}
	if page := o.at("vic").post("/clusters/web-1/answers", answerForm(q)); page.status != http.StatusForbidden {
		t.Errorf("an answer of a viewer is answered %d", page.status)
	}
	done := ada.post("/clusters/web-1/answers", answerForm(q, prefix+"key", "sesame-open", prefix+"seats", "7", "back", "questions"))
	if done.status != http.StatusSeeOther || done.header.Get("Location") != "/manual-steps" {
		t.Fatalf("the answer is answered %d: %s", done.status, done.text())
	}
	if page := o.at("boss").post("/clusters/web-1/answers", answerForm(q, "act", "refuse", "refuse", "no")); page.status != http.StatusConflict || !strings.Contains(page.text(), "Already answered by ada") {
		t.Errorf("the second answer is answered %d: %s", page.status, page.text())
	}
	if page := ada.get("/manual-steps"); !strings.Contains(page.text(), "Nothing is waiting for you.") {
		t.Errorf("after the answer: %s", page.text())
	}
	answers, err := o.store.Answers(t.Context(), app.DefaultTenant, "web-1", []string{"n1"})
	if err != nil || len(answers) != 1 || answers[0].Values["key"].Text != "sesame-open" || answers[0].Values["seats"].Text != "7" {
		t.Errorf("what was typed is %+v, %v", answers, err)
	}
}

// The template says who can answer, and can exclude the requester, whatever the role. Others see who it waits for.
func TestWhoMayAnswer(t *testing.T) {
	o := newFullSite(t)
	if err := func() error {
		_, err := o.app.Identity.Groups.SaveGroup(t.Context(), o.actor("boss"), identity.GroupChange{Name: "ops", Members: &[]string{"cy"}})
		return err
	}(); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name string
		who  []string
		not  string
		may  string
	}{
		{"the owner by default", nil, "", "ada boss"},
		{"a group", []string{"ops"}, "", "cy boss"},
		{"a group and the owner", []string{"ops", "owner"}, "", "ada cy boss"},
		{"admins", []string{"admins"}, "", "boss"},
		{"not the requester", []string{"owner", "ops"}, "requester", "cy boss"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := o.asked("c"+strconv.Itoa(i), template.Person{Ask: "Continue?", Who: c.who, Not: c.not})
			var may []string
			for _, user := range []string{"ada", "bob", "cy", "vic", "boss"} {
				list, err := o.app.Execution.ManualSteps.ManualSteps(t.Context(), o.actor(user), execution.ManualStepQuery{Cluster: q.Cluster})
				if err != nil || len(list) != 1 {
					t.Fatalf("%s sees %v, %v", user, list, err)
				}
				if list[0].Mine {
					may = append(may, user)
				}
				// No one is let through by an answer that is wrong for another reason: the right to give it is looked at first.
				_, err = o.app.Execution.ManualSteps.AnswerStep(t.Context(), o.actor(user), q.Cluster, execution.StepAnswer{Operation: q.Operation, Index: q.Index, Attempt: q.Attempt + 1})
				if forbidden := app.CodeOf(err) == app.EForbidden; forbidden == list[0].Mine {
					t.Errorf("%s, who may answer (%t), gets %v", user, list[0].Mine, err)
				}
			}
			if got := strings.Join(may, " "); got != c.may {
				t.Errorf("%q may answer, want %q", got, c.may)
			}
			if _, err := o.app.Execution.ManualSteps.AnswerStep(t.Context(), o.actor("boss"), q.Cluster, execution.StepAnswer{Operation: q.Operation, Index: q.Index, Attempt: q.Attempt}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Over REST the same: the list, what is wrong with a field, and who was faster.
func TestManualStepsOverREST(t *testing.T) {
	o := newFullSite(t)
	q := o.asked("web", withKey)
	var list struct {
		ManualSteps []execution.ManualStep `json:"manual_steps"`
	}
	if status, _ := o.api("cy", "GET", "/manual-steps?mine=true", nil, &list); status != http.StatusOK || len(list.ManualSteps) != 0 {
		t.Errorf("%d: cy has %+v", status, list)
	}
	if status, _ := o.api("ada", "GET", "/manual-steps?mine=true&cluster=web", nil, &list); status != http.StatusOK || len(list.ManualSteps) != 1 || list.ManualSteps[0].Waits != "ada or an admin" {
		t.Fatalf("%d: ada has %+v", status, list)
	}
	var problem map[string]any
	wrong := execution.StepAnswer{Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Values: map[string]any{"key": "sesame-open", "sets": 3}}
	if status, _ := o.api("ada", "POST", "/clusters/web/answers", wrong, &problem); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
		t.Errorf("a field that there is not is answered %d: %v", status, problem)
	}
	wrong.Values = map[string]any{"key": "sesame-open", "seats": 3}
	var done execution.ManualStep
	if status, _ := o.api("ada", "POST", "/clusters/web/answers", wrong, &done); status != http.StatusOK || done.State != execution.ManualStepAnswered || done.AnsweredBy != "ada" {
		t.Errorf("the answer is answered %d: %+v", status, done)
	}
	if status, _ := o.api("boss", "POST", "/clusters/web/answers", wrong, &problem); status != http.StatusConflict {
		t.Errorf("the second answer is answered %d: %v", status, problem)
	}
}
