package execution

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

func licence() template.Person {
	return template.Person{Ask: "Type the key for %host.self%.", Help: "It is on %ip.self%.", Who: []string{template.PersonOwner, "ops"}, Timeout: time.Hour,
		Fields: []template.PersonField{{Parameter: template.Parameter{Name: "key", Type: template.ParameterText}, Secret: true},
			{Parameter: template.Parameter{Name: "seats", Type: template.ParameterInteger, Default: "5"}}}}
}

var typed = map[string]app.AnswerValue{"key": {Text: "hunter2", Secret: true}, "seats": {Text: "7"}}

func (t *storeTest) questions(want int) []execution.ManualStep {
	t.Helper()
	list, err := t.Store.ManualSteps(t.Ctx, kit.Tenant, execution.ManualStepFilter{Limit: 100})
	t.Must(err)
	if len(list) != want {
		t.Fatalf("%d questions are open, want %d: %+v", len(list), want, list)
	}
	return list
}

func (t *storeTest) answer(q execution.ManualStep, user, refuse string, values map[string]app.AnswerValue) (execution.ManualStep, error) {
	return t.Store.AnswerManualStep(t.Ctx, execution.NewAnswer{Tenant: kit.Tenant, Operation: q.Operation, Index: q.Index, Attempt: q.Attempt,
		Refuse: refuse, Values: values,
		Who: app.Actor{Tenant: kit.Tenant, User: user, Role: app.RoleUser, Via: app.ViaPortal}, Now: t.Clock.Now()})
}

func (t *storeTest) notified(kind app.NoticeKind) (titles []string) {
	t.Helper()
	list, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 1000)
	t.Must(err)
	for _, n := range list {
		if n.Kind == kind {
			titles = append(titles, n.Title)
		}
	}
	return titles
}

// asksPeople: a step of a person is asked, holds neither node nor worker, and continues with what was typed. One answer counts.
func (t *storeTest) asksPeople() {
	op := t.AskPerson(1, licence())
	if got := t.States(op.ID); got != "n1.create succeeded, n1.a.configure asked, n1.a.start waiting, n1.b.start succeeded" {
		t.Fatalf("while a person is asked the steps are %s", got)
	}
	q := t.questions(1)[0]
	if q.Step != "n1.a.configure" || q.Node != "n1" || q.Service != "a" || q.Attempt != 1 || q.State != execution.ManualStepOpen || q.ClusterName != "web" || q.Owner != "ada" ||
		q.Kind != app.OperationCreate || !q.RequestedAt.Equal(t.Clock.Now()) || !q.Until.Equal(t.Clock.Now().Add(time.Hour)) {
		t.Fatalf("the question is %+v", q)
	}
	if q.Person.Ask != "Type the key for web-1-n1.internal." || q.Person.Help != "It is on 10.0.0.1." {
		t.Fatalf("asked is %q, with the help %q", q.Person.Ask, q.Person.Help)
	}
	if notified := t.notified(app.NoticeManualStep); len(notified) != 1 || !strings.Contains(notified[0], "Type the key for web-1-n1.internal.") {
		t.Fatalf("sent is %q", notified)
	}
	if _, err := t.Store.ManualStep(t.Ctx, "t2", q.Operation, q.Index); app.CodeOf(err) != app.ENotFound {
		t.Fatalf("another tenant sees the question: %v", err)
	}
	old := q
	old.Attempt = 2
	_, err := t.answer(old, "ada", "", typed)
	t.Code(err, app.EConflict)
	done, err := t.answer(q, "bob", "", typed)
	t.Must(err)
	if done.State != execution.ManualStepAnswered || done.AnsweredBy != "bob" || !done.AnsweredAt.Equal(t.Clock.Now()) {
		t.Fatalf("after the answer the question is %+v", done)
	}
	_, err = t.answer(q, "ada", "too late", nil)
	if e := app.AsError(err); e.Code != app.EConflict || e.Reason != "answered" || !strings.Contains(e.Message, "bob") {
		t.Fatalf("the second answer was reported %v", err)
	}
	answers, err := t.Store.Answers(t.Ctx, kit.Tenant, "web-1", []string{"n1", "n9"})
	t.Must(err)
	if fmt.Sprint(answers) != fmt.Sprint([]execution.NodeAnswer{{Node: "n1", Service: "a", Values: typed}}) {
		t.Fatalf("the answers are %+v", answers)
	}
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenant: kit.Tenant, Limit: 100})
	t.Must(err)
	found := false
	for _, e := range entries {
		if strings.Contains(e.Detail, "hunter2") {
			t.Fatalf("the audit shows a secret: %s", e.Detail)
		}
		found = found || e.Act == "step.answer" && e.Who == "bob" && e.Object == "web-1"
	}
	if !found {
		t.Fatal("the answer is not in the audit")
	}
	if ids := t.Drain(); fmt.Sprint(ids) != "[n1.a.start]" {
		t.Fatalf("after the answer %v was done", ids)
	}
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(1), true)
	t.Drain()
	if answers, err = t.Store.Answers(t.Ctx, kit.Tenant, "web-1", []string{"n1"}); err != nil || len(answers) > 0 && answers[0].Values["key"].Text != "" {
		t.Fatalf("what was typed is kept of a cluster that is gone: %+v, %v", answers, err)
	}
}

