package operation

import (
	"net/url"

	"muster/app"
	"muster/app/template"
	"muster/portal/page"
	templatepage "muster/portal/template"
)

// readParameters sets the fields of the parameters that can be changed, and adds edited values to the request. A field that isn't sent
// doesn't change; the form that applies the change sends only those that do.
func (f *changeForm) readParameters(in url.Values) {
	t := f.catalog.Templates[f.page.View.Template]
	if t == nil {
		return
	}
	for _, p := range t.Parameters {
		if !p.Configures() {
			continue
		}
		o := ParameterNow{ParameterField: templatepage.ParameterField{Parameter: p}}
		o.Was = template.ParameterValueText(f.page.View.Parameters[p.Name])
		if o.Was == "" && p.Type == template.ParameterBoolean {
			o.Was = "false"
		}
		if o.Value = o.Was; in.Has(o.WasField()) {
			o.Was = in.Get(o.WasField())
			if o.Value = in.Get(o.Field()); o.Value == "" && p.Type == template.ParameterBoolean {
				o.Value = "false" // browsers don't send unchecked boxes
			}
		} else if in.Has(o.Field()) {
			o.Value = in.Get(o.Field())
		}
		if standard := template.ParameterValueText(p.Default); standard != "" && p.Type != template.ParameterText && p.Type != template.ParameterBoolean && p.Type != template.ParameterChoice {
			o.Help = sentence(o.Help) + "Leave empty for the template's default: " + standard + "."
		}
		f.page.Form.Parameters = append(f.page.Form.Parameters, o)
		if o.Value != o.Was {
			f.askParameter(p, o)
		}
	}
}

func (f *changeForm) askParameter(p template.Parameter, o ParameterNow) {
	if f.ask.Parameters == nil {
		f.ask.Parameters = map[string]any{}
	}
	f.ask.Parameters[p.Name] = o.Value
	if _, err := p.Value(o.Value); err != nil {
		f.refused(app.AsError(err))
	}
}

// refused shows the error at the parameter's field if it is about one, or else above the form.
func (f *changeForm) refused(e *app.Error) {
	c := page.Complaint{Message: e.Message, Hint: e.Hint}
	for _, o := range f.page.Form.Parameters {
		if e.Field == "parameters."+o.Name {
			if f.page.Errors == nil {
				f.page.Errors = map[string]page.Complaint{}
			}
			f.page.Errors[o.Field()] = c
			return
		}
	}
	f.page.Complaint = c
}

// sentence ends a text that another sentence follows.
func sentence(text string) string {
	switch {
	case text == "":
		return ""
	case text[len(text)-1] == '.':
		return text + " "
	}
	return text + ". "
}
