package apptest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
)

// Asking is a plan that creates nodes, asks a person about each, and then starts a service that waited for the answer, and another
// one that did not.
func Asking(nodes int, p app.Person) app.Plan {
	plan := app.Plan{Kind: app.OperationCreate, Questions: map[string]*app.Person{"a.configure": &p}}
	add := func(s app.PlanStep) int {
		s.Rank = time.Duration(100-len(plan.Steps)) * time.Second
		plan.Steps = append(plan.Steps, s)
		return len(plan.Steps) - 1
	}
	for i := 1; i <= nodes; i++ {
		n := app.NodeName(i)
		created := add(app.PlanStep{ID: n + ".create", Node: n, Action: app.ActionCreate})
		asked := add(app.PlanStep{ID: n + ".a.configure", Node: n, Service: "a", Action: app.ActionConfigure, Asks: "a.configure", Needs: []int{created}})
		add(app.PlanStep{ID: n + ".a.start", Node: n, Service: "a", Action: app.ActionStart, Needs: []int{asked}})
		add(app.PlanStep{ID: n + ".b.start", Node: n, Service: "b", Action: app.ActionStart, Needs: []int{created}})
	}
	return plan
}

func licence() app.Person {
	return app.Person{Ask: "Type the key for %host.self%.", Help: "It is on %ip.self%.", Who: []string{app.PersonOwner, "ops"}, Timeout: time.Hour,
		Fields: []app.PersonField{{Parameter: app.Parameter{Name: "key", Type: app.ParameterText}, Secret: true},
			{Parameter: app.Parameter{Name: "seats", Type: app.ParameterInteger, Default: "5"}}}}
}

var typed = map[string]app.AnswerValue{"key": {Text: "hunter2", Secret: true}, "seats": {Text: "7"}}

// ask makes a cluster whose plan asks, and works until nothing but questions is left.
func (t *storeTest) ask(nodes int, p app.Person) app.Operation {
	t.Helper()
	op, err := t.s.CreateCluster(t.ctx, NewCluster(tenant, "web", nodes, t.clock.Now(), Asking(nodes, p)))
	t.must(err)
	t.drain()
	return op
}

func (t *storeTest) questions(want int) []app.Question {
	t.Helper()
	list, err := t.s.Questions(t.ctx, tenant, execution.QuestionFilter{Limit: 100})
	t.must(err)
	if len(list) != want {
		t.Fatalf("%d questions are open, want %d: %+v", len(list), want, list)
	}
	return list
}

func (t *storeTest) answer(q app.Question, user, refuse string, values map[string]app.AnswerValue) (app.Question, error) {
	return t.s.AnswerQuestion(t.ctx, execution.NewAnswer{Tenant: tenant, Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Refuse: refuse, Values: values,
		Who: app.Actor{Tenant: tenant, User: user, Role: app.RoleUser, Via: app.ViaPortal}, Now: t.clock.Now()})
}

func (t *storeTest) told(kind app.NoticeKind) (titles []string) {
	t.Helper()
	list, err := t.s.Notices(t.ctx, tenant, 0, 1000)
	t.must(err)
	for _, n := range list {
		if n.Kind == kind {
			titles = append(titles, n.Title)
		}
	}
	return titles
}

// asksPeople: a step of a person is asked, holds neither node nor worker, and goes on with what was typed. One answer counts.
func (t *storeTest) asksPeople() {
	op := t.ask(1, licence())
	if got := t.states(op.ID); got != "n1.create succeeded, n1.a.configure asked, n1.a.start waiting, n1.b.start succeeded" {
		t.Fatalf("while a person is asked the steps are %s", got)
	}
	q := t.questions(1)[0]
	if q.Step != "n1.a.configure" || q.Node != "n1" || q.Service != "a" || q.Attempt != 1 || q.State != app.QuestionOpen || q.ClusterName != "web" || q.Owner != "ada" ||
		q.Kind != app.OperationCreate || !q.AskedAt.Equal(t.clock.Now()) || !q.Until.Equal(t.clock.Now().Add(time.Hour)) {
		t.Fatalf("the question is %+v", q)
	}
	if q.Person.Ask != "Type the key for web-1-n1.internal." || q.Person.Help != "It is on 10.0.0.1." {
		t.Fatalf("asked is %q, with the help %q", q.Person.Ask, q.Person.Help)
	}
	if told := t.told(app.NoticeQuestion); len(told) != 1 || !strings.Contains(told[0], "Type the key for web-1-n1.internal.") {
		t.Fatalf("told is %q", told)
	}
	if _, err := t.s.Question(t.ctx, "t2", q.Operation, q.Index); app.CodeOf(err) != app.ENotFound {
		t.Fatalf("another tenant sees the question: %v", err)
	}
	old := q
	old.Attempt = 2
	_, err := t.answer(old, "ada", "", typed)
	t.code(err, app.EConflict)
	done, err := t.answer(q, "bob", "", typed)
	t.must(err)
	if done.State != app.QuestionAnswered || done.AnsweredBy != "bob" || !done.AnsweredAt.Equal(t.clock.Now()) {
		t.Fatalf("after the answer the question is %+v", done)
	}
	_, err = t.answer(q, "ada", "too late", nil)
	if e := app.AsError(err); e.Code != app.EConflict || e.Reason != "answered" || !strings.Contains(e.Message, "bob") {
		t.Fatalf("the second answer was told %v", err)
	}
	answers, err := t.s.Answers(t.ctx, tenant, "web-1", []string{"n1", "n9"})
	t.must(err)
	if fmt.Sprint(answers) != fmt.Sprint([]execution.NodeAnswer{{Node: "n1", Service: "a", Values: typed}}) {
		t.Fatalf("the answers are %+v", answers)
	}
	entries, err := t.s.Audit(t.ctx, app.AuditFilter{Tenant: tenant, Limit: 100})
	t.must(err)
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
	if ids := t.drain(); fmt.Sprint(ids) != "[n1.a.start]" {
		t.Fatalf("after the answer %v was done", ids)
	}
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.submit(app.OperationDelete, "web-1", Remove(1), true)
	t.drain()
	if answers, err = t.s.Answers(t.ctx, tenant, "web-1", []string{"n1"}); err != nil || len(answers) > 0 && answers[0].Values["key"].Text != "" {
		t.Fatalf("what was typed is kept of a cluster that is gone: %+v, %v", answers, err)
	}
}