// answersRace: of many answers at the same time just one counts, and the others are notified whose.
func (t *storeTest) answersRace() {
	t.AskPerson(1, licence())
	q := t.questions(1)[0]
	const many = 8
	var all sync.WaitGroup
	errs := make([]error, many)
	for i := range many {
		all.Go(func() {
			why := ""
			if i%2 == 1 {
				why = "no"
			}
			_, errs[i] = t.answer(q, fmt.Sprint("p", i), why, nil)
		})
	}
	all.Wait()
	won := -1
	for i, err := range errs {
		if err == nil && won >= 0 {
			t.Fatalf("p%d and p%d have both answered", won, i)
		}
		if err == nil {
			won = i
		}
	}
	if won < 0 {
		t.Fatalf("no one has answered: %v", errs)
	}
	for i, err := range errs {
		if e := app.AsError(err); i != won && (e.Reason != "answered" || !strings.Contains(e.Message, fmt.Sprintf("p%d ", won))) {
			t.Fatalf("p%d was reported %v, and p%d has answered", i, err, won)
		}
	}
	now, err := t.Store.ManualStep(t.Ctx, kit.Tenant, q.Operation, q.Index)
	t.Must(err)
	if want := map[bool]execution.ManualStepState{true: execution.ManualStepRefused,
		false: execution.ManualStepAnswered}[won%2 == 1]; now.State != want || now.AnsweredBy != fmt.Sprint("p", won) {
		t.Fatalf("p%d has answered, and the question is %+v", won, now)
	}
}

// refuses: who refuses ends the step for good, with the reason; a resume asks again, and the old attempt is over.
func (t *storeTest) refuses() {
	op := t.AskPerson(1, licence())
	q := t.questions(1)[0]
	_, err := t.answer(q, "bob", "the record is wrong", nil)
	t.Must(err)
	t.questions(0)
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	if o := t.Operation("web-1", op.ID); !strings.Contains(o.Message, "bob refused: the record is wrong") {
		t.Fatalf("the operation says %q", o.Message)
	}
	t.Clock.Move(time.Minute)
	t.Control(op.ID, app.ControlResume, "")
	again := t.questions(1)[0]
	if again.Attempt != q.Attempt+1 || !again.Until.Equal(t.Clock.Now().Add(time.Hour)) || again.Reason != "" || again.AnsweredBy != "" {
		t.Fatalf("asked again, the question is %+v", again)
	}
	_, err = t.answer(q, "ada", "", typed)
	if e := app.AsError(err); e.Code != app.EConflict || e.Reason != "not_asked" {
		t.Fatalf("an answer to the old attempt was reported %v", err)
	}
	_, err = t.answer(again, "ada", "", typed)
	t.Must(err)
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}

// answersInTime: half of the time over, people are reminded once; all of it over, the step fails or continues with the defaults.
func (t *storeTest) answersInTime() {
	p := licence()
	op := t.AskPerson(1, p)
	sweep := func(d time.Duration) {
		t.Clock.Move(d)
		_, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
		t.Must(err)
	}
	sweep(29 * time.Minute)
	if n := len(t.notified(app.NoticeManualStep)); n != 1 {
		t.Fatalf("%d notices before half of the time", n)
	}
	for range 3 {
		sweep(time.Minute)
	}
	if notified := t.notified(app.NoticeManualStep); len(notified) != 2 || !strings.HasPrefix(notified[1], "Still waiting") {
		t.Fatalf("at half of the time sent is %q", notified)
	}
	sweep(time.Hour)
	q, err := t.Store.ManualStep(t.Ctx, kit.Tenant, op.ID, 1)
	t.Must(err)
	if q.State != execution.ManualStepOverdue {
		t.Fatalf("no one answered, and the question is %+v", q)
	}
	t.Status("web-1", app.ClusterFailed, app.OperationFailed)
	if notified := t.notified(app.NoticeManualStep); len(notified) != 3 || !strings.HasPrefix(notified[2], "Not answered in time") {
		t.Fatalf("when it is over sent is %q", notified)
	}
	_, err = t.answer(q, "ada", "", typed)
	t.Code(err, app.EConflict)
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(1), true)
	t.Drain()

	p.OnTimeout = template.AnswerContinue
	n := apptest.NewCluster(kit.Tenant, "shop", 1, t.Clock.Now(), kit.Asking(1, p))
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.Drain()
	// A clock that was set back does not end it, nor make it last for days.
	sweep(-100 * time.Hour)
	if q = t.questions(1)[0]; !q.Until.Equal(t.Clock.Now().Add(time.Hour)) {
		t.Fatalf("the clock was set back to %s, and the question is open until %s", t.Clock.Now(), q.Until)
	}
	sweep(time.Hour)
	t.questions(0)
	answers, err := t.Store.Answers(t.Ctx, kit.Tenant, "shop-1", []string{"n1"})
	t.Must(err)
	if len(answers) != 1 || answers[0].Values["seats"].Text != "5" || answers[0].Values["key"].Text != "" {
		t.Fatalf("it continued with %+v", answers)
	}
	t.Drain()
	t.Status("shop-1", app.ClusterActive, app.OperationSucceeded)
}

