package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/run"
	"muster/app/template"
)

// runs runs actions of a cluster's template.
type runs struct {
	runs       Runs
	clusters   Clusters
	updates    updates
	operations Operations
}

// mostRunButtons limits the buttons below a list of actions.
const mostRunButtons = 10

// maxAbout limits the description of an action in a list.
const maxAbout = 300

// list shows the actions of a cluster's template, with a button for each that the person may run.
func (rs runs) list(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 1 {
		return Answer{}, r.usage()
	}
	v, err := rs.clusters.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	all, err := rs.runs.Actions(ctx, r.actor, v.ID)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Actions of " + v.Name, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(v.ID))}}}
	if len(all) == 0 {
		a.Lines = []string{"The cluster's template has no actions."}
	}
	can := slices.Contains(v.Actions.Cluster, app.OperationRun)
	for i, one := range all {
		if i == maxListed {
			a.Lines = append(a.Lines, humanize.Count(len(all)-i, "more action")+" in the portal.")
			break
		}
		a.Lines = append(a.Lines, actionLine(one))
		if can && one.May && len(a.Buttons) < mostRunButtons {
			b := action{Do: doRunAsk, Cluster: v.ID, Action: one.Name, Beside: true}.button("Run "+one.Name+"…", false)
			b.Quiet = true
			a.Buttons = append(a.Buttons, b)
		}
	}
	if len(all) > 0 && !can && slices.ContainsFunc(all, func(one run.Action) bool { return one.May }) {
		a.Lines = append(a.Lines, fmt.Sprintf("Actions can't be run while the cluster is %s.", v.Status))
	}
	return a, nil
}

// actionLine is an action in one line: "backup – Copies the database. Parameters: keep. Requires approval."
func actionLine(a run.Action) string {
	about := a.Title
	if a.Description != "" {
		about = a.Description
	}
	facts := []string{a.Name + " – " + strings.TrimSuffix(humanize.CutText(strings.Join(strings.Fields(about), " "), maxAbout), ".")}
	if len(a.Parameters) > 0 {
		names := make([]string, len(a.Parameters))
		for i, p := range a.Parameters {
			names[i] = p.Name
		}
		facts = append(facts, "Parameters: "+strings.Join(names, ", "))
	}
	if len(a.On) > 0 {
		facts = append(facts, "On nodes with "+humanize.And(a.On))
	}
	if !a.May {
		facts = append(facts, "For "+actionUsers(a.Who))
	} else if a.Approval {
		facts = append(facts, "Requires approval")
	}
	return strings.Join(facts, ". ") + "."
}

func actionUsers(who template.ActionUser) string {
	switch who {
	case template.ActionOwners:
		return "the cluster's owners"
	case template.ActionAdmins:
		return "admins"
	}
	return "people who may use the cluster"
}

// offersRun reports whether a person may run some action on a cluster as it is.
func offersRun(ctx context.Context, r request, runs Runs, v cluster.View) bool {
	if !slices.Contains(v.Actions.Cluster, app.OperationRun) {
		return false
	}
	all, err := runs.Actions(ctx, r.actor, v.ID)
	if err != nil && app.CodeOf(err) != app.EForbidden { // who only reads may not list them
		r.log.Warn("bot: actions can't be listed", "cluster", v.ID, "error", err)
	}
	return slices.ContainsFunc(all, func(a run.Action) bool { return a.May })
}

// run previews an action with the values that were typed, with a button that runs exactly that. Without values it opens the form, unless the
// action has no parameters.
func (rs runs) run(ctx context.Context, r request) (Answer, error) {
	if len(r.words) == 0 {
		return Answer{}, r.usage()
	}
	n := runNote{Channel: r.person.Channel, Cluster: r.words[0]}
	if len(r.words) > 1 {
		n.Action = r.words[1]
	}
	w, err := rs.form(ctx, r, Form{}, n)
	if err != nil {
		return Answer{}, err
	}
	if n.Action == "" || len(r.words) == 2 && len(w.action.Parameters) > 0 {
		return rs.opened(ctx, r, w)
	}
	given, err := r.parametersOf(r.words[2:], "run "+w.view.Name+" "+w.action.Name)
	if err != nil {
		return Answer{}, err
	}
	if _, err := w.action.Values(given); err != nil {
		return Answer{}, w.typedWrong(err)
	}
	return rs.updates.ask(ctx, r, w.view.ID, cluster.Update{Kind: app.OperationRun, Action: w.action.Name, Parameters: given}, "Run action")
}

// parametersOf reads PARAMETER=VALUE. Form is the command that opens a form instead.
func (r request) parametersOf(words []string, form string) (map[string]any, error) {
	given := map[string]any{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if _, twice := given[name]; !ok || name == "" || twice {
			return nil, &app.Error{Code: app.EInvalid, Field: "parameters",
				Message: fmt.Sprintf("“%s” isn't PARAMETER=VALUE, once for each parameter.", humanize.CutText(word, 40)),
				Hint:    "For values with spaces, open the form: " + r.person.Command + " " + form}
		}
		given[name] = value
	}
	return given, nil
}

// typedWrong names the parameter as it's typed: its label may be another word.
func (w *runForm) typedWrong(err error) error {
	e := *app.AsError(err)
	for _, p := range w.action.Parameters {
		if e.Field == "parameters."+p.Name {
			e.Hint = strings.TrimSpace(e.Hint + " Type it as " + p.Name + "=VALUE.")
			return &e
		}
	}
	return err
}

