package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/policy"
	"muster/app/run"
	"muster/app/template"
)

// modalRun names the modal that runs an action.
const modalRun = "run"

// runNote is the state of the modal.
type runNote struct {
	Channel string `json:"c,omitempty"` // where the command was typed
	Cluster string `json:"k,omitempty"`
	Action  string `json:"a,omitempty"`
	Hash    string `json:"h,omitempty"` // of the plan shown
	After   int64  `json:"l,omitempty"` // the cluster's latest operation then
}

func (n runNote) text() string {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // texts only
	}
	return string(b)
}

// readRun returns the modal's note. An unreadable one names no cluster, which is an error.
func (f Form) readRun() (n runNote) {
	if json.Unmarshal([]byte(f.Note), &n) != nil {
		return runNote{}
	}
	return n
}

// runForm is the modal while it's being built.
type runForm struct {
	view    cluster.View
	actions []run.Action // that the person may run
	action  *run.Action  // nil: not chosen yet
	form    Form
	note    runNote
	update  cluster.Update
	errors  map[string]*app.Error // by field; "" for none
}

// field names a field of an action. Names differ between actions, so that a value typed for one isn't used for another.
func (w *runForm) field(name string) string { return name + "@" + key(w.action.Name) }

// form reads the modal. Actions that don't exist, or that the person may not run, are errors.
func (rs runs) form(ctx context.Context, r request, f Form, n runNote) (*runForm, error) {
	if n.Cluster == "" {
		return nil, errNoForm
	}
	v, err := rs.clusters.Cluster(ctx, r.actor, n.Cluster)
	if err != nil {
		return nil, err
	}
	all, err := rs.runs.Actions(ctx, r.actor, v.ID)
	if err != nil {
		return nil, err
	}
	w := &runForm{view: v, form: f, note: n, errors: map[string]*app.Error{}}
	w.note.Cluster = v.ID
	saved, names := make([]template.SavedAction, len(all)), []string{}
	for i, a := range all {
		saved[i] = a.SavedAction
		if a.May {
			w.actions, names = append(w.actions, a), append(names, a.Name)
		}
	}
	if chosen := f.first("action"); chosen != "" {
		w.note.Action, _ = unkey(chosen, names)
	}
	switch {
	case w.note.Action != "":
		if _, err := template.ActionNamed(saved, w.note.Action); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(a run.Action) bool { return a.Name == w.note.Action })
		if w.action = &all[i]; !w.action.May {
			return nil, &app.Error{Code: app.EForbidden, Field: "action",
				Message: fmt.Sprintf("You can't run action %s.", w.action.Name), Hint: "Only " + actionUsers(w.action.Who) + " can run it."}
		}
	case len(w.actions) == 0:
		return nil, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Cluster %s has no actions that you can run.", v.Name),
			Hint: "List its actions: " + r.person.Command + " actions " + v.Name}
	case len(w.actions) == 1:
		w.action = &w.actions[0]
	}
	if w.action != nil {
		if w.note.Action = w.action.Name; len(w.action.Parameters) > maxRunFields {
			return nil, &app.Error{Code: app.EInvalid, Field: "action", Message: fmt.Sprintf("Action %s has more parameters than a form in Slack can have.", w.action.Name),
				Hint: "Run it in the portal."}
		}
		w.read()
	}
	return w, nil
}

// maxRunFields limits the parameters of an action in the modal, each with its error: a modal has 100 blocks.
const maxRunFields = 40

func (w *runForm) parameters() []template.Parameter { return w.action.Parameters }

func (w *runForm) given(p template.Parameter) string {
	v, there := w.form.Values[w.field("p:"+p.Name)]
	return givenValue(p, v, there)
}

// read makes an update from the form, and records errors.
func (w *runForm) read() {
	given := map[string]any{}
	for _, p := range w.parameters() {
		if v := w.given(p); v != standard(p) || p.Type == template.ParameterBoolean { // which the form shows as no
			given[p.Name] = v
		}
		one := template.SavedAction{Name: w.action.Name, Parameters: []template.Parameter{p}}
		if _, err := one.Values(map[string]any{p.Name: given[p.Name]}); err != nil {
			w.errors[w.field("p:"+p.Name)] = app.AsError(err)
		}
	}
	w.update = cluster.Update{Kind: app.OperationRun, Action: w.action.Name}
	if len(given) > 0 {
		w.update.Parameters = given
	}
	names := make([]string, len(w.view.Nodes))
	for i, n := range w.view.Nodes {
		names[i] = n.Name
	}
	for _, k := range w.form.Values[w.field("nodes")] {
		if name, ok := unkey(k, names); ok {
			w.update.Nodes = append(w.update.Nodes, name)
		} else {
			w.errors[w.field("nodes")] = &app.Error{Code: app.EInvalid, Message: "A node that you chose no longer exists.", Hint: "Choose others."}
		}
	}
}

