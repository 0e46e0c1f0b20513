package portal

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/execution"
	clusterpage "muster/portal/cluster"
	executionpage "muster/portal/execution"
	"muster/portal/page"
)

// asking counts what waits for somebody's answer. Where it cannot be told, nothing is shown.
func (p *Portal) asking(ctx context.Context, a app.Actor) int {
	m := p.questioning()
	if m == nil {
		return 0
	}
	list, err := m.Questions(ctx, a, execution.QuestionQuery{Mine: true, Limit: inboxShown})
	if err != nil {
		return 0
	}
	return min(len(list), inboxShown)
}

func (p *Portal) questionList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.questionPage(w, r, a, http.StatusOK, nil)
}

// questionsShown is how many forms a page has, and how many questions of others; those that come next are shown once these are answered.
const questionsShown = 50

// questionPage shows the oldest questions, with what was typed into one of them.
func (p *Portal) questionPage(w http.ResponseWriter, r *http.Request, a app.Actor, status int, typed *executionpage.QuestionForm) error {
	l, err := p.questions(r.Context(), a, typed)
	if err != nil {
		return err
	}
	f := p.frame(r, "Waiting for you")
	f.At, f.Live = "questions", typed == nil
	p.render(w, r, status, executionpage.QuestionListPage(f, l))
	return nil
}

func (p *Portal) questions(ctx context.Context, a app.Actor, typed *executionpage.QuestionForm) (executionpage.QuestionList, error) {
	l := executionpage.QuestionList{Now: p.now()}
	list, err := p.questioning().Questions(ctx, a, execution.QuestionQuery{})
	for _, q := range list {
		f := executionpage.NewQuestionForm(q)
		if typed != nil && typed.ID() == f.ID() {
			f = *typed
		}
		f.Back, f.Named = "questions", true
		switch {
		case q.Mine && (len(l.Mine) < questionsShown || typed != nil && typed.ID() == f.ID()):
			l.Mine = append(l.Mine, f)
		case !q.Mine && len(l.Others) < questionsShown:
			l.Others = append(l.Others, f)
		default:
			l.More++
		}
	}
	return l, err
}

func (p *Portal) questionsLive(ctx context.Context, a app.Actor, _ *url.URL) ([]liveOne, error) {
	l, err := p.questions(ctx, a, nil)
	return []liveOne{{ID: "lists", HTML: executionpage.QuestionListPart(l)}}, err
}

// questionsOf gives the forms of a cluster's page.
func (p *Portal) questionsOf(ctx context.Context, a app.Actor, cluster string) (forms []executionpage.QuestionForm, err error) {
	m := p.questioning()
	if m == nil {
		return nil, nil
	}
	list, err := m.Questions(ctx, a, execution.QuestionQuery{Cluster: cluster})
	for _, q := range list {
		forms = append(forms, executionpage.NewQuestionForm(q))
	}
	return forms, err
}

// questionAnswer takes an answer. What is wrong with it is said beside the field, and what was typed stays, but for secrets.
func (p *Portal) questionAnswer(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	in, cluster := r.PostForm, chi.URLParam(r, "id")
	s := execution.StepAnswer{}
	var errs [3]error
	s.Operation, errs[0] = strconv.ParseInt(in.Get("operation"), 10, 64)
	s.Index, errs[1] = strconv.Atoi(in.Get("index"))
	s.Attempt, errs[2] = strconv.Atoi(in.Get("attempt"))
	for _, err := range errs {
		if err != nil {
			return malformed(err)
		}
	}
	refused := in.Get("act") == "refuse"
	if refused {
		s.Refuse = strings.TrimSpace(in.Get("refuse"))
	}
	f := executionpage.QuestionForm{Question: app.Question{Operation: s.Operation, Index: s.Index, Attempt: s.Attempt}}
	list, err := p.questioning().Questions(r.Context(), a, execution.QuestionQuery{Cluster: cluster})
	if err != nil {
		return err
	}
	for _, q := range list {
		if found := executionpage.NewQuestionForm(q); found.ID() == f.ID() {
			f = found
		}
	}
	f.Reason, f.Errors = strings.TrimSpace(in.Get("refuse")), map[string]page.Complaint{}
	for i, field := range f.Fields {
		value := in.Get(field.Field())
		if field.Type == app.ParameterBoolean && value == "" {
			value = "false"
		}
		if s.Values == nil {
			s.Values = map[string]any{}
		}
		if s.Values[field.Name] = value; !field.Secret {
			f.Fields[i].Value = value
		}
	}
	if refused {
		s.Values = nil
		if s.Refuse == "" {
			f.Errors["refuse"] = page.Complaint{Message: "Say why.", Hint: "Whoever goes on from there will want to know."}
			return p.questionAgain(w, r, a, cluster, f)
		}
	}
	if _, err := p.questioning().AnswerStep(r.Context(), a, cluster, s); err != nil {
		e := app.AsError(err)
		if e.Code != app.EInvalid {
			return err
		}
		field, _ := strings.CutPrefix(e.Field, "values.")
		f.Errors[field] = page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.questionAgain(w, r, a, cluster, f)
	}
	to := p.ifSeen(r, a, cluster, "/clusters/"+cluster, "/questions") // those who were asked may see it no more
	if in.Get("back") == "questions" {
		to = "/questions"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// questionAgain shows the page on which the answer was given, with what is wrong.
func (p *Portal) questionAgain(w http.ResponseWriter, r *http.Request, a app.Actor, cluster string, f executionpage.QuestionForm) error {
	if r.PostForm.Get("back") == "questions" {
		return p.questionPage(w, r, a, http.StatusUnprocessableEntity, &f)
	}
	c, err := p.readCluster(r.Context(), a, cluster)
	if err != nil {
		return err
	}
	if c.Log, err = p.muster.Logs(r.Context(), a, c.View.ID, app.LogFilter{Tail: true, Limit: logTail}); err != nil {
		return err
	}
	if err := p.draw(r.Context(), a, &c, drawn{}); err != nil {
		return err
	}
	// The stream is told that the page has the questions as they are, so it leaves alone what was typed.
	if c.Have, err = digests(r.Context(), c); err != nil {
		return err
	}
	for i := range c.Questions {
		if c.Questions[i].ID() == f.ID() {
			c.Questions[i] = f
		}
	}
	frame := p.clusterFrame(r, c.View.Name)
	p.render(w, r, http.StatusUnprocessableEntity, clusterpage.ShowPage(frame, c))
	return nil
}
