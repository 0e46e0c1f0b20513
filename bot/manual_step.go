package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/app/template"
)

// modalManualStep names the modal that answers a manual step.
const modalManualStep = "question"

// mostManualSteps limits the questions shown at once.
const mostManualSteps = 8

// questions answers manual steps.
type questions struct{ questions ManualSteps }

// list shows the manual steps that a person can answer, with a button for each.
func (qs questions) list(ctx context.Context, r request) (Answer, error) {
	if len(r.words) > 1 {
		return Answer{}, r.usage()
	}
	cluster := ""
	if len(r.words) == 1 {
		cluster = r.words[0]
	}
	return qs.of(ctx, r, cluster)
}

func (qs questions) of(ctx context.Context, r request, cluster string) (Answer, error) {
	list, err := qs.questions.ManualSteps(ctx, r.actor, execution.ManualStepQuery{Cluster: cluster, Mine: true})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Manual steps waiting for you", Links: []Link{{"Open the portal", r.Page(app.Subject{Kind: app.SubjectHome})}}}
	for i, q := range list {
		if i == mostManualSteps {
			a.Lines = append(a.Lines, fmt.Sprintf("%d more in the portal.", len(list)-i))
			break
		}
		a.Lines = append(a.Lines, r.manualStepLines(q)...)
		answer := manualStepButton(q, true)
		if len(list) > 1 {
			answer.Name += " " + strconv.Itoa(i+1)
			a.Lines[len(a.Lines)-2] = strconv.Itoa(i+1) + ". " + a.Lines[len(a.Lines)-2]
		}
		a.Buttons = append(a.Buttons, answer)
	}
	if len(list) == 0 {
		a.Lines = []string{"No manual steps are waiting for you."}
	}
	return a, nil
}

// manualStepLines shows a manual step in two lines.
func (v voice) manualStepLines(q execution.ManualStep) []string {
	return []string{q.Title() + ": " + strings.Join(strings.Fields(q.Person.Ask), " "), "Waiting for " + q.Waits + " until " + v.moment(q.Until) + "."}
}

func manualStepButton(q execution.ManualStep, beside bool) Button {
	return action{Do: doAnswer, Cluster: q.Cluster, Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Beside: beside}.button("Answer…", false)
}

// find finds an open manual step, in the attempt that was shown.
func (qs questions) find(ctx context.Context, r request, d action) (execution.ManualStep, error) {
	list, err := qs.questions.ManualSteps(ctx, r.actor, execution.ManualStepQuery{Cluster: d.Cluster})
	if err != nil {
		return execution.ManualStep{}, err
	}
	for _, q := range list {
		if q.Operation == d.Operation && q.Index == d.Index && q.Attempt == d.Attempt {
			if q.Mine {
				return q, nil
			}
			return q, &app.Error{Code: app.EForbidden, Message: "You can't answer this manual step.", Hint: "It's waiting for " + q.Waits + "."}
		}
	}
	return execution.ManualStep{}, &app.Error{Code: app.EConflict, Message: "This manual step no longer needs an answer.", Hint: "Type “" + r.person.Command + " answer” to see what's waiting for you."}
}

// ask opens the modal. Secrets aren't typed into a chat, which would keep them.
func (qs questions) ask(ctx context.Context, r request, d action) (Answer, error) {
	q, err := qs.find(ctx, r, d)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: q.Title(), Lines: r.manualStepLines(q), Links: []Link{{"Answer in the portal", r.Page(q.Subject())}}}
	if slices.ContainsFunc(q.Person.Fields, func(f template.PersonField) bool { return f.Secret }) {
		a.Lines = append(a.Lines, "This manual step asks for a secret. Enter it in the portal.")
		return a, nil
	}
	m := manualStepModal(q, d, nil)
	a.Modal = &m
	return a, nil
}

