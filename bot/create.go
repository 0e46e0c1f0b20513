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
	apptemplate "muster/app/template"
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

// creates makes clusters, in one line or by a form.
type creates struct {
	catalogs Catalogs
	creates  Creates
	quotas   Quotas
}

// createForm is the modal while it is worked on.
type createForm struct {
	catalog  *apptemplate.Catalog
	template *apptemplate.Template // nil: not chosen yet
	form     Form
	note     note
	request  cluster.ClusterRequest
	errors   map[string]*app.Error // by field; "" for what fits none
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
			w.errors["template"] = &app.Error{Code: app.ENotFound, Message: "There is no such template any more."}
		}
	}
	if w.template = c.Templates[n.Template]; w.template == nil && n.Template != "" {
		w.errors["template"] = &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("There is no template “%s”.", humanize.CutText(n.Template, 60))}
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
	c.request = cluster.ClusterRequest{Name: strings.TrimSpace(c.form.first("name"))}
	c.request.Template = c.template.Name
	if text := strings.TrimSpace(strings.TrimPrefix(c.value("size"), "=")); text != "" {
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
	return slices.ContainsFunc(c.template.Parameters, func(p apptemplate.Parameter) bool { return slices.Contains(p.Targets(), target) })
}

// parameters are those that the modal has room for.
func (c *createForm) parameters() []apptemplate.Parameter {
	return c.template.Parameters[:min(len(c.template.Parameters), mostFields)]
}

// standard is a parameter's value where no one has said another one.
func standard(p apptemplate.Parameter) string {
	switch {
	case p.Default != nil:
		return fmt.Sprint(p.Default)
	case p.Type == apptemplate.ParameterBoolean:
		return "false"
	}
	return ""
}

// given is what stands in the field of a parameter, as the parameter is written.
func (c *createForm) given(p apptemplate.Parameter) string {
	v, there := c.form.Values[c.field("p:"+p.Name)]
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

// wrong notes what is wrong with a field; the first complaint stands.
func (c *createForm) wrong(field string, e *app.Error) {
	if c.errors[field] == nil {
		c.errors[field] = e
	}
}

// fieldOf says where an error belongs; "" for nowhere.
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