// open opens the form for a button.
func (rs runs) open(ctx context.Context, r request, d action) (Answer, error) {
	w, err := rs.form(ctx, r, Form{}, runNote{Channel: r.person.Channel, Cluster: d.Cluster, Action: d.Action})
	if err == nil && d.Operation != 0 {
		err = rs.fill(ctx, r, w, d)
	}
	if err != nil {
		return Answer{}, err
	}
	return rs.opened(ctx, r, w)
}

// fill fills in the form with the values of an earlier run and, if it failed on some nodes only, with those.
func (rs runs) fill(ctx context.Context, r request, w *runForm, d action) error {
	v, err := rs.runs.Run(ctx, r.actor, w.view.ID, d.Operation)
	if err != nil || w.action == nil {
		return err
	}
	w.form.Values = map[string][]string{}
	for _, p := range w.parameters() {
		value, ok := v.Run.Parameters[p.Name]
		if !ok {
			continue
		}
		text := template.ParameterValueText(value)
		switch p.Type {
		case template.ParameterChoice:
			text = key(text)
		case template.ParameterBoolean:
			text = "=" + text
		}
		w.form.Values[w.field("p:"+p.Name)] = []string{text}
	}
	nodes := v.NodeNames()
	if d.Failed {
		nodes = v.Failed()
	}
	if f := w.nodeField(); f != nil {
		for _, c := range f.Choices {
			if slices.Contains(nodes, c.Name) {
				w.form.Values[f.Name] = append(w.form.Values[f.Name], c.Value)
			}
		}
	}
	others := func(n app.Node) bool { return w.runsOn(n) && !slices.Contains(nodes, n.Name) }
	if len(w.form.Values[w.field("nodes")]) == 0 && slices.ContainsFunc(w.view.Nodes, others) { // none would mean all nodes
		return &app.Error{Code: app.EConflict, Message: "The nodes of that run can't be chosen here: they're gone, or the cluster has too many nodes for the form.",
			Hint: "Run the action on other nodes, or in the portal."}
	}
	w.errors = map[string]*app.Error{}
	w.read()
	return nil
}

func (rs runs) opened(ctx context.Context, r request, w *runForm) (Answer, error) {
	m, err := rs.show(ctx, r, w)
	if err != nil {
		return Answer{}, err
	}
	open := action{Do: doRunAsk, Cluster: w.view.ID, Action: w.note.Action, Beside: true}.button("Open form", false)
	return Answer{Title: "Run action on " + w.view.Name, Lines: []string{"Slack couldn't open the form. Try again, or run the action in one line: " +
		r.person.Command + " run NAME ACTION PARAMETER=VALUE…"},
		Buttons: []Button{open}, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(w.view.ID))}}, Modal: &m}, nil
}

// ran is the answer to an action that was run, or requested.
func (r reader) ran(name string, answer cluster.UpdateAnswer, err error) (Answer, error) {
	a, err := r.updated(answer, err)
	if err == nil && len(a.Started) == 1 {
		a.Title = answer.Cluster.Name + ": running action " + name
		a.Links = []Link{{"View output", r.Page(app.RunSubject(answer.Cluster.ID, answer.Operation))}}
	}
	return a, err
}

// cancel stops an action. What has ended on a node stays as it is.
func (rs runs) cancel(ctx context.Context, r request, d action) (Answer, error) {
	v, err := rs.operations.CancelOperation(ctx, r.actor, d.Cluster, d.Operation, false)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Title: v.Name + ": cancelling the action", Lines: []string{"It's stopped on the nodes where it runs, and doesn't start on others."},
		Links: []Link{{"View output", r.Page(app.RunSubject(v.ID, d.Operation))}}}, nil
}

// runLines say where an action is run, and with which values.
func runLines(p cluster.UpdatePreview) []string {
	var on []string
	for _, n := range p.Nodes {
		if n.Runs {
			on = append(on, n.Name)
		}
	}
	lines := []string{"Runs on " + humanize.Count(len(on), "node") + ": " + cluster.NodesInWords(on) + "."}
	if p.Plan.Run != nil && len(p.Plan.Run.Parameters) > 0 {
		lines = append(lines, "With "+humanize.CutText(p.Plan.Run.Values(), 1000)+".")
	}
	return lines
}

// runVerb is what someone does who runs an action; "" is a command.
func runVerb(name string) string {
	if name == "" {
		return app.OperationRun.Verb()
	}
	return "run action " + name
}

// Limits of what those who decide are shown of a request to run something.
const (
	maxTermValue  = 200 // characters
	maxTermScript = 2500
)

// runTerms show those who decide what is run, with which values. Others see the request without both.
func runTerms(q cluster.Request) (values, script []string) {
	if q.Kind != app.OperationRun || q.Terms.Updated == nil {
		return nil, nil
	}
	for _, c := range q.Terms.Updated.Changes {
		name, isValue := strings.CutPrefix(c.Path, "parameters.")
		switch {
		case isValue && len(values) == maxListed:
			values = append(values, "More values are in the portal.")
		case isValue && len(values) < maxListed:
			values = append(values, "With "+name+"="+humanize.CutText(c.After, maxTermValue))
		case !isValue:
			whole := strings.TrimSpace(c.After)
			text := humanize.CutText(whole, maxTermScript)
			if script = strings.Split(text, "\n"); text != whole {
				script = append(script, "The rest is in the portal.")
			}
		}
	}
	return values, script
}

// parameterTexts are values that were typed, for a button.
func parameterTexts(given map[string]any) map[string]string {
	texts := map[string]string{}
	for name, value := range given {
		texts[name] = template.ParameterValueText(value)
	}
	return texts
}
