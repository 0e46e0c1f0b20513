package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/template"
	executionpage "muster/portal/execution"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// questions are the pages of manual steps that wait for an answer.
type questions struct {
	*site.Site

	page *clusterPage
}

func (p *questions) routes() []site.Route {
	return []site.Route{
		site.Show("/manual-steps", p.List),
		site.Submit("/clusters/{id}/answers", p.Answer),
		site.Redirect("/clusters/{id}/answers", "/manual-steps"),
	}
}

func (p *questions) operations() []site.Operation { return nil } // see portal/execution

func (p *questions) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, a, http.StatusOK, nil)
}

// manualStepsShown is how many forms a page has, and how many manual steps of others; more are shown once these are answered.
const manualStepsShown = 50

// show shows the oldest manual steps, with what was typed into one of them.
func (p *questions) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, typed *executionpage.ManualStepForm) error {
	l, err := p.read(r.Context(), a, typed)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Manual steps")
	f.At, f.Live = "questions", typed == nil
	p.Render(w, r, status, executionpage.ManualStepListPage(f, l))
	return nil
}

func (p *questions) read(ctx context.Context, a app.Actor, typed *executionpage.ManualStepForm) (executionpage.ManualStepList, error) {
	l := executionpage.ManualStepList{Now: p.Now()}
	list, err := p.ManualSteps.ManualSteps(ctx, a, execution.ManualStepQuery{})
	for _, q := range list {
		f := executionpage.NewManualStepForm(q)
		if typed != nil && typed.ID() == f.ID() {
			f = *typed
		}
		f.Back, f.Named = "questions", true
		switch {
		case q.Mine && (len(l.Mine) < manualStepsShown || typed != nil && typed.ID() == f.ID()):
			l.Mine = append(l.Mine, f)
		case !q.Mine && len(l.Others) < manualStepsShown:
			l.Others = append(l.Others, f)
		default:
			l.More++
		}
	}
	return l, err
}

func (p *questions) Live(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	l, err := p.read(ctx, a, nil)
	return []site.LiveOne{{ID: "lists", HTML: executionpage.ManualStepListPart(l)}}, err
}

// manualStepsOf returns the forms of a cluster's page.
func manualStepsOf(p *site.Site, ctx context.Context, a app.Actor, cluster string) (forms []executionpage.ManualStepForm, err error) {
	list, err := p.ManualSteps.ManualSteps(ctx, a, execution.ManualStepQuery{Cluster: cluster})
	for _, q := range list {
		forms = append(forms, executionpage.NewManualStepForm(q))
	}
	return forms, err
}

// Answer saves an answer. Errors are shown beside the fields, and what was typed is kept, except for secrets.
func (p *questions) Answer(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
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
			return site.Malformed(err)
		}
	}
	refused := in.Get("act") == "refuse"
	if refused {
		s.Refuse = strings.TrimSpace(in.Get("refuse"))
	}
	f := executionpage.ManualStepForm{ManualStep: execution.ManualStep{Operation: s.Operation, Index: s.Index, Attempt: s.Attempt}}
	list, err := p.ManualSteps.ManualSteps(r.Context(), a, execution.ManualStepQuery{Cluster: cluster})
	if err != nil {
		return err
	}
	for _, q := range list {
		if found := executionpage.NewManualStepForm(q); found.ID() == f.ID() {
			f = found
		}
	}
	f.Reason, f.Errors = strings.TrimSpace(in.Get("refuse")), map[string]page.Complaint{}
	for i, field := range f.Fields {
		value := in.Get(field.Field())
		if field.Type == template.ParameterBoolean && value == "" {
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
			f.Errors["refuse"] = page.Complaint{Message: "Enter a reason.", Hint: "The next person who works on this cluster needs to know."}
			return p.again(w, r, a, cluster, f)
		}
	}
	if _, err := p.ManualSteps.AnswerStep(r.Context(), a, cluster, s); err != nil {
		e := app.AsError(err)
		if e.Code != app.EInvalid {
			return err
		}
		field, _ := strings.CutPrefix(e.Field, "values.")
		f.Errors[field] = page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.again(w, r, a, cluster, f)
	}
	to := p.IfSeen(r, a, cluster, "/clusters/"+cluster, "/manual-steps") // the answer may end the actor's access
	if in.Get("back") == "questions" {
		to = "/manual-steps"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// again shows the page of the answer again, with its errors.
func (p *questions) again(w http.ResponseWriter, r *http.Request, a app.Actor, cluster string, f executionpage.ManualStepForm) error {
	if r.PostForm.Get("back") == "questions" {
		return p.show(w, r, a, http.StatusUnprocessableEntity, &f)
	}
	c, err := p.page.ReadCluster(r.Context(), a, cluster)
	if err != nil {
		return err
	}
	if c.Log, err = p.Feed.Logs(r.Context(), a, c.View.ID, appcluster.LogFilter{Tail: true, Limit: logTail}); err != nil {
		return err
	}
	if err := p.page.draw(r.Context(), a, &c, site.Drawn{}); err != nil {
		return err
	}
	// The stream takes the questions as up to date, so it leaves alone what was typed.
	if c.Have, err = Digests(r.Context(), c); err != nil {
		return err
	}
	for i := range c.ManualSteps {
		if c.ManualSteps[i].ID() == f.ID() {
			c.ManualSteps[i] = f
		}
	}
	frame := p.ClusterFrame(r, c.View.Name)
	p.Render(w, r, http.StatusUnprocessableEntity, ShowPage(frame, c))
	return nil
}
