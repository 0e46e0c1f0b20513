package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/layout"
	applayout "muster/app/layout"
	appplan "muster/app/plan"
	"muster/app/template"
	"muster/app/volume"
)

// SetLease sets for how long the cluster lives, by the template's rules, and what that costs. Nothing else of a preview depends on it.
func (p *Preview) SetLease(t *template.Template, asked *time.Duration) (err error) {
	p.Lease, err = t.Lease.LengthFor(asked)
	p.Cost = p.Layout.CostPerHour * p.Lease.Hours()
	return err
}

// Preview works out what a create would do, and what policies would say to it. Nothing is accepted or written.
func (a *Creates) Preview(ctx context.Context, actor app.Actor, r CreateRequest) (Preview, error) {
	if err := actor.Authorize("Preview"); err != nil {
		return Preview{}, err
	}
	ctx = catalog.HoldCatalog(ctx)
	w, err := a.EvaluateRequest(ctx, actor, r, true)
	return a.CompletePreview(ctx, actor, w, err)
}

// CompletePreview adds to a preview what nothing depends on: machines of pools, a cheaper layout, and problems that are foreseen.
func (a *Creates) CompletePreview(ctx context.Context, actor app.Actor, w Evaluation, err error) (Preview, error) {
	if err == nil {
		if len(w.Request.ProviderValues) == 0 {
			w.Preview.FromPools, err = a.matchForCreate(ctx, actor.Tenant, w.Draft, w.Preview)
		}
	}
	if err != nil {
		return w.Preview, err
	}
	w.Preview.Cheaper = a.cheaper(ctx, actor.Tenant, w.Draft, w.Preview.Layout)
	if w.Preview.ProviderFields, err = a.Values.Fields(ctx, actor.Tenant, w.Preview.Layout.Provider); err != nil {
		return w.Preview, err
	}
	err = a.runPreflight(ctx, actor.Tenant, w.Draft, w.Request.ProviderValues, &w.Preview)
	return w.Preview, err
}

