package operation

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/run"
	"muster/app/template"
	"muster/portal/site"
	templatepage "muster/portal/template"
)

// readAgain returns the values of a command to run again: of the operation that the address names, on its nodes or those on which it failed.
// What the address doesn't name stays as it is.
func (f *changeForm) readAgain(ctx context.Context, runs site.Runs, a app.Actor, in url.Values) (url.Values, error) {
	number := in.Get("again")
	if number == "" {
		return in, nil
	}
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 {
		return nil, app.Errorf(app.ENotFound, "Operation %.20q doesn't exist.", number)
	}
	v, err := runs.Run(ctx, a, f.page.View.ID, id)
	if err != nil {
		return nil, err
	}
	nodes := v.NodeNames()
	if in.Get("failed") != "" {
		nodes = v.Failed()
	}
	nodes = slices.DeleteFunc(nodes, func(name string) bool {
		return !slices.ContainsFunc(f.page.View.Nodes, func(n app.Node) bool { return n.Name == name && n.Status != app.NodeDeleted && !n.Leaving })
	})
	if len(nodes) == 0 { // which must not come to mean all
		return nil, &app.Error{Code: app.EConflict, Message: "The command can't be run again: none of its nodes is left in the cluster, or it failed on none.",
			Hint: "Run it on other nodes."}
	}
	again := url.Values{"kind": in["kind"], "nodes": nodes}
	if v.Run.Action == "" {
		again.Set("command", v.Run.Command)
	} else {
		again.Set("action", v.Run.Action)
	}
	if v.Run.Timeout > 0 {
		again.Set("timeout", timeoutField(v.Run.Timeout))
	}
	for name, value := range v.Run.Parameters {
		again.Set(templatepage.ParameterField{Parameter: template.Parameter{Name: name}}.Field(), template.ParameterValueText(value))
	}
	return again, nil
}

// timeoutField writes a time limit as the form takes it, which knows no days.
func timeoutField(d time.Duration) string {
	if d%time.Hour == 0 {
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return humanize.DurationField(d)
}

// readCommand reads the command to run, or the action with values of its parameters.
func (p *Service) readCommand(ctx context.Context, a app.Actor, f *changeForm, in url.Values) error {
	o := &f.page.Form
	o.Command, o.Timeout = strings.ReplaceAll(in.Get("command"), "\r\n", "\n"), strings.TrimSpace(in.Get("timeout"))
	f.ask.Command, f.ask.Timeout = o.Command, o.Timeout
	f.whole = strings.TrimSpace(o.Command) != ""
	name := in.Get("action")
	if name == "" {
		return nil
	}
	all, err := p.Runs.Actions(ctx, a, f.page.View.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(one run.Action) bool { return one.Name == name })
	if i < 0 {
		_, err := template.ActionNamed(nil, name)
		return err
	}
	o.Command, o.Action = "", &all[i]
	f.ask.Command, f.ask.Action, f.whole = "", name, true
	for _, q := range all[i].Parameters {
		f.readActionParameter(q, in)
	}
	return nil
}

// readActionParameter reads a value; one that is required and not there yet is left to be typed.
func (f *changeForm) readActionParameter(q template.Parameter, in url.Values) {
	o := ParameterNow{ParameterField: templatepage.ParameterField{Parameter: q}}
	o.Value = template.ParameterValueText(q.Default)
	if in.Has(o.Field()) {
		o.Value = in.Get(o.Field())
	} else if q.Type == template.ParameterBoolean && in.Has("sent") {
		o.Value = "false" // browsers don't send unchecked boxes
	}
	f.page.Form.Parameters = append(f.page.Form.Parameters, o)
	switch {
	case o.Value != "":
		f.askParameter(q, o)
	case q.Required:
		f.whole = false
	}
}
