package bot

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/app/template"
)

// modal makes the modal's current state.
func (cr *creates) modal(ctx context.Context, r request, f Form, n note) (Modal, error) {
	c, err := cr.form(ctx, r, f, n)
	if err != nil {
		return Modal{}, err
	}
	p, err := cr.preview(ctx, r, c)
	if err != nil {
		return Modal{}, err
	}
	return cr.show(ctx, r, c, p)
}

func (cr *creates) show(ctx context.Context, r request, c *createForm, p *cluster.Preview) (Modal, error) {
	m := Modal{ID: modalCreate, Title: "New cluster"}
	if e := c.errors[""]; e != nil {
		m.Parts = append(m.Parts, Part{Lines: []string{"⚠ " + complaint(e)}})
	}
	m.Parts = append(m.Parts, c.part(c.templateField()))
	if c.template == nil {
		// Slack requires a submit button in a form with a field; submitting without a choice asks for one.
		m.Note, m.Submit = note{Channel: c.note.Channel}.text(), "Continue"
		return m, nil
	}
	if d := c.template.Description; d != "" {
		m.Parts = append(m.Parts, Part{Quiet: true, Lines: []string{d}})
	}
	for _, f := range c.fields() {
		m.Parts = append(m.Parts, c.part(f))
	}
	if more := len(c.template.Parameters) - maxFields; more > 0 {
		m.Parts = append(m.Parts, Part{Quiet: true, Lines: []string{humanize.Count(more, "more parameter") + " in the portal."}})
	}
	last := Part{Title: "Preview", Buttons: []Button{{Name: "Update preview", Value: "preview", Quiet: true, Fill: true}},
		Links: []Link{{"All options in portal", r.Page(app.Subject{Kind: app.SubjectNewCluster, Query: "template=" + urlWord(c.template.Name)})}}}
	c.note.Hash = ""
	if p == nil {
		last.Lines = []string{"Fill in the fields above to see a preview."}
	} else {
		left, err := cr.quotas.QuotaLeft(ctx, r.actor)
		if err != nil {
			return Modal{}, err
		}
		c.note.Hash, last.Lines = p.PlanHash, r.previewLines(*p, left)
	}
	m.Parts = append(m.Parts, last)
	m.Submit, m.Note = "Create cluster", c.note.text()
	if p != nil && p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove {
		m.Submit = "Request approval"
	}
	return m, nil
}

// part shows a field with its error above it, so that no error is lost if the chat can't show it at the field. Fields that people
// haven't seen yet show no errors.
func (c *createForm) part(f Field) Part {
	p := Part{Field: &f}
	_, seen := c.form.Values[f.Name]
	if e := c.errors[f.Name]; e != nil && (seen || f.Name == "template") {
		p.Lines = []string{"⚠ " + f.Label + ": " + complaint(e)}
	}
	return p
}

// templateField is the choice of a template.
func (c *createForm) templateField() Field {
	f := Field{Name: "template", Kind: FieldChoice, Label: "Template", Live: true, Placeholder: "Choose a template"}
	if c.template != nil {
		f.Values = []string{key(c.template.Name)}
	}
	offered := c.catalog.Offered()
	if f.Typeahead = len(offered) > maxChoices; f.Typeahead {
		offered = nil
		if c.template != nil {
			offered = []*template.Template{c.template}
		}
	}
	f.Choices = templateChoices(offered)
	return f
}

func templateChoices(list []*template.Template) []Choice {
	var out []Choice
	for _, t := range list {
		name := t.Title()
		if t.InState() != template.StatePublished {
			name += " (" + string(t.InState()) + ")"
		}
		out = append(out, Choice{Name: name, Value: key(t.Name), Hint: t.Description})
	}
	return out
}

// fields are those of the chosen template.
func (c *createForm) fields() []Field {
	t := c.template
	name := Field{Name: "name", Kind: FieldText, Label: "Name", Hint: "Leave empty for a generated name.", Optional: true, Most: maxNameIn, Values: c.form.Values["name"]}
	size := Field{Name: c.field("size"), Kind: FieldNumber, Label: "Nodes", Hint: "This template allows " + t.Constraints.Size.Text() + ".", Live: true,
		Optional: c.sets("size")}
	if v := strings.TrimPrefix(c.value("size"), "="); v != "" {
		size.Values = []string{v}
	}
	if sizes := t.Constraints.Size.OneOf; len(sizes) > 0 {
		size.Kind = FieldChoice
		for _, n := range sizes {
			size.Choices = append(size.Choices, Choice{Name: humanize.Count(n, "node"), Value: "=" + strconv.Itoa(n)})
		}
		// A typed size that isn't allowed can't be chosen; the error is shown at the field.
		if len(size.Values) > 0 {
			if size.Values[0] = "=" + size.Values[0]; !slices.ContainsFunc(size.Choices, func(o Choice) bool { return o.Value == size.Values[0] }) {
				size.Values = nil
			}
		}
	} else {
		least := max(t.Constraints.Size.Min, 1)
		size.Min = &least
		if most := t.Constraints.Size.Max; most > 0 && most < template.Unlimited {
			size.Max = &most
		}
	}
	lease := Field{Name: c.field("lease"), Kind: FieldChoice, Label: "Lease", Hint: "The cluster is deleted when its lease expires.", Live: true, Values: []string{"=default"},
		Choices: []Choice{{Name: app.LeaseWords(t.Lease.Initial) + " (default)", Value: "=default"}}}
	if v := c.value("lease"); v != "" {
		lease.Values = []string{v}
	}
	for _, d := range t.Lease.Lengths() {
		lease.Choices = append(lease.Choices, Choice{Name: app.LeaseWords(d), Value: "=" + d.String()})
	}
	// A duration typed in the command is added as an option, or it would be lost silently.
	if v := c.request.Lease; v != nil && !slices.ContainsFunc(lease.Choices, func(o Choice) bool { return o.Value == lease.Values[0] }) {
		lease.Choices = append(lease.Choices, Choice{Name: app.LeaseWords(*v), Value: "=" + v.String()})
	}
	list := []Field{name, size, lease}
	for _, p := range c.parameters() {
		list = append(list, c.parameterField(p))
	}
	return append(list, c.labelField())
}