// fieldOf returns an error's field; "" for none.
func (w *runForm) fieldOf(e *app.Error) string {
	for _, p := range w.parameters() {
		if e.Field == "parameters."+p.Name {
			return w.field("p:" + p.Name)
		}
	}
	if e.Field == "nodes" && w.nodeField() != nil {
		return w.field("nodes")
	}
	return ""
}

// refused records a refusal at its field; other errors are returned.
func (w *runForm) refused(err error) error {
	e := app.AsError(err)
	if !isRefusal(e) {
		return err
	}
	if field := w.fieldOf(e); w.errors[field] == nil {
		w.errors[field] = e
	}
	return nil
}

// preview previews what was entered; nil if that isn't complete.
func (rs runs) preview(ctx context.Context, r request, w *runForm) (*cluster.UpdatePreview, error) {
	if w.action == nil || len(w.errors) > 0 {
		return nil, nil
	}
	p, err := rs.updates.updates.PreviewUpdate(ctx, r.actor, w.view.ID, w.update)
	if err != nil {
		return nil, w.refused(err)
	}
	return &p, nil
}

// modal makes the modal's current state.
func (rs runs) modal(ctx context.Context, r request, f Form, n runNote) (Modal, error) {
	w, err := rs.form(ctx, r, f, n)
	if err != nil {
		return Modal{}, err
	}
	return rs.show(ctx, r, w)
}

func (rs runs) show(ctx context.Context, r request, w *runForm) (Modal, error) {
	p, err := rs.preview(ctx, r, w)
	if err != nil {
		return Modal{}, err
	}
	return w.modal(r.reader, p), nil
}

func (w *runForm) modal(r reader, p *cluster.UpdatePreview) Modal {
	m := Modal{ID: modalRun, Title: "Run action", Submit: "Run action", Parts: []Part{{Title: "Cluster " + w.view.Name}}}
	if e := w.errors[""]; e != nil {
		m.Parts = append(m.Parts, Part{Lines: []string{"⚠ " + complaint(e)}})
	}
	if len(w.actions) > 1 {
		m.Parts = append(m.Parts, w.part(w.actionField()))
	}
	w.note.Hash, w.note.After = "", latest(w.view)
	if w.action == nil {
		m.Note, m.Submit = w.note.text(), "Continue"
		return m
	}
	about := Part{Quiet: true}
	if len(w.actions) == 1 {
		about.Lines = append(about.Lines, w.action.Title)
	}
	if w.action.Description != "" {
		about.Lines = append(about.Lines, w.action.Description)
	}
	if len(about.Lines) > 0 {
		m.Parts = append(m.Parts, about)
	}
	for _, q := range w.parameters() {
		m.Parts = append(m.Parts, w.part(parameterField(w.field("p:"+q.Name), q, w.given(q))))
	}
	if f := w.nodeField(); f != nil {
		m.Parts = append(m.Parts, w.part(*f))
	}
	last := Part{Title: "Preview", Lines: []string{"Fill in the fields above to see a preview."},
		Buttons: []Button{{Name: "Update preview", Value: "preview", Quiet: true, Fill: true}},
		Links:   []Link{{"View cluster", r.Page(app.ClusterSubject(w.view.ID))}}}
	if p != nil {
		w.note.Hash, last.Lines, m.Submit = p.PlanHash, r.updateLines(*p), submitName(*p, m.Submit)
	}
	m.Parts = append(m.Parts, last)
	m.Note = w.note.text()
	return m
}

// part shows a field with its error above it, as createForm.part does.
func (w *runForm) part(f Field) Part {
	p := Part{Field: &f}
	if _, seen := w.form.Values[f.Name]; seen && w.errors[f.Name] != nil {
		p.Lines = []string{"⚠ " + f.Label + ": " + complaint(w.errors[f.Name])}
	}
	return p
}