// Prepare is the part of a create that needs no decision: solve, plan, price.
func (a *Creates) Prepare(ctx context.Context, tenant string, r CreateRequest) (Draft, Preview, error) {
	if err := template.CheckSize(r.Size); err != nil {
		return Draft{}, Preview{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, layout.SolveTime)
	defer cancel()
	leave, err := a.Solving.Enter(ctx, tenant)
	if err != nil {
		return Draft{}, Preview{}, err
	}
	defer leave()
	c, revision, err := a.Catalogs.CatalogAt(ctx, tenant, 0)
	if err != nil {
		return Draft{}, Preview{}, err
	}
	var set template.Resolved
	if t := c.Templates[r.Template]; t != nil {
		var err error
		if r, set, err = r.resolved(t); err != nil {
			return Draft{}, Preview{}, err
		}
		if err := template.CheckSize(r.Size); err != nil {
			return Draft{}, Preview{}, err
		}
	}
	layout, err := applayout.SolveIn(ctx, a.Solver, c, r.Request)
	if err != nil {
		return Draft{}, Preview{}, err
	}
	layout.Currency = c.Currency
	for _, g := range layout.Groups {
		if err := c.Templates[r.Template].CheckPlace(template.Place{Provider: layout.Provider, Zone: g.Zone, Hardware: g.Hardware}); err != nil {
			return Draft{}, Preview{}, err
		}
	}
	if err := a.Preflight.CheckProvisioner(ctx, tenant, c.Providers[layout.Provider]); err != nil {
		return Draft{}, Preview{}, err
	}
	t := c.Templates[r.Template]
	p := Preview{Template: r.Template, Layout: layout}
	if err := p.SetLease(t, r.Lease); err != nil {
		return Draft{}, Preview{}, err
	}
	d := Draft{Template: t, Asked: r.Request, Catalog: revision, Nodes: appplan.Nodes(layout), DnsSuffix: cmp.Or(r.DNSSuffix, t.Defaults.DNSSuffix, app.DefaultDNSSuffix)}
	if err := app.CheckDNSSuffix(d.DnsSuffix); err != nil {
		return Draft{}, Preview{}, err
	}
	d.Definition = define(c, t, layout, template.MergeConfig(set.Config, r.Config))
	d.Definition.KeepFailed = r.KeepFailed.Over(t.KeepFailed).Kept()
	left, err := a.Resources.Common(ctx, tenant, d.Definition.Services, nil)
	if err != nil {
		return Draft{}, Preview{}, err
	}
	if err := a.Resources.Pin(ctx, tenant, d.Definition.Services); err != nil {
		return Draft{}, Preview{}, err
	}
	if err := a.Catalogs.CheckHost(c, layout.Provider, d.Definition.Services, nil, d.Definition.Images, t, t.Hooks); err != nil {
		return Draft{}, Preview{}, err
	}
	if err := a.Catalogs.CheckIsolation(ctx, c.Providers[layout.Provider]); err != nil {
		return Draft{}, Preview{}, err
	}
	if p.Volumes, err = CheckVolumes(c.Providers[layout.Provider], a.Volumes, d.Nodes, d.Definition, r.Volumes); err != nil {
		return Draft{}, Preview{}, err
	}
	if words := volume.Words(p.Volumes, layout.Currency); words != "" {
		layout.Notes = append(slices.Clone(layout.Notes), words)
	}
	d.Definition.Overrides = template.MergeConfig(nil, r.Config)
	if len(set.Given) > 0 {
		d.Definition.Parameters = set.Given
	}
	hooks, err := a.Plans.Scripts(ctx, tenant, app.OperationCreate, d.Definition)
	if err != nil {
		return Draft{}, Preview{}, err
	}
	var notes []string
	if len(r.ProviderValues.Clean()) == 0 { // images are in the provider's own account, as it is set up there
		if notes, err = a.startBaked(ctx, tenant, c.Providers[layout.Provider], &d, hooks); err != nil {
			return Draft{}, Preview{}, err
		}
	}
	plan, err := a.Plans.Plan(ctx, tenant, layout.Provider, appplan.Request{Kind: app.OperationCreate, Nodes: d.Nodes, Services: d.Definition.Services,
		Config: d.Definition.Config, Hooks: hooks, Fallbacks: d.Definition.FallbackHardware})
	if err != nil {
		return Draft{}, Preview{}, err
	}
	if layout.MostPerHour = d.most(layout); layout.MostPerHour == layout.CostPerHour {
		layout.MostPerHour = 0
	}
	if words := template.FallbackWords(plan.Fallbacks, layout.CostPerHour, layout.MostPerHour, layout.Currency); words != "" {
		layout.Notes = append(slices.Clone(layout.Notes), words)
	}
	if layout.Size() > appplan.NamesMost {
		layout.Notes = append(slices.Clone(layout.Notes), "On clusters with more than 1,000 nodes, each node's hosts file lists only the nodes that the configuration names.")
	}
	warnings := append(t.Warnings(), left...)
	if spec := c.Providers[layout.Provider]; t.Firewall != nil && spec != nil && a.Firewalls != nil && !a.Firewalls(spec.Type) {
		warnings = append(warnings, fmt.Sprintf("Provider %s doesn't support firewalls, so the firewall of template %s isn't applied.", spec.Name, t.Name))
	}
	if spec := c.Providers[layout.Provider]; t.Idle != nil && t.Idle.Action() == template.IdleSleep && spec != nil && a.Sleeps != nil && !a.Sleeps(spec.Type) {
		warnings = append(warnings, fmt.Sprintf("Provider %s can't stop machines and keep them, so the cluster won't go to sleep when it's idle.", spec.Name))
	}
	p.Baked = BakedNotes(plan, notes)
	p.Layout, p.Plan, p.PlanHash, p.Duration, p.Warnings = layout, plan, plan.Hash(), plan.Duration(), warnings
	return d, p, nil
}

// define takes from the catalog what the cluster needs of it.
func define(c *template.Catalog, t *template.Template, l applayout.Layout, config map[string]any) Definition {
	d := Definition{
		Lease:    &t.Lease,
		Template: t.Digest(), Immutable: t.Immutable,
		Hooks:          t.Hooks,
		Outputs:        t.Outputs,
		Health:         t.Health,
		Idle:           t.Idle,
		Scaling:        t.Scaling,
		Actions:        t.Actions,
		PartialResults: t.PartialResults,
		KeepFailed:     t.KeepFailed.Kept(),
		Firewall:       t.Firewall,
		Batches:        t.Batches,
		Config:         template.MergeConfig(t.Defaults.Config, config),
		Services:       map[string]*template.Service{}, Hardware: map[string]template.Flavor{}, Images: map[string]template.Image{},
	}
	for _, g := range l.Groups {
		d.Hardware[g.Hardware] = c.Hardware[g.Hardware].Providers[l.Provider]
		d.Images[g.Image] = c.Images[g.Image].Providers[l.Provider]
		for _, s := range g.Services {
			d.Services[s] = c.Services[s]
		}
	}
	d.Links = LinksOf(t, d.Services)
	nodes := make([]template.Placed, 0, len(l.Groups))
	for _, g := range l.Groups {
		nodes = append(nodes, template.Placed{Hardware: g.Hardware, Services: g.Services})
	}
	d.TakeFallbacks(c, t, l.Provider, nodes)
	return d
}

// LinksOf returns the template's links and then those of its services, each URL once.
func LinksOf(t *template.Template, services map[string]*template.Service) (links []app.Link) {
	add := func(more []app.Link) {
		for _, l := range more {
			if !slices.ContainsFunc(links, func(k app.Link) bool { return k.URL == l.URL }) {
				links = append(links, l)
			}
		}
	}
	add(t.Links)
	for _, name := range slices.Sorted(maps.Keys(services)) {
		add(services[name].Links)
	}
	return links
}
