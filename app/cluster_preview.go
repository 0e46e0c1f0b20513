package app

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// solveTime is how long a layout may be looked for before the person is told that it takes too long.
const solveTime = 10 * time.Second

// Preview works out what a create would do, and what policies would say to it. Nothing is accepted or written.
func (a *App) Preview(ctx context.Context, actor Actor, r ClusterRequest) (Preview, error) {
	if err := actor.may("Preview"); err != nil {
		return Preview{}, err
	}
	w, err := a.weigh(ctx, actor, r)
	if err == nil {
		w.preview.FromPools, err = a.createOffer(ctx, actor.Tenant, w.draft, w.preview)
	}
	if err != nil {
		return w.preview, err
	}
	w.preview.Cheaper = a.cheaper(ctx, actor.Tenant, w.draft, w.preview.Layout)
	err = a.foresee(ctx, actor.Tenant, w.draft, &w.preview)
	return w.preview, err
}

// draft is a request with all of its defaults filled in.
type draft struct {
	template   *Template
	asked      LayoutRequest // with what parameters set
	definition Definition
	nodes      []PlanNode
	dnsSuffix  string
	catalog    int64 // the revision of the tenant's own entries that it was made by
}

// prepare is the part of a create that needs no decision: solve, plan, price.
func (a *App) prepare(ctx context.Context, tenant string, r ClusterRequest) (draft, Preview, error) {
	if err := checkSize(r.Size); err != nil {
		return draft{}, Preview{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, solveTime)
	defer cancel()
	leave, err := a.solving.enter(ctx, tenant)
	if err != nil {
		return draft{}, Preview{}, err
	}
	defer leave()
	c, revision, err := a.catalogAt(ctx, tenant, 0)
	if err != nil {
		return draft{}, Preview{}, err
	}
	var set Settled
	if t := c.Templates[r.Template]; t != nil {
		var err error
		if r, set, err = r.settled(t); err != nil {
			return draft{}, Preview{}, err
		}
		if err := checkSize(r.Size); err != nil {
			return draft{}, Preview{}, err
		}
	}
	layout, err := a.Solver.Solve(ctx, c, r.LayoutRequest)
	if err != nil {
		return draft{}, Preview{}, err
	}
	if err := a.checkProvisioner(ctx, tenant, c.Providers[layout.Provider]); err != nil {
		return draft{}, Preview{}, err
	}
	t := c.Templates[r.Template]
	lease, err := t.Lease.initial(r.Lease)
	if err != nil {
		return draft{}, Preview{}, err
	}
	d := draft{template: t, asked: r.LayoutRequest, catalog: revision, nodes: PlanNodes(layout), dnsSuffix: firstOf(r.DNSSuffix, t.Defaults.DNSSuffix, DefaultDNSSuffix)}
	if err := checkDNSSuffix(d.dnsSuffix); err != nil {
		return draft{}, Preview{}, err
	}
	d.definition = define(c, t, layout, mergeConfig(set.Config, r.Config))
	left, err := a.common(ctx, tenant, d.definition.Services, nil)
	if err != nil {
		return draft{}, Preview{}, err
	}
	if err := a.pin(ctx, tenant, d.definition.Services); err != nil {
		return draft{}, Preview{}, err
	}
	if err := a.checkHost(c, layout.Provider, d.definition.Services, nil, d.definition.Images, t, t.Hooks); err != nil {
		return draft{}, Preview{}, err
	}
	if err := a.checkIsolation(ctx, c.Providers[layout.Provider]); err != nil {
		return draft{}, Preview{}, err
	}
	d.definition.Overrides = mergeConfig(nil, r.Config)
	if len(set.Given) > 0 {
		d.definition.Parameters = set.Given
	}
	hooks, err := a.scripts(ctx, tenant, OperationCreate, d.definition)
	if err != nil {
		return draft{}, Preview{}, err
	}
	plan, err := a.plan(ctx, tenant, layout.Provider, PlanRequest{Kind: OperationCreate, Nodes: d.nodes, Services: d.definition.Services,
		Config: d.definition.Config, Hooks: hooks, Fallbacks: d.definition.FallbackHardware})
	if err != nil {
		return draft{}, Preview{}, err
	}
	if layout.MostPerHour = d.most(layout); layout.MostPerHour == layout.CostPerHour {
		layout.MostPerHour = 0
	}
	if words := fallbackWords(plan.Fallbacks, layout.CostPerHour, layout.MostPerHour); words != "" {
		layout.Notes = append(slices.Clone(layout.Notes), words)
	}
	if layout.Size() > NamesMost {
		layout.Notes = append(slices.Clone(layout.Notes), "Nodes know the names of those nodes that the configuration names. In clusters of up to 1,000 nodes, each knows all others.")
	}
	warnings := append(t.Warnings(), left...)
	if spec := c.Providers[layout.Provider]; t.Firewall != nil && spec != nil && a.Firewalls != nil && !a.Firewalls(spec.Type) {
		warnings = append(warnings, fmt.Sprintf("Provider %s makes no firewalls, so what template %s says of one does not hold there.", spec.Name, t.Name))
	}
	return d, Preview{
		Template: r.Template, Layout: layout, Plan: plan, PlanHash: plan.Hash(), Duration: plan.Duration(),
		Lease: lease, Cost: layout.CostPerHour * lease.Hours(), Warnings: warnings,
	}, nil
}

// define takes from the catalog what the cluster needs of it.
func define(c *Catalog, t *Template, l Layout, config map[string]any) Definition {
	d := Definition{
		Lease:    &t.Lease,
		Template: t.Digest(), Immutable: t.Immutable,
		Hooks:     t.Hooks,
		Health:    t.Health,
		Survivors: t.Survivors,
		Firewall:  t.Firewall,
		Batches:   t.Batches,
		Config:    mergeConfig(t.Defaults.Config, config),
		Services:  map[string]*Service{}, Hardware: map[string]Flavor{}, Images: map[string]Image{},
	}
	for _, g := range l.Groups {
		d.Hardware[g.Hardware] = c.Hardware[g.Hardware].Providers[l.Provider]
		d.Images[g.Image] = c.Images[g.Image].Providers[l.Provider]
		for _, s := range g.Services {
			d.Services[s] = c.Services[s]
		}
	}
	d.Links = linksOf(t, d.Services)
	nodes := make([]placed, 0, len(l.Groups))
	for _, g := range l.Groups {
		nodes = append(nodes, placed{hardware: g.Hardware, services: g.Services})
	}
	d.takeFallbacks(c, t, l.Provider, nodes)
	return d
}

// most is what a layout costs per hour where its machines have to be of the dearest other hardware.
func (d draft) most(l Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.definition.highest(g.Hardware, d.definition.FallbackHardware).CostPerHour
	}
	return math.Round(n*1e9) / 1e9
}

