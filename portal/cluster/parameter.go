package cluster

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"muster/app/template"
	"muster/portal/page"
	templatepage "muster/portal/template"
)

// parameters sets the fields of the template's parameters: with what was typed, or else the template's defaults.
// A link (said) may set some of them; unknown ones are an error.
func (n *Form) parameters(in url.Values, typed, said bool) {
	if said {
		for key := range in {
			name, is := strings.CutPrefix(key, "set-")
			if is && !slices.ContainsFunc(n.View.Template.Parameters, func(p template.Parameter) bool { return p.Name == name }) {
				n.complain("", page.Complaint{Message: fmt.Sprintf("The link sets parameter %.40q, which this template doesn't have.", name), Hint: "All other values were filled in."})
			}
		}
	}
	for _, p := range n.View.Template.Parameters {
		f := templatepage.ParameterField{Parameter: p}
		switch {
		case typed && (in.Has(f.Field()) || p.Type == template.ParameterBoolean):
			f.Value = in.Get(f.Field())
		case said && in.Has(f.Field()):
			f.Value = in.Get(f.Field())
		case p.Default != nil:
			f.Value = fmt.Sprint(p.Default)
		}
		n.View.Parameters = append(n.View.Parameters, f)
	}
}

// readParameters adds values that differ from the template's to the request, and notes errors.
func (n *Form) readParameters() {
	given := map[string]any{}
	for _, f := range n.View.Parameters {
		value := f.Value
		if f.Type == template.ParameterBoolean && value == "" {
			value = "false"
		}
		standard := ""
		if f.Default != nil {
			standard = fmt.Sprint(f.Default)
		} else if f.Type == template.ParameterBoolean {
			standard = "false"
		}
		if value != standard {
			given[f.Name] = value
		}
	}
	if len(given) > 0 {
		n.request.Parameters = given
	}
	for _, e := range n.View.Template.Complaints(given) {
		n.complain(fieldOf(e), page.Complaint{Message: e.Message, Hint: e.Hint})
	}
}

// parameterSets reports whether a parameter of the template sets the target.
func parameterSets(t *template.Template, target string) bool {
	return slices.ContainsFunc(t.Parameters, func(p template.Parameter) bool { return slices.Contains(p.Targets(), target) })
}
