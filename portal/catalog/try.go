package catalog

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
	"muster/portal/page"
	planpage "muster/portal/plan"
	"muster/portal/site"
	templatepage "muster/portal/template"
)

// maxTrials limits the sizes tried at once.
const maxTrials = 6

// tryForm fills in the trial form.
func (e *catalogEditor) tryForm(in url.Values) {
	t := &Try{Template: e.key().Name, Sizes: strings.TrimSpace(in.Get("try_sizes")), Errors: map[string]page.Complaint{}}
	e.view.Try = t
	var parameters []template.Parameter
	if e.view.Kind == template.KindTemplate {
		parameters = e.treeParameters()
	} else {
		t.Template = in.Get("try_template")
		for _, o := range e.catalog.Offered() {
			if t.Template == "" && e.uses(o) {
				t.Template = o.Name
			}
		}
		for _, o := range e.catalog.Offered() {
			if t.Template == "" {
				t.Template = o.Name
			}
			t.Templates = append(t.Templates, page.Choice{Value: o.Name, Label: o.Title(), Chosen: o.Name == t.Template})
		}
		if o := e.catalog.Templates[t.Template]; o != nil {
			parameters = o.Parameters
		}
	}
	if !in.Has("try_sizes") {
		t.Sizes = e.firstSize()
	}
	t.Provider = []page.Choice{{Label: "Template default", Chosen: in.Get("try_provider") == ""}}
	for _, n := range e.names[template.KindProvider] {
		t.Provider = append(t.Provider, page.Choice{Value: n, Label: n, Chosen: in.Get("try_provider") == n})
	}
	for _, q := range parameters {
		f := templatepage.ParameterField{Parameter: q, Prefix: "try-"}
		if q.Default != nil {
			f.Value = fmt.Sprint(q.Default)
		}
		if in.Has(f.Field()) || in.Has("try_sizes") && q.Type == template.ParameterBoolean {
			f.Value = in.Get(f.Field())
		}
		t.Parameters = append(t.Parameters, f)
	}
}

// uses reports whether a template uses this entry by default.
func (e *catalogEditor) uses(t *template.Template) bool {
	name := e.view.Name
	switch e.view.Kind {
	case template.KindService:
		return slices.Contains(t.Defaults.Services, name)
	case template.KindHardware:
		return t.Defaults.Hardware == name
	case template.KindImage:
		return t.Defaults.Image == name
	}
	return t.Defaults.Provider == name
}

// firstSize suggests sizes to try: the smallest and a larger one.
func (e *catalogEditor) firstSize() string {
	if sizes := e.tree.At("constraints", "size", "one_of").Names(); len(sizes) > 0 {
		return strings.Join(sizes[:min(2, len(sizes))], ", ")
	}
	least, err := strconv.Atoi(e.tree.At("constraints", "size", "min").String())
	if err != nil || least < 1 {
		least = 1
	}
	more := least + 2
	if most, err := strconv.Atoi(e.tree.At("constraints", "size", "max").String()); err == nil {
		more = max(least, min(most, 10*least))
	}
	if more == least {
		return strconv.Itoa(least)
	}
	return strconv.Itoa(least) + ", " + strconv.Itoa(more)
}

// treeParameters are the parameters in the YAML, and those of the template it extends.
func (e *catalogEditor) treeParameters() (out []template.Parameter) {
	for _, x := range itemsOf(e.tree.At("parameters")) {
		q := template.Parameter{Name: x.At("name").String(), Label: x.At("label").String(), Help: x.At("help").String(), Type: template.ParameterType(x.At("type").String()),
			Min: x.At("min").String(), Max: x.At("max").String(), Pattern: x.At("pattern").String(), Unit: x.At("unit").String(), Required: x.At("required").String() == "true"}
		if d := x.At("default"); d != nil {
			q.Default = d.Value
		}
		for _, o := range itemsOf(x.At("options")) {
			value := o.Value
			if o.Map {
				value = o.At("value").String()
			}
			q.Options = append(q.Options, template.ParameterOption{Value: value, Label: o.At("label").String()})
		}
		if q.Name != "" {
			out = append(out, q)
		}
	}
	if t := e.catalog.Templates[e.tree.At("extends").String()]; t != nil {
		for _, q := range t.Parameters {
			if !slices.ContainsFunc(out, func(o template.Parameter) bool { return o.Name == q.Name }) {
				out = append(out, q)
			}
		}
	}
	return out
}

