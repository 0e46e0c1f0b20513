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
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/label"
	apptemplate "muster/app/template"
)

// modalCreate names the modal for a new cluster.
const modalCreate = "create"

// Limits of the modal.
const (
	maxChoices = 100 // the chat's limit
	maxFields  = 60  // parameters; the portal shows all
	maxNameIn  = 63  // characters of a cluster's name
)

// note is the state of a modal for a new cluster.
type note struct {
	Channel  string `json:"c,omitempty"` // where the command was typed
	Template string `json:"t,omitempty"`
	Hash     string `json:"h,omitempty"` // of the plan shown
}

func (n note) text() string {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // texts only
	}
	return string(b)
}

// key encodes a value for a chat's options: never empty, never too long.
func key(value string) string {
	if len(value) <= 100 {
		return "=" + value
	}
	sum := sha256.Sum256([]byte(value))
	return "#" + hex.EncodeToString(sum[:])
}

// unkey finds a key's value.
func unkey(k string, values []string) (string, bool) {
	for _, v := range values {
		if key(v) == k {
			return v, true
		}
	}
	return "", false
}

// field names a field of a template. Names differ between templates, so that a value typed for one isn't used for another.
func (c *createForm) field(name string) string { return name + "@" + key(c.template.Name) }

// creates creates clusters, from one line or a form.
type creates struct {
	catalogs Catalogs
	creates  Creates
	quotas   Quotas
}

// createForm is the modal while it's being built.
type createForm struct {
	catalog  *apptemplate.Catalog
	template *apptemplate.Template // nil: not chosen yet
	form     Form
	note     note
	request  cluster.CreateRequest
	errors   map[string]*app.Error // by field; "" for none
}

func (cr *creates) form(ctx context.Context, r request, f Form, n note) (*createForm, error) {
	c, err := cr.catalogs.Catalog(ctx, r.actor)
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
			w.errors["template"] = &app.Error{Code: app.ENotFound, Message: "This template no longer exists."}
		}
	}
	if w.template = c.Templates[n.Template]; w.template == nil && n.Template != "" {
		w.errors["template"] = &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Template “%s” doesn't exist.", humanize.CutText(n.Template, 60))}
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

// read makes a request from the form, and records errors.
func (c *createForm) read() {
	c.request = cluster.CreateRequest{Name: strings.TrimSpace(c.form.first("name"))}
	c.request.Template = c.template.Name
	if text := strings.TrimSpace(strings.TrimPrefix(c.value("size"), "=")); text != "" {
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 {
			c.wrong(c.field("size"), &app.Error{Code: app.EInvalid, Message: "Enter a whole number of nodes, at least 1.",
				Hint: "This template allows " + c.template.Constraints.Size.Text() + "."})
		}
		c.request.Size = size
	} else if !c.sets("size") {
		c.wrong(c.field("size"), &app.Error{Code: app.EInvalid, Message: "Enter the number of nodes.", Hint: "This template allows " + c.template.Constraints.Size.Text() + "."})
	}
	if text := strings.TrimPrefix(c.value("lease"), "="); text != "" && text != "default" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			c.wrong(c.field("lease"), &app.Error{Code: app.EInvalid, Message: "Invalid duration.", Hint: "Choose one from the list."})
		} else {
			c.request.Lease = &d
		}
	}
	c.readLabels()
	c.readParameters()
}

// readLabels reads the field of labels, and names what is missing there, as the request's answer would.
func (c *createForm) readLabels() {
	given, err := label.Parse(strings.Split(c.value("labels"), "\n"))
	if err == nil {
		err = label.Check(given)
	}
	if err == nil {
		_, err = c.template.Labels.Complete("", given)
	}
	if err != nil {
		c.wrong(c.field("labels"), app.AsError(err))
	}
	c.request.Labels = given
}

// value is a template field's value or its default.
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

// sets reports whether one of the template's parameters sets target.
func (c *createForm) sets(target string) bool {
	return slices.ContainsFunc(c.template.Parameters, func(p apptemplate.Parameter) bool { return slices.Contains(p.Targets(), target) })
}

// parameters are those that fit into the modal.
func (c *createForm) parameters() []apptemplate.Parameter {
	return c.template.Parameters[:min(len(c.template.Parameters), maxFields)]
}

// standard is a parameter's default.
func standard(p apptemplate.Parameter) string {
	switch {
	case p.Default != nil:
		return fmt.Sprint(p.Default)
	case p.Type == apptemplate.ParameterBoolean:
		return "false"
	}
	return ""
}

// given is the value of a parameter's field.
func (c *createForm) given(p apptemplate.Parameter) string {
	v, there := c.form.Values[c.field("p:"+p.Name)]
	return givenValue(p, v, there)
}

// givenValue is what was entered in the field of a parameter; its default if the field wasn't there.
func givenValue(p apptemplate.Parameter, v []string, there bool) string {
	switch {
	case !there:
		return standard(p)
	case len(v) == 0:
		return ""
	case p.Type == apptemplate.ParameterBoolean:
		return strings.TrimPrefix(v[0], "=")
	case p.Type == apptemplate.ParameterChoice:
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

// wrong records a field's first error.
func (c *createForm) wrong(field string, e *app.Error) {
	if c.errors[field] == nil {
		c.errors[field] = e
	}
}

// fieldOf returns an error's field; "" for none.
func (c *createForm) fieldOf(e *app.Error) string {
	if name, ok := strings.CutPrefix(e.Field, "parameters."); ok {
		if slices.ContainsFunc(c.parameters(), func(p apptemplate.Parameter) bool { return p.Name == name }) {
			return c.field("p:" + name)
		}
		return ""
	}
	switch {
	case e.Field == "name", e.Field == "template":
		return e.Field
	case e.Field == "size", e.Field == "lease", e.Field == "labels":
		return c.field(e.Field)
	case e.Reason == "size", e.Reason == "no_solution":
		return c.field("size")
	}
	return ""
}

// complaint is an error with its hint as one text.
func complaint(e *app.Error) string {
	if e.Hint == "" {
		return e.ForPeople()
	}
	return e.ForPeople() + " " + e.Hint
}

// preview previews the create. Refusals become field errors; other errors are returned.
func (cr *creates) preview(ctx context.Context, r request, c *createForm) (p *cluster.Preview, err error) {
	if c.template == nil || len(c.errors) > 1 || len(c.errors) == 1 && c.errors["name"] == nil {
		return nil, nil
	}
	q := c.request
	q.PlanHash = ""
	v, err := cr.creates.Preview(ctx, r.actor, q)
	if err != nil {
		return nil, c.refused(err)
	}
	return &v, nil
}

// refused turns a refusal into a field error; other errors are returned.
func (c *createForm) refused(err error) error {
	e := app.AsError(err)
	if !isRefusal(e) {
		return err
	}
	c.wrong(c.fieldOf(e), e)
	return nil
}

// isRefusal reports whether an error is one that a form can show, so that people enter something else.
func isRefusal(e *app.Error) bool {
	switch e.Code {
	case app.EInvalid, app.ENotFound, app.EConflict, app.ENoLayout, app.ETooLarge, app.EForbidden, app.EQuota, app.ECapacity:
		return true
	}
	return false
}
