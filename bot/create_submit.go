package bot

import (
	"context"
	"strings"

	"muster/app"
	"muster/app/cluster"
)

// choices are the options of a form field that match what was typed.
func (cr *creates) choices(ctx context.Context, r request, f Form, typed string) ([]Choice, error) {
	c, err := cr.form(ctx, r, Form{ID: f.ID, Note: f.Note}, f.read())
	switch {
	case err != nil:
		return nil, err
	case f.Changed == "template":
		return matching(templateChoices(c.catalog.Offered()), typed), nil
	case c.template == nil:
		return nil, nil
	}
	for _, q := range c.parameters() {
		if c.field("p:"+q.Name) == f.Changed {
			return optionChoices(q.Options, typed), nil
		}
	}
	return nil, nil
}

func (cr *creates) submit(ctx context.Context, r request, f Form) (s Submitted, err error) {
	shown := f.read()
	c, err := cr.form(ctx, r, f, shown)
	if err != nil {
		return s, err
	}
	plan, err := cr.preview(ctx, r, c)
	if err != nil {
		return s, err
	}
	again := func(why string) (Submitted, error) {
		if why != "" {
			c.wrong("", &app.Error{Code: app.EConflict, Message: why})
		}
		m, err := cr.show(ctx, r, c, plan)
		return Submitted{Modal: &m}, err
	}
	switch {
	case len(c.errors) > 0:
		return cr.complain(ctx, r, c, plan)
	case plan == nil:
		return again("Choose a template first.")
	case plan.PlanHash != shown.Hash || c.note.Template != shown.Template:
		return again("Review the plan below, then press the button again.")
	}
	c.request.PlanHash = shown.Hash
	answer, err := cr.creates.Ask(ctx, r.actor, c.request)
	if app.AsError(err).Reason == "plan_changed" && err != nil {
		plan, err = cr.preview(ctx, r, c)
		if err != nil {
			return s, err
		}
		return again("Nothing was created: the catalog changed after this plan was shown. Review the new plan below.")
	}
	if err != nil {
		if err := c.refused(err); err != nil {
			return s, err
		}
		return cr.complain(ctx, r, c, plan)
	}
	a := r.created(answer)
	return Submitted{Answer: &a, Channel: shown.Channel}, nil
}

// complain shows errors at their fields, or at the top of the modal if one has no field.
func (cr *creates) complain(ctx context.Context, r request, c *createForm, plan *cluster.Preview) (s Submitted, err error) {
	m, err := cr.show(ctx, r, c, plan)
	if err != nil {
		return s, err
	}
	s.Late = &m
	if c.errors[""] != nil {
		return Submitted{Modal: &m}, nil //nolint:nilerr // shown in the modal
	}
	s.Errors = map[string]string{}
	for field, e := range c.errors {
		s.Errors[field] = complaint(e)
	}
	// Errors of hidden fields, such as the size before a template is chosen, are shown at the top.
	for _, part := range m.Parts {
		if part.Field != nil {
			delete(c.errors, part.Field.Name)
		}
	}
	if len(c.errors) > 0 {
		var all []string
		for _, e := range c.errors {
			all = append(all, complaint(e))
		}
		m.Parts = append([]Part{{Lines: []string{"⚠ " + strings.Join(all, " ")}}}, m.Parts...)
		return Submitted{Modal: &m}, nil
	}
	return s, nil
}
