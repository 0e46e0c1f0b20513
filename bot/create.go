package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// modalCreate names the modal for a new cluster.
const modalCreate = "create"

// Limits of the modal.
const (
	mostChoices = 100 // that a chat shows at once
	mostFields  = 60  // parameters; the portal has room for all
	mostNameIn  = 63  // letters of a cluster's name
)

// note is what a modal for a new cluster remembers.
type note struct {
	Channel  string `json:"c,omitempty"` // where it was asked for
	Template string `json:"t,omitempty"`
	Hash     string `json:"h,omitempty"` // of the plan that it shows
}

func (n note) text() string {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // texts only
	}
	return string(b)
}

// key makes of a value one that a chat takes as that of a choice: never empty, and never too long.
func key(value string) string {
	if len(value) <= 100 {
		return "=" + value
	}
	sum := sha256.Sum256([]byte(value))
	return "#" + hex.EncodeToString(sum[:])
}

// unkey finds the value of a key among those that there are.
func unkey(k string, values []string) (string, bool) {
	for _, v := range values {
		if key(v) == k {
			return v, true
		}
	}
	return "", false
}

// field names a field of a template: fields of different templates are different ones, so that nothing that was typed for one
// is taken for another's.
func (c *createForm) field(name string) string { return name + "@" + key(c.template.Name) }

// createForm is the modal while it is worked on.
type createForm struct {
	catalog  *app.Catalog
	template *app.Template // nil: not chosen yet
	form     Form
	note     note
	request  app.ClusterRequest
	errors   map[string]*app.Error // by field; "" for what fits none
}

func (b *Bot) createForm(ctx context.Context, r request, f Form, n note) (*createForm, error) {
	c, err := b.muster.Catalog(ctx, r.actor)
	if err != nil {
		return nil, err
	}
	w := &createForm{catalog: c, form: f, note: n, errors: map[string]*app.Error{}}
	if f.Values == nil {
		w.form.Values = map[string][]string{}
	}
	if chosen := f.first("template"); chosen != "" {
		n.Template = ""
		for name := range c.Templates {
			if key(name) == chosen {
				n.Template = name
			}
		}
		if n.Template == "" {
			w.errors["template"] = &app.Error{Code: app.ENotFound, Message: "There is no such template any more."}
		}
	}
	if w.template = c.Templates[n.Template]; w.template == nil && n.Template != "" {
		w.errors["template"] = &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("There is no template “%s”.", app.CutText(n.Template, 60))}
	}
	if w.template == nil && len(c.Templates) == 1 {
		for _, w.template = range c.Templates {
		}
	}
	if w.template != nil {
		w.note.Template = w.template.Name
		w.read()
	}
	return w, nil
}

func (f Form) first(name string) string {
	if v := f.Values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// read makes the request of what was filled in, and complains about what cannot be part of one.
func (c *createForm) read() {
	c.request = app.ClusterRequest{Name: strings.TrimSpace(c.form.first("name"))}
	c.request.Template = c.template.Name
	if text := strings.TrimSpace(c.value("size")); text != "" {
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 {
			c.wrong(c.field("size"), &app.Error{Code: app.EInvalid, Message: "The number of nodes must be a whole number from 1 on.",
				Hint: "This template takes " + c.template.Constraints.Size.Words() + "."})
		}
		c.request.Size = size
	} else if !c.sets("size") {
		c.wrong(c.field("size"), &app.Error{Code: app.EInvalid, Message: "How many nodes?", Hint: "This template takes " + c.template.Constraints.Size.Words() + "."})
	}
	if text := strings.TrimPrefix(c.value("lease"), "="); text != "" && text != "default" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			c.wrong(c.field("lease"), &app.Error{Code: app.EInvalid, Message: "That is not a length of time.", Hint: "Choose one from the list."})
		} else {
			c.request.Lease = &d
		}
	}
	c.readParameters()
}

// value is what stands in a field of the template, or what it begins with.
func (c *createForm) value(name string) string {
	if v, there := c.form.Values[c.field(name)]; there {
		if len(v) == 0 {
			return ""
		}
		return v[0]
	}
	if name == "size" && !c.sets("size") {
		return strconv.Itoa(max(1, c.template.Constraints.Size.Min))
	}
	return ""
}

// sets tells whether one of the template's parameters sets something.
func (c *createForm) sets(target string) bool {
	return slices.ContainsFunc(c.template.Parameters, func(p app.Parameter) bool { return slices.Contains(p.Targets(), target) })
}

// parameters are those that the modal has room for.
func (c *createForm) parameters() []app.Parameter {
	return c.template.Parameters[:min(len(c.template.Parameters), mostFields)]
}

// standard is a parameter's value where nobody has said another one.
func standard(p app.Parameter) string {
	switch {
	case p.Default != nil:
		return fmt.Sprint(p.Default)
	case p.Type == app.ParameterBoolean:
		return "false"
	}
	return ""
}