// manualStepModal is the modal, with errors by field if it was submitted.
func manualStepModal(q execution.ManualStep, d action, wrong map[string]string) Modal {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // numbers and strings only
	}
	m := Modal{ID: modalManualStep, Note: string(b), Title: "Manual step", Submit: "Submit answer"}
	head := Part{Title: q.Title(), Lines: []string{q.Person.Ask}}
	if q.Person.Help != "" {
		head.Lines = append(head.Lines, strings.Split(q.Person.Help, "\n")...)
	}
	m.Parts = append(m.Parts, head)
	if q.MoreNodes > 0 {
		m.Parts = append(m.Parts, Part{Quiet: true, Lines: []string{"Your answer applies to " + humanize.Count(q.MoreNodes, "more node") + "."}})
	}
	for _, p := range q.Person.Fields {
		f := manualStepField(p.Parameter)
		part := Part{Field: &f}
		if wrong[f.Name] != "" {
			part.Lines = []string{"⚠ " + wrong[f.Name]}
		}
		m.Parts = append(m.Parts, part)
	}
	m.Parts = append(m.Parts, Part{Field: &Field{Name: "refuse", Kind: FieldLong, Label: "Or refuse, with a reason", Optional: true, Most: template.MaxRefusal / 4,
		Hint: "The step fails with this reason."}})
	return m
}

// manualStepField is a value's field. The chat requires none of them, since a rejection has no values.
func manualStepField(p template.Parameter) Field {
	f := Field{Name: "v:" + p.Name, Kind: FieldText, Label: p.Title(), Hint: strings.TrimSpace(p.Help + " " + p.Hint()), Optional: true}
	if v := standard(p); v != "" && p.Type != template.ParameterChoice {
		f.Values = []string{v}
	}
	switch p.Type {
	case template.ParameterBoolean:
		f.Kind, f.Choices, f.Values = FieldChoice, []Choice{{Name: "yes", Value: "=true"}, {Name: "no", Value: "=false"}}, []string{"=" + standard(p)}
	case template.ParameterChoice:
		f.Kind, f.Choices = FieldChoice, optionChoices(p.Options, "")
		if v := standard(p); v != "" {
			f.Values = []string{key(v)}
		}
	}
	return f
}

// submit sends the answer, for the attempt that was shown.
func (qs questions) submit(ctx context.Context, r request, f Form) (s Submitted, err error) {
	var d action
	if json.Unmarshal([]byte(f.Note), &d) != nil {
		return s, errNoForm
	}
	q, err := qs.find(ctx, r, d)
	if err != nil {
		return s, err
	}
	answer := execution.StepAnswer{Operation: d.Operation, Index: d.Index, Attempt: d.Attempt, Refuse: strings.TrimSpace(f.first("refuse"))}
	if answer.Refuse == "" {
		answer.Values = map[string]any{}
		for _, p := range q.Person.Fields {
			v := f.first("v:" + p.Name)
			switch p.Type {
			case template.ParameterBoolean:
				v = strings.TrimPrefix(v, "=")
			case template.ParameterChoice:
				var values []string
				for _, o := range p.Options {
					values = append(values, o.Value)
				}
				v, _ = unkey(v, values)
			}
			if v != "" {
				answer.Values[p.Name] = v
			}
		}
	}
	if q, err = qs.questions.AnswerStep(ctx, r.actor, d.Cluster, answer); err == nil {
		done := "The operation continues."
		if answer.Refuse != "" {
			done = "The step fails with your reason."
		}
		return Submitted{Answer: &Answer{Title: "Answered: " + q.Title(), Lines: []string{done}, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(d.Cluster))}}}, Channel: r.person.Channel}, nil
	}
	e := app.AsError(err)
	name, isValue := strings.CutPrefix(e.Field, "values.")
	if !isValue && e.Field != "refuse" {
		return s, err
	}
	field := "refuse"
	if isValue {
		field = "v:" + name
	}
	s.Errors = map[string]string{field: complaint(e)}
	late := manualStepModal(q, d, s.Errors)
	for _, p := range late.Parts {
		if p.Field != nil && len(f.Values[p.Field.Name]) > 0 {
			p.Field.Values = f.Values[p.Field.Name]
		}
	}
	s.Late = &late
	return s, nil
}

func (qs questions) ofCluster(ctx context.Context, r request, d action) (Answer, error) {
	return qs.of(ctx, r, d.Cluster)
}
