package operation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/resource"
	"muster/app/template"
)

// upgrade takes over what the catalog says now of the cluster's template and services.
func upgrade(ctx context.Context, a *Builder, d *updateBuilder) error {
	if err := d.checkTemplate(); err != nil {
		return err
	}
	published, err := a.Catalogs.CatalogOf(ctx, d.Tenant)
	if err != nil {
		return err
	}
	t := published.Templates[d.Template]
	if t.InState() == template.StateDraft {
		return &app.Error{Code: app.EConflict, Reason: "draft", Message: fmt.Sprintf("Template %s is a draft. Clusters can't be upgraded to drafts.", t.Name),
			Hint: "Ask an admin to publish the template."}
	}
	d.batch = max(1, d.ask.Batch)
	d.notes = append(d.notes, t.Warnings()...)
	changed := map[string]bool{}
	fresh := map[string]*template.Service{}
	for _, name := range d.services {
		if now := published.Services[name]; now != nil {
			fresh[name] = now
		}
	}
	left, err := a.Resources.Common(ctx, d.Tenant, fresh, nil)
	if err != nil {
		return err
	}
	d.notes = append(d.notes, left...)
	if err := a.Resources.Pin(ctx, d.Tenant, fresh); err != nil {
		return err
	}
	var others []string
	for _, name := range d.services {
		now := fresh[name]
		if now == nil {
			d.note("%s is no longer in the catalog and stays unchanged.", name)
			continue
		}
		if d.definition.Services[name] = now; d.was.Services[name] == nil || setUpOtherwise(d.was.Services[name], now) {
			changed[name] = true
		} else if bringsOthers(d.was.Services[name], now) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		d.note("Resources used by %s have changed. Nothing runs again because of this; the next actions use the new versions.", humanize.And(others))
	}
	set, err := d.settle(t)
	if err != nil {
		return err
	}
	d.definition.Overrides = d.was.OwnConfig()
	d.definition.Config = overlay(overlay(t.Defaults.Config, set.Config), d.definition.Overrides)
	lease := t.Lease
	d.definition.Lease, d.definition.Links, d.definition.Hooks = &lease, cluster.LinksOf(t, d.definition.Services), t.Hooks
	d.definition.Immutable, d.definition.Template, d.definition.Health = t.Immutable, t.Digest(), t.Health
	d.definition.Idle, d.definition.Scaling, d.definition.Actions = t.Idle, t.Scaling, t.Actions
	d.definition.PartialResults, d.definition.Firewall = t.PartialResults, t.Firewall
	d.definition.Batches, d.definition.Outputs = t.Batches, t.Outputs
	if err := d.checkLayout(ctx, a, published); err != nil {
		return err
	}
	for i := range d.nodes {
		for _, s := range d.nodes[i].Services {
			if changed[s] {
				d.nodes[i].AllWork(s, plan.WorkUpgrade)
			}
		}
	}
	d.noteServices(t)
	return nil
}

// settle checks the values that were given for the template's parameters against those that it has now.
func (d *updateBuilder) settle(t *template.Template) (template.Resolved, error) {
	given := map[string]any{}
	for name, v := range d.was.Parameters {
		if slices.ContainsFunc(t.Parameters, func(p template.Parameter) bool { return p.Name == name }) {
			given[name] = v
			continue
		}
		d.note("Template %s no longer has the parameter %s, so its value is ignored.", t.Name, name)
	}
	d.definition.Parameters = nil
	if len(given) > 0 {
		d.definition.Parameters = given
	}
	return t.Resolve(given)
}

// checkLayout refuses a template whose constraints the existing cluster doesn't satisfy.
func (d *updateBuilder) checkLayout(ctx context.Context, a *Builder, published *template.Catalog) error {
	view := d.view(published)
	maps.Copy(view.Services, d.definition.Services)
	d.catalog = view
	change, err := a.changeLayout(ctx, d, layout.ChangeRequest{Nodes: d.existingNodes(), Size: len(d.standing.nodes)})
	hint := "Grow the cluster or add services so that it fits, or ask an admin about the template."
	if e := app.AsError(err); err != nil {
		if e.Code == app.ENoLayout || e.Code == app.EInvalid {
			refusal := *e
			refusal.Message = fmt.Sprintf("The cluster doesn't fit the current version of template %s: %s", d.Template, e.Message)
			refusal.Hint = cmp.Or(e.Hint, hint)
			return &refusal
		}
		return err
	}
	for _, n := range change.Nodes {
		if n.New || n.Deleted || len(n.Added)+len(n.Removed) > 0 {
			what := "needs other services"
			if n.New || n.Deleted {
				what = "would have to be created or deleted"
			}
			return &app.Error{Code: app.ENoLayout, Reason: "no_solution", Message: fmt.Sprintf("The cluster doesn't fit the current version of template %s: %s %s.", d.Template, n.Name, what), Hint: hint}
		}
	}
	return nil
}

// noteServices tells which services the template has now and the cluster does not, and the other way round.
func (d *updateBuilder) noteServices(t *template.Template) {
	var more, less []string
	for _, s := range t.Defaults.Services {
		if !slices.Contains(d.services, s) {
			more = append(more, s)
		}
	}
	for _, s := range d.services {
		if !slices.Contains(t.Defaults.Services, s) {
			less = append(less, s)
		}
	}
	if len(more) > 0 {
		d.note("Template %s now includes %s by default. Add services to use them.", d.Template, humanize.And(more))
	}
	if len(less) > 0 {
		d.note("%s: no longer a default service of template %s. Kept until you remove services.", humanize.And(less), d.Template)
	}
}

// setUpActions are those by which a service comes to be what it is on a node.
var setUpActions = []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart}

// setUpOtherwise reports whether a service that is set up by the new entry comes out otherwise. A new stop or removal is only
// known from then on. Resources that an action does not name do not count: they are all that the tenant has in use, and mostly someone else's.
func setUpOtherwise(was, is *template.Service) bool {
	return slices.ContainsFunc(setUpActions, func(a app.Action) bool {
		x, y := was.Actions[a], is.Actions[a]
		return (x == nil) != (y == nil) || x != nil && (x.Automator != y.Automator || !maps.Equal(x.Fields, y.Fields) || !resource.SameContents(resource.ByName(x.Resources, false), resource.ByName(y.Resources, false)) || !template.WrittenAlike(x.Person, y.Person))
	})
}

// bringsOthers reports whether actions have others of the resources that they do not name.
func bringsOthers(was, is *template.Service) bool {
	return slices.ContainsFunc(template.ServiceActions, func(a app.Action) bool {
		x, y := was.Actions[a], is.Actions[a]
		return x != nil && y != nil && !resource.SameContents(resource.ByName(x.Resources, true), resource.ByName(y.Resources, true))
	})
}