// given is what stands in the field of a parameter, as the parameter is written.
func (c *createForm) given(p app.Parameter) string {
	v, there := c.form.Values[c.field("p:"+p.Name)]
	switch {
	case !there:
		return standard(p)
	case len(v) == 0:
		return ""
	case p.Type == app.ParameterBoolean:
		return strings.TrimPrefix(v[0], "=")
	case p.Type == app.ParameterChoice:
		var values []string
		for _, o := range p.Options {
			values = append(values, o.Value)
		}
		value, ok := unkey(v[0], values)
		if !ok {
			return "\uFFFD" // which no option is
		}
		return value
	}
	return v[0]
}

func (c *createForm) readParameters() {
	given := map[string]any{}
	for _, p := range c.parameters() {
		if v := c.given(p); v != standard(p) {
			given[p.Name] = v
		}
	}
	if len(given) > 0 {
		c.request.Parameters = given
	}
	for _, e := range c.template.Complaints(given) {
		c.wrong(c.fieldOf(e), e)
	}
}

// wrong notes what is wrong with a field; the first complaint stands.
func (c *createForm) wrong(field string, e *app.Error) {
	if c.errors[field] == nil {
		c.errors[field] = e
	}
}

// fieldOf says where an error belongs; "" for nowhere.
func (c *createForm) fieldOf(e *app.Error) string {
	if name, ok := strings.CutPrefix(e.Field, "parameters."); ok {
		if slices.ContainsFunc(c.parameters(), func(p app.Parameter) bool { return p.Name == name }) {
			return c.field("p:" + name)
		}
		return ""
	}
	switch {
	case e.Field == "name", e.Field == "template":
		return e.Field
	case e.Field == "size", e.Field == "lease":
		return c.field(e.Field)
	case e.Reason == "size", e.Reason == "no_solution":
		return c.field("size")
	}
	return ""
}

// complaint is one text for one field.
func complaint(e *app.Error) string {
	if e.Hint == "" {
		return e.ForPeople()
	}
	return e.ForPeople() + " " + e.Hint
}

// preview works out what the create would do. Refusals become complaints; any other error is given back.
func (b *Bot) preview(ctx context.Context, r request, c *createForm) (p *app.Preview, err error) {
	if c.template == nil || len(c.errors) > 1 || len(c.errors) == 1 && c.errors["name"] == nil {
		return nil, nil
	}
	q := c.request
	q.PlanHash = ""
	v, err := b.muster.Preview(ctx, r.actor, q)
	if err != nil {
		return nil, c.refused(err)
	}
	return &v, nil
}

// refused makes a complaint of an answer about the request; another error is given back.
func (c *createForm) refused(err error) error {
	e := app.AsError(err)
	switch e.Code {
	case app.EInvalid, app.ENotFound, app.EConflict, app.ENoLayout, app.ETooLarge, app.EForbidden, app.EQuota, app.ECapacity:
		c.wrong(c.fieldOf(e), e)
		return nil
	}
	return err
}

// createModal makes the modal as it is to be shown now.
func (b *Bot) createModal(ctx context.Context, r request, f Form, n note) (Modal, error) {
	c, err := b.createForm(ctx, r, f, n)
	if err != nil {
		return Modal{}, err
	}
	p, err := b.preview(ctx, r, c)
	if err != nil {
		return Modal{}, err
	}
	return b.showCreate(ctx, r, c, p)
}

func (b *Bot) showCreate(ctx context.Context, r request, c *createForm, p *app.Preview) (Modal, error) {
	m := Modal{ID: modalCreate, Title: "New cluster"}
	if e := c.errors[""]; e != nil {
		m.Parts = append(m.Parts, Part{Lines: []string{"⚠ " + complaint(e)}})
	}
	m.Parts = append(m.Parts, c.part(c.templateField()))
	if c.template == nil {
		m.Note = note{Channel: c.note.Channel}.text()
		return m, nil
	}
	if d := c.template.Description; d != "" {
		m.Parts = append(m.Parts, Part{Quiet: true, Lines: []string{d}})
	}
	for _, f := range c.fields() {
		m.Parts = append(m.Parts, c.part(f))
	}
	if more := len(c.template.Parameters) - mostFields; more > 0 {
		m.Parts = append(m.Parts, Part{Quiet: true, Lines: []string{several(more, "parameter") + " more can be set in the portal."}})
	}
	last := Part{Title: "What would be made", Buttons: []Button{{Name: "Work it out", Value: "preview", Quiet: true, Fill: true}},
		Links: []Link{{"All choices", b.at("/clusters/new?template=" + urlWord(c.template.Name))}}}
	c.note.Hash = ""
	if p == nil {
		last.Lines = []string{"That can be said once the fields are filled in."}
	} else {
		left, err := b.muster.QuotaLeft(ctx, r.actor)
		if err != nil {
			return Modal{}, err
		}
		c.note.Hash, last.Lines = p.PlanHash, previewLines(*p, left)
	}
	m.Parts = append(m.Parts, last)
	m.Submit, m.Note = "Create", c.note.text()
	if p != nil && p.Decision != nil && p.Decision.Outcome == app.OutcomeApprove {
		m.Submit = "Ask for it"
	}
	return m, nil
}