// linksOf gives the template's links and then those of its services, each URL once.
func linksOf(t *Template, services map[string]*Service) (links []Link) {
	add := func(more []Link) {
		for _, l := range more {
			if !slices.ContainsFunc(links, func(k Link) bool { return k.URL == l.URL }) {
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

// mergeConfig lays over onto base, map by map; neither is changed.
func mergeConfig(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		b, isMap := out[k].(map[string]any)
		if o, ok := v.(map[string]any); ok && isMap {
			v = mergeConfig(b, o)
		}
		out[k] = v
	}
	return out
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// initial gives how long a new cluster may live; 0 is for ever. The rules are Coopr's: without an initial lease in the
// template anything goes, with one it is also the longest.
func (l Lease) initial(asked *time.Duration) (time.Duration, error) {
	switch {
	case asked == nil:
		return l.Initial, nil
	case *asked < 0:
		return 0, &Error{Code: EInvalid, Field: "lease", Message: "A lease cannot be negative.", Hint: `Say for example "8h", or "forever".`}
	case l.Initial == 0:
		return *asked, nil
	case *asked == 0:
		return 0, &Error{Code: EInvalid, Field: "lease", Message: "This template does not allow clusters that live for ever.",
			Hint: "Ask for at most " + l.Initial.String() + "."}
	case *asked > l.Initial:
		return 0, &Error{Code: EInvalid, Field: "lease", Message: "The lease is longer than this template allows.",
			Hint: "Ask for at most " + l.Initial.String() + "."}
	}
	return *asked, nil
}