// try previews requests of some sizes with the unsaved YAML.
func (e *catalogEditor) try(ctx context.Context, in url.Values) error {
	e.tryForm(in)
	t := e.view.Try
	sizes := e.sizes(t)
	if len(t.Errors) > 0 {
		return nil
	}
	given := map[string]any{}
	for _, f := range t.Parameters {
		value, standard := f.Value, ""
		if f.Default != nil {
			standard = fmt.Sprint(f.Default)
		}
		if f.Type == template.ParameterBoolean && value == "" {
			value = "false"
		}
		if value != standard && (f.Type != template.ParameterBoolean || value != "false" || standard != "") {
			given[f.Name] = value
		}
	}
	for _, size := range sizes {
		q := cluster.CreateRequest{Name: "try", Parameters: given, Request: layout.Request{Template: t.Template, Size: size, Provider: in.Get("try_provider")}}
		trial := Trial{Size: size}
		preview, err := e.p.Trials.TryCatalog(ctx, e.a, e.change(), q)
		if err == nil {
			trial.Preview = planpage.NewPreview(preview, e.titled)
		} else if err := e.why(ctx, &trial, q, err); err != nil {
			return err
		}
		t.Results = append(t.Results, trial)
	}
	return nil
}

// why explains why there's no layout. Errors of parameters are shown at their fields.
func (e *catalogEditor) why(ctx context.Context, trial *Trial, q cluster.CreateRequest, err error) error {
	x := app.AsError(err)
	switch x.Code {
	case app.EInvalid, app.ENotFound, app.EConflict, app.ENoLayout, app.ETooLarge, app.EForbidden, app.EQuota, app.ECapacity:
	default:
		return err
	}
	trial.Refused = page.Complaint{Message: x.Message, Hint: x.Hint}
	if name, ok := strings.CutPrefix(x.Field, "parameters."); ok {
		e.view.Try.Errors[templatepage.ParameterField{Parameter: template.Parameter{Name: name}, Prefix: "try-"}.Field()] = trial.Refused
	}
	if x.Code != app.ENoLayout && site.Reasons[x.Reason] == "" {
		return nil
	}
	why, err := e.p.Trials.ExplainCatalog(ctx, e.a, e.change(), q)
	if err != nil {
		return nil //nolint:nilerr // the error is shown without an explanation
	}
	out := &planpage.Explanation{Minimal: why.Minimal}
	for _, p := range why.Problems {
		out.Problems = append(out.Problems, page.Complaint{Message: p.Message, Hint: p.Hint})
	}
	for _, c := range why.Conflict {
		out.Conflict = append(out.Conflict, page.Complaint{Message: c.Text, Hint: c.Origin})
	}
	for _, f := range why.Fixes {
		out.Fixes = append(out.Fixes, planpage.Fix{Text: f.Text})
	}
	if len(out.Problems)+len(out.Conflict)+len(out.Fixes) > 0 {
		trial.Explanation = out
	}
	return nil
}

// sizes parses numbers of nodes, separated by commas.
func (e *catalogEditor) sizes(t *Try) (out []int) {
	wrong := page.Complaint{Message: "Enter at least one size.", Hint: "Use up to " + strconv.Itoa(maxTrials) + " numbers of nodes, such as 3, 10."}
	for _, word := range splitNames(t.Sizes) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 1_000_000 {
			wrong.Message = strconv.Quote(word) + " isn't a valid number of nodes."
			t.Errors["try_sizes"] = wrong
			return nil
		}
		out = append(out, n)
	}
	if len(out) == 0 || len(out) > maxTrials {
		t.Errors["try_sizes"] = wrong
		return nil
	}
	return out
}

// titled is an entry's display name.
func (e *catalogEditor) titled(kind, name string) string {
	return site.TitlesOf(e.catalog)(kind, name)
}