// part shows a field, with what is wrong with it above: where a complaint cannot be said at the field itself, it is not lost.
// Nobody is blamed for a field that they have not seen yet.
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
	f := Field{Name: "template", Kind: FieldChoice, Label: "Template", Live: true, Placeholder: "Choose one"}
	if c.template != nil {
		f.Values = []string{key(c.template.Name)}
	}
	offered := c.catalog.Offered()
	if f.Asked = len(offered) > mostChoices; f.Asked {
		offered = nil
		if c.template != nil {
			offered = []*app.Template{c.template}
		}
	}
	f.Choices = templateChoices(offered)
	return f
}

func templateChoices(list []*app.Template) []Choice {
	var out []Choice
	for _, t := range list {
		name := t.Title()
		if t.InState() != app.TemplatePublished {
			name += " (" + string(t.InState()) + ")"
		}
		out = append(out, Choice{Name: name, Value: key(t.Name), Hint: t.Description})
	}
	return out
}

// fields are those of the chosen template.
func (c *createForm) fields() []Field {
	t := c.template
	name := Field{Name: "name", Kind: FieldText, Label: "Name", Hint: "Left empty, it gets one.", Optional: true, Most: mostNameIn, Values: c.form.Values["name"]}
	size := Field{Name: c.field("size"), Kind: FieldNumber, Label: "Nodes", Hint: "This template takes " + t.Constraints.Size.Words() + ".", Live: true,
		Optional: c.sets("size")}
	if v := c.value("size"); v != "" {
		size.Values = []string{v}
	}
	least := max(t.Constraints.Size.Min, 1)
	size.Min = &least
	if most := t.Constraints.Size.Max; most > 0 && most < app.Unlimited {
		size.Max = &most
	}
	lease := Field{Name: c.field("lease"), Kind: FieldChoice, Label: "Lease", Hint: "How long it lives.", Live: true, Values: []string{"=default"},
		Choices: []Choice{{Name: app.LeaseWords(t.Lease.Initial) + " (default)", Value: "=default"}}}
	if v := c.value("lease"); v != "" {
		lease.Values = []string{v}
	}
	for _, d := range t.Lease.Lengths() {
		lease.Choices = append(lease.Choices, Choice{Name: app.LeaseWords(d), Value: "=" + d.String()})
	}
	list := []Field{name, size, lease}
	for _, p := range c.parameters() {
		list = append(list, c.parameterField(p))
	}
	return list
}

func (c *createForm) parameterField(p app.Parameter) Field {
	f := Field{Name: c.field("p:" + p.Name), Kind: FieldText, Label: p.Title(), Hint: strings.TrimSpace(p.Help + " " + p.Hint()),
		Optional: !p.Required || standard(p) != "", Live: true}
	v := c.given(p)
	switch p.Type {
	case app.ParameterBoolean:
		f.Kind, f.Hint, f.Optional = FieldChoice, p.Help, false
		f.Choices = []Choice{{Name: "yes", Value: "=true"}, {Name: "no", Value: "=false"}}
		f.Values = []string{"=" + v}
		return f
	case app.ParameterChoice:
		f.Kind, f.Hint = FieldChoice, p.Help
		f.Choices = optionChoices(p.Options, "")
		if v != "" {
			f.Values = []string{key(v)}
		}
		if f.Asked = len(p.Options) > mostChoices; f.Asked {
			f.Choices = slices.DeleteFunc(optionChoicesAll(p.Options), func(o Choice) bool { return o.Value != key(v) })
		}
		return f
	case app.ParameterInteger:
		f.Kind = FieldNumber
		f.Min, f.Max = bound(p.Min), bound(p.Max)
	case app.ParameterText:
		if n, err := strconv.Atoi(p.Max); err == nil && n > 0 {
			f.Most = 2 * n // too long is told, not cut off
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

func optionChoicesAll(options []app.ParameterOption) []Choice {
	var out []Choice
	for _, o := range options {
		out = append(out, Choice{Name: o.Title(), Value: key(o.Value)})
	}
	return out
}

// optionChoices are those that have what was typed in them, as many as are shown at once.
func optionChoices(options []app.ParameterOption, typed string) []Choice {
	return matching(optionChoicesAll(options), typed)
}

// matching gives the choices that fit some letters: those that begin with them, then those that have them anywhere.
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
	return all[:min(len(all), mostChoices)]
}