// answersRace: of many answers at the same time just one counts, and the others are told whose.
func (t *storeTest) answersRace() {
	t.ask(1, licence())
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
		t.Fatalf("nobody has answered: %v", errs)
	}
	for i, err := range errs {
		if e := app.AsError(err); i != won && (e.Reason != "answered" || !strings.Contains(e.Message, fmt.Sprintf("p%d ", won))) {
			t.Fatalf("p%d was told %v, and p%d has answered", i, err, won)
		}
	}
	now, err := t.s.Question(t.ctx, tenant, q.Operation, q.Index)
	t.must(err)
	if want := map[bool]app.QuestionState{true: app.QuestionRefused, false: app.QuestionAnswered}[won%2 == 1]; now.State != want || now.AnsweredBy != fmt.Sprint("p", won) {
		t.Fatalf("p%d has answered, and the question is %+v", won, now)
	}
}

// refuses: who refuses ends the step for good, with the reason; a resume asks anew, and the old attempt is over.
func (t *storeTest) refuses() {
	op := t.ask(1, licence())
	q := t.questions(1)[0]
	_, err := t.answer(q, "bob", "the record is wrong", nil)
	t.must(err)
	t.questions(0)
	t.status("web-1", app.ClusterFailed, app.OperationFailed)
	if o := t.operation("web-1", op.ID); !strings.Contains(o.Message, "bob refused: the record is wrong") {
		t.Fatalf("the operation says %q", o.Message)
	}
	t.clock.Move(time.Minute)
	t.control(op.ID, app.ControlResume, "")
	again := t.questions(1)[0]
	if again.Attempt != q.Attempt+1 || !again.Until.Equal(t.clock.Now().Add(time.Hour)) || again.Reason != "" || again.AnsweredBy != "" {
		t.Fatalf("asked again, the question is %+v", again)
	}
	_, err = t.answer(q, "ada", "", typed)
	if e := app.AsError(err); e.Code != app.EConflict || e.Reason != "not_asked" {
		t.Fatalf("an answer to the old attempt was told %v", err)
	}
	_, err = t.answer(again, "ada", "", typed)
	t.must(err)
	t.drain()
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}