func (w *runForm) actionField() Field {
	f := Field{Name: "action", Kind: FieldChoice, Label: "Action", Live: true, Placeholder: "Choose an action"}
	for _, a := range w.actions[:min(len(w.actions), maxChoices)] {
		f.Choices = append(f.Choices, Choice{Name: a.Title, Value: key(a.Name), Hint: a.Description})
	}
	if w.action != nil {
		f.Values = []string{key(w.action.Name)}
	}
	return f
}

// runsOn reports whether something can be run on a node now.
func (w *runForm) runsOn(n app.Node) bool {
	return slices.Contains(w.view.Actions.On(n), app.OperationRun)
}

// nodeField is the choice of nodes; nil if there is none, or if there are too many for a menu.
func (w *runForm) nodeField() *Field {
	f := Field{Name: w.field("nodes"), Kind: FieldMany, Label: "Nodes", Optional: true, Live: true, Placeholder: "All nodes",
		Values: w.form.Values[w.field("nodes")], Hint: "Leave empty for all nodes that the action is for."}
	for _, n := range w.view.Nodes {
		if w.runsOn(n) {
			f.Choices = append(f.Choices, Choice{Name: n.Name, Value: key(n.Name)})
		}
	}
	if len(f.Choices) < 2 || len(f.Choices) > maxChoices {
		return nil
	}
	return &f
}

// latest is the newest operation of a cluster. A run leaves no other trace in a plan, so it's this that tells a second press from the first.
func latest(v cluster.View) int64 {
	if len(v.Operations) == 0 {
		return 0
	}
	return v.Operations[0].ID
}

// choices are the options of a field that match what was typed.
func (rs runs) choices(ctx context.Context, r request, f Form, typed string) ([]Choice, error) {
	w, err := rs.form(ctx, r, Form{ID: f.ID, Note: f.Note}, f.readRun())
	if err != nil || w.action == nil {
		return nil, err
	}
	for _, p := range w.parameters() {
		if w.field("p:"+p.Name) == f.Changed {
			return optionChoices(p.Options, typed), nil
		}
	}
	return nil, nil
}

// submit runs nothing that wasn't shown: if the plan differs from the one in the modal, it's shown first.
func (rs runs) submit(ctx context.Context, r request, f Form) (s Submitted, err error) {
	shown := f.readRun()
	w, err := rs.form(ctx, r, f, shown)
	if err != nil {
		return s, err
	}
	p, err := rs.preview(ctx, r, w)
	if err != nil {
		return s, err
	}
	again := func(why string) (Submitted, error) {
		w.errors[""] = &app.Error{Code: app.EConflict, Message: why}
		m := w.modal(r.reader, p)
		return Submitted{Modal: &m}, nil
	}
	switch {
	case len(w.errors) > 0:
		return w.complain(r.reader, p), nil
	case w.action == nil:
		return again("Choose an action first.")
	case p.PlanHash != shown.Hash || w.note.Action != shown.Action:
		return again("Review the preview below, then press the button again.")
	case latest(w.view) != shown.After:
		return again("Another operation was started after this preview was shown. To run the action as well, press the button again.")
	case p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse:
		return again("A policy refuses this.")
	}
	w.update.PlanHash = shown.Hash
	answer, err := rs.updates.updates.Update(ctx, r.actor, w.view.ID, w.update)
	if err != nil && app.AsError(err).Reason == "plan_changed" {
		w.update.PlanHash = ""
		if p, err = rs.preview(ctx, r, w); err != nil {
			return s, err
		}
		return again("Nothing was run: the cluster changed after this preview was shown. Review the new one below.")
	}
	if err != nil {
		if err := w.refused(err); err != nil {
			return s, err
		}
		return w.complain(r.reader, p), nil
	}
	a, err := r.ran(w.action.Name, answer, nil)
	return Submitted{Answer: &a, Channel: shown.Channel}, err
}

// complain shows errors at their fields, or at the top of the modal if one has no field.
func (w *runForm) complain(r reader, p *cluster.UpdatePreview) (s Submitted) {
	m := w.modal(r, p)
	if w.errors[""] != nil {
		return Submitted{Modal: &m}
	}
	s.Late, s.Errors = &m, map[string]string{}
	for _, field := range slices.Sorted(maps.Keys(w.errors)) {
		s.Errors[field] = complaint(w.errors[field])
	}
	return s
}
