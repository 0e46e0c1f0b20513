package operation

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"muster/app"
	"muster/app/run"
	"muster/app/template"
	templatepage "muster/portal/template"
)

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