// stopsAsking: a pause takes a question back and a resume asks again; a cancel and a delete end it at once.
func (t *storeTest) stopsAsking() {
	op := t.AskPerson(2, licence())
	q := t.questions(2)[0]
	t.Control(op.ID, app.ControlPause, "")
	t.questions(0)
	_, err := t.answer(q, "ada", "", typed)
	if e := app.AsError(err); e.Reason != "not_asked" || !strings.Contains(e.Message, "paused") {
		t.Fatalf("an answer to what is paused was reported %v", err)
	}
	t.Clock.Move(5 * time.Hour)
	_, err = t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	if o := t.Operation("web-1", op.ID); o.Status != app.OperationPaused {
		t.Fatalf("paused for longer than someone may take to answer, the operation is %s", o.Status)
	}
	t.Control(op.ID, app.ControlResume, "")
	if again := t.questions(2)[0]; again.Attempt != 2 {
		t.Fatalf("resumed, the question is %+v", again)
	}
	if o := t.Control(op.ID, app.ControlCancel, ""); o.Status != app.OperationCancelled {
		t.Fatalf("cancelled while only people are asked, the operation is %s", o.Status)
	}
	t.questions(0)
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(2), true)
	t.Drain()

	_, err = t.Store.CreateCluster(t.Ctx, apptest.NewCluster(kit.Tenant, "shop", 1, t.Clock.Now(), kit.Asking(1, licence())))
	t.Must(err)
	t.Drain()
	q = t.questions(1)[0]
	t.Submit(app.OperationDelete, "shop-1", apptest.Remove(1), true)
	t.questions(0)
	_, err = t.answer(q, "ada", "", typed)
	t.Code(err, app.EConflict)
	if ids := t.Drain(); fmt.Sprint(ids) != "[n1.delete]" {
		t.Fatalf("deleted while asked, %v was done", ids)
	}
	t.Status("shop-1", app.ClusterDeleted, app.OperationSucceeded)
}

// answersOnce: where one answer counts for all nodes, people are notified once, and nodes that come later take it over.
func (t *storeTest) answersOnce() {
	p := licence()
	p.Once = true
	op, err := t.Store.CreateCluster(t.Ctx, apptest.NewCluster(kit.Tenant, "web", 3, t.Clock.Now(), kit.Asking(3, p)))
	t.Must(err)
	// n1 and n2 are made; n3 is not yet.
	var last *execution.ClaimedStep
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if c.Step.ID == "n3.create" {
			last = c
			continue
		}
		t.Finish(c, false)
	}
	q := t.questions(2)[1]
	if notified := t.notified(app.NoticeManualStep); len(notified) != 1 {
		t.Fatalf("sent is %q", notified)
	}
	_, err = t.answer(q, "bob", "", typed)
	t.Must(err)
	t.questions(0)
	t.Finish(last, false)
	t.questions(0)
	if notified := t.notified(app.NoticeManualStep); len(notified) != 1 {
		t.Fatalf("sent is %q", notified)
	}
	answers, err := t.Store.Answers(t.Ctx, kit.Tenant, "web-1", []string{"n1", "n2", "n3"})
	t.Must(err)
	if len(answers) != 3 || answers[0].Values["key"].Text != "hunter2" || answers[2].Values["key"].Text != "hunter2" {
		t.Fatalf("the answers are %+v", answers)
	}
	t.Drain()
	if o := t.Operation("web-1", op.ID); o.Status != app.OperationSucceeded || o.Done != o.Total {
		t.Fatalf("the operation is %+v", o)
	}
}