// labelField has a line for each label.
func (c *createForm) labelField() Field {
	f := Field{Name: c.field("labels"), Kind: FieldLong, Label: "Labels", Hint: "One per line, as key=value.", Optional: true, Most: 3000}
	if v := c.value("labels"); v != "" {
		f.Values = []string{v}
	}
	if l := c.template.Labels; l != nil && len(l.Required) > 0 {
		f.Hint, f.Optional = f.Hint+" Required: "+humanize.And(slices.Sorted(maps.Keys(l.Required)))+".", false
	}
	return f
}

func (c *createForm) parameterField(p template.Parameter) Field {
	return parameterField(c.field("p:"+p.Name), p, c.given(p))
}

// parameterField is the field of a parameter with a value.
func parameterField(name string, p template.Parameter, v string) Field {
	f := Field{Name: name, Kind: FieldText, Label: p.Title(), Hint: strings.TrimSpace(p.Help + " " + p.Hint()),
		Optional: !p.Required || standard(p) != "", Live: true}
	switch p.Type {
	case template.ParameterBoolean:
		f.Kind, f.Hint, f.Optional = FieldChoice, p.Help, false
		f.Choices = []Choice{{Name: "yes", Value: "=true"}, {Name: "no", Value: "=false"}}
		f.Values = []string{"=" + v}
		return f
	case template.ParameterChoice:
		f.Kind, f.Hint = FieldChoice, p.Help
		f.Choices = optionChoices(p.Options, "")
		if v != "" {
			f.Values = []string{key(v)}
		}
		if f.Typeahead = len(p.Options) > maxChoices; f.Typeahead {
			f.Choices = slices.DeleteFunc(optionChoicesAll(p.Options), func(o Choice) bool { return o.Value != key(v) })
		}
		return f
	case template.ParameterInteger:
		f.Kind = FieldNumber
		f.Min, f.Max = bound(p.Min), bound(p.Max)
	case template.ParameterText:
		if n, err := strconv.Atoi(p.Max); err == nil && n > 0 {
			f.Most = 2 * n // longer text gets an error and isn't cut off
		}
	}
	if v != "" {
		f.Values = []string{v}
	}
	return f
}

func bound(text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return &n
}

func optionChoicesAll(options []template.ParameterOption) []Choice {
	var out []Choice
	for _, o := range options {
		out = append(out, Choice{Name: o.Title(), Value: key(o.Value)})
	}
	return out
}

// optionChoices are the options that match what was typed, up to the chat's limit.
func optionChoices(options []template.ParameterOption, typed string) []Choice {
	return matching(optionChoicesAll(options), typed)
}

// matching returns the choices that start with some text, then those that contain it.
func matching(all []Choice, typed string) []Choice {
	typed = strings.ToLower(strings.TrimSpace(typed))
	var first, rest []Choice
	for _, c := range all {
		name, value := strings.ToLower(c.Name), ""
		if v, whole := strings.CutPrefix(c.Value, "="); whole {
			value = strings.ToLower(v)
		}
		switch {
		case strings.HasPrefix(name, typed), strings.HasPrefix(value, typed):
			first = append(first, c)
		case strings.Contains(name, typed), strings.Contains(value, typed), strings.Contains(strings.ToLower(c.Hint), typed):
			rest = append(rest, c)
		}
	}
	all = append(first, rest...)
	return all[:min(len(all), maxChoices)]
}

// open opens the form for a button.
func (cr *creates) open(ctx context.Context, r request, d action) (Answer, error) {
	m, err := cr.modal(ctx, r, Form{Values: map[string][]string{}}, note{Channel: r.person.Channel, Template: d.Template})
	return Answer{Title: "New cluster", Lines: []string{"Slack couldn't open the form. Try again."}, Modal: &m}, err
}
