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

// QuestionForm is what a person is asked, with what was typed so far.
type QuestionForm struct {
	execution.Question
	Fields []template.ParameterField
	Errors map[string]page.Complaint // by field; "" is about all of it
	Reason string                    // of a refusal, as it was typed
	Back   string                    // "" leads back to the cluster's page
	Named  bool                      // the cluster is named, since the form stands among those of others
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

// ID is the form's own. It names the attempt, so that a form of another one is never taken for it.
func (f QuestionForm) ID() string { return fmt.Sprintf("q%d-%d-%d", f.Operation, f.Index, f.Attempt) }

func (f QuestionForm) reasonField() string { return f.ID() + "-reason" }

// About says at which step it is asked.
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

// until says when the wait ends, and what happens then. It names the moment and not the time that is left, so that the form stays as it is
// while someone types.
func (f QuestionForm) until() string {
	then := "the step fails"
	if f.Person.GoesOn() {
		then = "it goes on by itself"
	}
	return "Until " + f.Until.UTC().Format("2 Jan 15:04 UTC") + "; then " + then + "."
}

// QuestionsShown is how many forms a cluster's page has; the rest is on a page of its own.
const QuestionsShown = 5

// QuestionList is the page of all that waits for someone.
type QuestionList struct {
	Now    time.Time
	Mine   []QuestionForm
	Others []QuestionForm
	More   int // that are not shown
}
