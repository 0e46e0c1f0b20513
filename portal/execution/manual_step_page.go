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

// ManualStepForm is the form of a manual step, with what was typed so far.
type ManualStepForm struct {
	execution.ManualStep
	Fields []template.ParameterField
	Errors map[string]page.Complaint // by field; "" is for the form as a whole
	Reason string                    // of a refusal, as typed
	Back   string                    // "" for the cluster's page
	Named  bool                      // show the cluster's name, as the page has several clusters
}

// NewManualStepForm makes an empty form.
func NewManualStepForm(q execution.ManualStep) ManualStepForm {
	f := ManualStepForm{ManualStep: q}
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
func (f ManualStepForm) ID() string { return fmt.Sprintf("q%d-%d-%d", f.Operation, f.Index, f.Attempt) }

func (f ManualStepForm) reasonField() string { return f.ID() + "-reason" }

// About names the step.
func (f ManualStepForm) About() string {
	if f.Action == app.ActionAsk {
		return "before the next batch of " + f.Kind.The()
	}
	words := f.Service + ", " + string(f.Action)
	switch {
	case f.MoreNodes > 0:
		return words + " on " + humanize.Count(f.MoreNodes+1, "node")
	case f.Node != "":
		return words + " on " + f.Node
	}
	return words
}

// otherwise is what happens at the deadline. The form shows its time and not the time left, so that it doesn't change while someone types.
func (f ManualStepForm) otherwise() string {
	if f.Person.GoesOn() {
		return "the operation continues automatically"
	}
	return "the step fails"
}

// ManualStepsShown is how many forms a cluster's page has; the page of manual steps has the rest.
const ManualStepsShown = 5

// ManualStepList is the page of manual steps.
type ManualStepList struct {
	Now    time.Time
	Mine   []ManualStepForm
	Others []ManualStepForm
	More   int // not shown
}