// answersInTime: half of the time over, people are reminded once; all of it over, the step fails or goes on with the defaults.
func (t *storeTest) answersInTime() {
	p := licence()
	op := t.ask(1, p)
	sweep := func(d time.Duration) {
		t.clock.Move(d)
		_, err := t.s.SweepSteps(t.ctx, t.clock.Now())
		t.must(err)
	}
	sweep(29 * time.Minute)
	if n := len(t.told(app.NoticeQuestion)); n != 1 {
		t.Fatalf("%d notices before half of the time", n)
	}
	for range 3 {
		sweep(time.Minute)
	}
	if told := t.told(app.NoticeQuestion); len(told) != 2 || !strings.HasPrefix(told[1], "Still waiting") {
		t.Fatalf("at half of the time told is %q", told)
	}
	sweep(time.Hour)
	q, err := t.s.Question(t.ctx, tenant, op.ID, 1)
	t.must(err)
	if q.State != app.QuestionOverdue {
		t.Fatalf("nobody answered, and the question is %+v", q)
	}
	t.status("web-1", app.ClusterFailed, app.OperationFailed)
	if told := t.told(app.NoticeQuestion); len(told) != 3 || !strings.HasPrefix(told[2], "Nobody has answered") {
		t.Fatalf("when it is over told is %q", told)
	}
	_, err = t.answer(q, "ada", "", typed)
	t.code(err, app.EConflict)
	t.submit(app.OperationDelete, "web-1", Remove(1), true)
	t.drain()

	p.OnTimeout = app.AnswerGoOn
	n := NewCluster(tenant, "shop", 1, t.clock.Now(), Asking(1, p))
	_, err = t.s.CreateCluster(t.ctx, n)
	t.must(err)
	t.drain()
	// A clock that was set back does not end it, nor make it last for days.
	sweep(-100 * time.Hour)
	if q = t.questions(1)[0]; !q.Until.Equal(t.clock.Now().Add(time.Hour)) {
		t.Fatalf("the clock was set back to %s, and the question is open until %s", t.clock.Now(), q.Until)
	}
	sweep(time.Hour)
	t.questions(0)
	answers, err := t.s.Answers(t.ctx, tenant, "shop-1", []string{"n1"})
	t.must(err)
	if len(answers) != 1 || answers[0].Values["seats"].Text != "5" || answers[0].Values["key"].Text != "" {
		t.Fatalf("it went on with %+v", answers)
	}
	t.drain()
	t.status("shop-1", app.ClusterActive, app.OperationSucceeded)
}

// stopsAsking: a pause takes a question back and a resume asks anew; a cancel and a delete end it at once.
func (t *storeTest) stopsAsking() {
	op := t.ask(2, licence())
	q := t.questions(2)[0]
	t.control(op.ID, app.ControlPause, "")
	t.questions(0)
	_, err := t.answer(q, "ada", "", typed)
	if e := app.AsError(err); e.Reason != "not_asked" || !strings.Contains(e.Message, "paused") {
		t.Fatalf("an answer to what is paused was told %v", err)
	}
	t.clock.Move(5 * time.Hour)
	_, err = t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if o := t.operation("web-1", op.ID); o.Status != app.OperationPaused {
		t.Fatalf("paused for longer than somebody may take to answer, the operation is %s", o.Status)
	}
	t.control(op.ID, app.ControlResume, "")
	if again := t.questions(2)[0]; again.Attempt != 2 {
		t.Fatalf("resumed, the question is %+v", again)
	}
	if o := t.control(op.ID, app.ControlCancel, ""); o.Status != app.OperationCancelled {
		t.Fatalf("cancelled while only people are asked, the operation is %s", o.Status)
	}
	t.questions(0)
	t.submit(app.OperationDelete, "web-1", Remove(2), true)
	t.drain()

	_, err = t.s.CreateCluster(t.ctx, NewCluster(tenant, "shop", 1, t.clock.Now(), Asking(1, licence())))
	t.must(err)
	t.drain()
	q = t.questions(1)[0]
	t.submit(app.OperationDelete, "shop-1", Remove(1), true)
	t.questions(0)
	_, err = t.answer(q, "ada", "", typed)
	t.code(err, app.EConflict)
	if ids := t.drain(); fmt.Sprint(ids) != "[n1.delete]" {
		t.Fatalf("deleted while asked, %v was done", ids)
	}
	t.status("shop-1", app.ClusterDeleted, app.OperationSucceeded)
}

// answersOnce: where one answer counts for all nodes, people are told once, and nodes that come later take it over.
func (t *storeTest) answersOnce() {
	p := licence()
	p.Once = true
	op, err := t.s.CreateCluster(t.ctx, NewCluster(tenant, "web", 3, t.clock.Now(), Asking(3, p)))
	t.must(err)
	// n1 and n2 are made; n3 is not yet.
	var last *app.ClaimedStep
	for c := t.claim("w"); c != nil; c = t.claim("w") {
		if c.Step.ID == "n3.create" {
			last = c
			continue
		}
		t.finish(c, false)
	}
	q := t.questions(2)[1]
	if told := t.told(app.NoticeQuestion); len(told) != 1 {
		t.Fatalf("told is %q", told)
	}
	_, err = t.answer(q, "bob", "", typed)
	t.must(err)
	t.questions(0)
	t.finish(last, false)
	t.questions(0)
	if told := t.told(app.NoticeQuestion); len(told) != 1 {
		t.Fatalf("told is %q", told)
	}
	answers, err := t.s.Answers(t.ctx, tenant, "web-1", []string{"n1", "n2", "n3"})
	t.must(err)
	if len(answers) != 3 || answers[0].Values["key"].Text != "hunter2" || answers[2].Values["key"].Text != "hunter2" {
		t.Fatalf("the answers are %+v", answers)
	}
	t.drain()
	if o := t.operation("web-1", op.ID); o.Status != app.OperationSucceeded || o.Done != o.Total {
		t.Fatalf("the operation is %+v", o)
	}
}
