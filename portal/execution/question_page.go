package execution

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/portal/page"
	"muster/portal/template"
)

// QuestionForm is the form of a manual step, with what was typed so far.
type QuestionForm struct {
	execution.Question
	Fields []template.ParameterField
	Errors map[string]page.Complaint // by field; "" is for the form as a whole
	Reason string                    // of a refusal, as typed
	Back   string                    // "" for the cluster's page
	Named  bool                      // show the cluster's name, as the page has several clusters
}

// NewQuestionForm makes an empty form.
func NewQuestionForm(q execution.Question) QuestionForm {
	f := QuestionForm{Question: q}
	for _, p := range q.Person.Fields {
		field := template.ParameterField{Parameter: p.Parameter, Prefix: f.ID() + "-", Secret: p.Secret}
		if p.Default != nil {
			field.Value = fmt.Sprint(p.Default)
		}
		f.Fields = append(f.Fields, field)
	}
	return f
}

// ID is the form's id. It has the attempt, so that forms of different attempts are never mixed up.
func (f QuestionForm) ID() string { return fmt.Sprintf("q%d-%d-%d", f.Operation, f.Index, f.Attempt) }

func (f QuestionForm) reasonField() string { return f.ID() + "-reason" }

// About names the step.
func (f QuestionForm) About() string {
	if f.Action == app.ActionAsk {
		return "before the next batch of the " + f.Kind.Words()
	}
	words := f.Service + ", " + string(f.Action)
	switch {
	case f.Same > 0:
		return words + " on " + humanize.Count(f.Same+1, "node")
	case f.Node != "":
		return words + " on " + f.Node
	}
	return words
}

// until states the deadline and what happens then. It's a time and not the time left, so that the form doesn't change
// while someone types.
func (f QuestionForm) until() string {
	then := "the step fails"
	if f.Person.GoesOn() {
		then = "the operation continues automatically"
	}
	return "Deadline: " + f.Until.UTC().Format("2 Jan 15:04 UTC") + ". Without an answer, " + then + "."
}

// QuestionsShown is how many forms a cluster's page has; the page of manual steps has the rest.
const QuestionsShown = 5

// QuestionList is the page of manual steps.
type QuestionList struct {
	Now    time.Time
	Mine   []QuestionForm
	Others []QuestionForm
	More   int // not shown
}
