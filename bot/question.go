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
	"muster/app/template"
)

// modalQuestion names the modal in which someone answers what a step asks.
const modalQuestion = "question"

// mostQuestions is how many questions are shown at once.
const mostQuestions = 8

// questions are what manual steps ask people.
type questions struct{ questions Questions }

// list shows what someone may answer, with a button for each.
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
	list, err := qs.questions.Questions(ctx, r.actor, execution.QuestionQuery{Cluster: cluster, Mine: true})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Questions that wait for you", Links: []Link{{"Open the portal", r.Page(app.Subject{Kind: app.SubjectHome})}}}
	for i, q := range list {
		if i == mostQuestions {
			a.Lines = append(a.Lines, fmt.Sprintf("And %d more.", len(list)-i))
			break
		}
		a.Lines = append(a.Lines, r.questionLines(q)...)
		answer := questionButton(q, true)
		if len(list) > 1 {
			answer.Name += " " + strconv.Itoa(i+1)
			a.Lines[len(a.Lines)-2] = strconv.Itoa(i+1) + ". " + a.Lines[len(a.Lines)-2]
		}
		a.Buttons = append(a.Buttons, answer)
	}
	if len(list) == 0 {
		a.Lines = []string{"There are none."}
	}
	return a, nil
}

// questionLines say in two lines what is asked.
func (v voice) questionLines(q execution.Question) []string {
	return []string{q.Title() + ": " + strings.Join(strings.Fields(q.Person.Ask), " "), "It waits for " + q.Waits + ", until " + v.moment(q.Until) + "."}
}

func questionButton(q execution.Question, beside bool) Button {
	return deed{Do: doAnswer, Cluster: q.Cluster, Operation: q.Operation, Index: q.Index, Attempt: q.Attempt, Beside: beside}.button("Answer …", false)
}

// find finds one that is still open, of the attempt that was shown.
func (qs questions) find(ctx context.Context, r request, d deed) (execution.Question, error) {
	list, err := qs.questions.Questions(ctx, r.actor, execution.QuestionQuery{Cluster: d.Cluster})
	if err != nil {
		return execution.Question{}, err
	}
	for _, q := range list {
		if q.Operation == d.Operation && q.Index == d.Index && q.Attempt == d.Attempt {
			if q.Mine {
				return q, nil
			}
			return q, &app.Error{Code: app.EForbidden, Message: "You are not among those who may answer this.", Hint: "It waits for " + q.Waits + "."}
		}
	}
	return execution.Question{}, &app.Error{Code: app.EConflict, Message: "Nobody is asked this any more.", Hint: "Type “" + r.person.Command + " answer” to see what waits for you now."}
}

// ask opens the modal. What is secret is not typed into a chat, which would keep it.
func (qs questions) ask(ctx context.Context, r request, d deed) (Answer, error) {
	q, err := qs.find(ctx, r, d)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: q.Title(), Lines: r.questionLines(q), Links: []Link{{"Answer in the portal", r.Page(q.Subject())}}}
	if slices.ContainsFunc(q.Person.Fields, func(f template.PersonField) bool { return f.Secret }) {
		a.Lines = append(a.Lines, "It asks for something secret, which is typed in the portal only.")
		return a, nil
	}
	m := questionModal(q, d, nil)
	a.Modal = &m
	return a, nil
}

// questionModal is the modal; with what is wrong by field where it was sent off already.
func questionModal(q execution.Question, d deed, wrong map[string]string) Modal {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // numbers and strings only
	}
	m := Modal{ID: modalQuestion, Note: string(b), Title: "A question", Submit: "Answer"}
	head := Part{Title: q.Title(), Lines: []string{q.Person.Ask}}
	if q.Person.Help != "" {
		head.Lines = append(head.Lines, strings.Split(q.Person.Help, "\n")...)
	}
	m.Parts = append(m.Parts, head)
	if q.Same > 0 {
		m.Parts = append(m.Parts, Part{Quiet: true, Lines: []string{"The answer counts for " + several(q.Same, "more node") + "."}})
	}
	for _, p := range q.Person.Fields {
		f := questionField(p.Parameter)
		part := Part{Field: &f}
		if wrong[f.Name] != "" {
			part.Lines = []string{"⚠ " + wrong[f.Name]}
		}
		m.Parts = append(m.Parts, part)
	}
	m.Parts = append(m.Parts, Part{Field: &Field{Name: "refuse", Kind: FieldLong, Label: "Or say why it must not go on", Optional: true, Most: template.MaxRefusal / 4,
		Hint: "Written down, this lets the step fail."}})
	return m
}

// questionField is that of a value. None is required by the chat itself, since who refuses types none.
func questionField(p template.Parameter) Field {
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

// submit returns the answer, for the attempt that was shown.
func (qs questions) submit(ctx context.Context, r request, f Form) (s Submitted, err error) {
	var d deed
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
		done := "It goes on."
		if answer.Refuse != "" {
			done = "The step fails, for the reason that you gave."
		}
		return Submitted{Answer: &Answer{Title: "Answered: " + q.Title(), Lines: []string{done}, Links: []Link{{"Open", r.Page(app.ClusterSubject(d.Cluster))}}}, Channel: r.person.Channel}, nil
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
	late := questionModal(q, d, s.Errors)
	for _, p := range late.Parts {
		if p.Field != nil && len(f.Values[p.Field.Name]) > 0 {
			p.Field.Values = f.Values[p.Field.Name]
		}
	}
	s.Late = &late
	return s, nil
}

func (qs questions) ofCluster(ctx context.Context, r request, d deed) (Answer, error) {
	return qs.of(ctx, r, d.Cluster)
}
