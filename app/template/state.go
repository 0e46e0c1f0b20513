package template

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/app"
)

// State says who is offered a template.
type State string

// The states of a template; "" is published.
const (
	StateDraft      State = "draft"      // admins see it and may try it, no one else
	StatePublished  State = "published"  // everyone sees it
	StateDeprecated State = "deprecated" // it works, and its users see what to use instead
)

// InState returns the state in a word, published where nothing else is said.
func (t *Template) InState() State {
	if t.State == "" {
		return StatePublished
	}
	return t.State
}

// Warnings are what people see before they create a cluster of the template; none for most.
func (t *Template) Warnings() []string {
	switch t.InState() {
	case StateDraft:
		return []string{fmt.Sprintf("Template %s is a draft, visible to admins only.", t.Name)}
	case StateDeprecated:
		if t.ReplacedBy != "" {
			return []string{fmt.Sprintf("Template %s is deprecated. Use %s instead.", t.Name, t.ReplacedBy)}
		}
		return []string{fmt.Sprintf("Template %s is deprecated.", t.Name)}
	}
	return nil
}

// For returns what an actor may see of the catalog: to all but admins drafts do not exist. The catalog itself is not changed.
func (c *Catalog) For(actor app.Actor) *Catalog {
	if actor.SeesDrafts() {
		return c
	}
	isDraft := func(t *Template) bool { return t.State == StateDraft }
	if !containsTemplate(c.Templates, isDraft) && !containsTemplate(c.Written, isDraft) {
		return c
	}
	visible := *c
	visible.Templates, visible.Written = withoutTemplates(c.Templates, isDraft), withoutTemplates(c.Written, isDraft)
	return &visible
}

func containsTemplate(all map[string]*Template, has func(*Template) bool) bool {
	for _, t := range all {
		if has(t) {
			return true
		}
	}
	return false
}

func withoutTemplates(all map[string]*Template, out func(*Template) bool) map[string]*Template {
	left := make(map[string]*Template, len(all))
	for name, t := range all {
		if !out(t) {
			left[name] = t
		}
	}
	return left
}

// Offered returns the templates in the order in which people are offered them: deprecated ones last, then by title and name.
func (c *Catalog) Offered() []*Template {
	list := make([]*Template, 0, len(c.Templates))
	for _, t := range c.Templates {
		list = append(list, t)
	}
	slices.SortFunc(list, compareOffered)
	return list
}

// TemplateFor returns a template that the actor may make a cluster of. The solver is left to say that there is none of the name;
// then it is nil.
func (c *Catalog) TemplateFor(actor app.Actor, name string) (*Template, error) {
	if w := c.Written[name]; w != nil && w.Partial {
		return nil, &app.Error{Code: app.EInvalid, Reason: "partial", Field: "template", Message: fmt.Sprintf("Template %s is partial: it can only be used in other templates.", name),
			Hint: "Choose a template that includes or extends it."}
	}
	t := c.Templates[name]
	if t != nil && t.State == StateDraft && !actor.SeesDrafts() {
		return nil, &app.Error{Code: app.EForbidden, Reason: "draft", Field: "template", Message: fmt.Sprintf("Template %s is a draft, which only admins can use.", name),
			Hint: "Choose another template, or ask an admin to publish this one."}
	}
	return t, nil
}

func compareOffered(a, b *Template) int {
	rank := func(t *Template) int {
		return slices.Index([]State{StatePublished, StateDraft, StateDeprecated}, t.InState())
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(strings.ToLower(a.Title()), strings.ToLower(b.Title())), strings.Compare(a.Name, b.Name))
}

// States are all of them.
var States = []State{StateDraft, StatePublished, StateDeprecated}
