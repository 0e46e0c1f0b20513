package cluster

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/template"
)

// Cluster returns a cluster of the actor's tenant by id or, among live ones, by name; ENotFound where there is none.
func (a *Views) Cluster(ctx context.Context, actor app.Actor, id string) (View, error) {
	c, err := a.Finder.AuthorizedCluster(ctx, actor, "Cluster", id)
	if err != nil {
		return View{}, err
	}
	m, err := a.Masks.MaskFor(ctx, actor, c)
	if err != nil {
		return View{}, err
	}
	v, err := a.ViewOfCluster(ctx, actor, c)
	MaskView(m, &v)
	return v, err
}

// ViewOfCluster is all about a cluster that the actor may see, or could see a moment ago.
func (a *Views) ViewOfCluster(ctx context.Context, actor app.Actor, c app.Cluster) (View, error) {
	v, err := a.Store.View(ctx, actor.Tenant, c.ID)
	if err != nil {
		return v, err
	}
	v.Access, v.AccessUntil = c.Access, c.AccessUntil
	if v.Currency, err = a.Catalogs.CurrencyOf(ctx, actor.Tenant); err != nil {
		return View{}, err
	}
	v.Actions = Actions{}.whole()
	if v.Build, err = a.Store.BuildOf(ctx, actor.Tenant, c.ID); err != nil {
		return View{}, err
	}
	if v.Status == app.ClusterDeleted {
		return v, nil
	}
	d, err := a.Store.Definition(ctx, actor.Tenant, c.ID)
	if err != nil && !app.IsKeyLost(err) { // shown all the same, so that it can be deleted
		return View{}, err
	}
	v.Links = ExpandLinks(d.Links, c, v.Nodes)
	for i := range v.Nodes {
		v.Nodes[i].Stopped = d.Stopped[v.Nodes[i].Name]
	}
	if d.Health != nil {
		if v.Health, err = a.ClusterHealth(ctx, v.Cluster, v.Nodes); err != nil {
			return View{}, err
		}
	}
	if v.Backfill, err = a.Store.BackfillOf(ctx, actor.Tenant, c.ID); err != nil {
		return View{}, err
	}
	m, err := a.Windows.Of(ctx, v.Cluster)
	if err != nil {
		return View{}, err
	}
	if !m.None() || len(m.Waiting) > 0 {
		v.Maintenance = &m
	}
	open, err := a.unfinished(ctx, v)
	if err != nil {
		return View{}, err
	}
	if v.Problem = TroubleOf(v, d, open); v.Problem != nil {
		v.Problem.Currency = v.Currency
	}
	v.Actions = ActionsOf(v, open).Of(actor, v.Cluster)
	catalog, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return View{}, err
	}
	v.Parameters = d.redactedParameters(catalog.For(actor).Templates[c.Template])
	v.TemplateVersion, err = a.Catalogs.VersionUsed(ctx, actor, c.Template, d.Template)
	return v, err
}

// ExpandLinks leaves out links to a service that the cluster does not have, or to a node that has no address yet.
func ExpandLinks(links []app.Link, c app.Cluster, nodes []app.Node) []app.Link {
	mc := template.NewMacroCluster(c.Owner, app.Counting(nodes))
	out := []app.Link{}
	for _, l := range links {
		m, err := template.ParseMacros(map[string]any{"url": l.URL})
		if err != nil || slices.ContainsFunc(m.References(), func(s string) bool { return !slices.Contains(c.Services, s) }) {
			continue
		}
		if url, err := template.ExpandString(l.URL, mc, nil); err == nil {
			out = append(out, app.Link{Label: l.Label, URL: url})
		}
	}
	return out
}

// Clusters lists those of the actor's tenant, newest first.
func (a *Views) Clusters(ctx context.Context, actor app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error) {
	if err := actor.Authorize("Clusters"); err != nil {
		return nil, err
	}
	reader, err := a.Finder.ReaderOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	f.Reader = reader
	list, err := a.Store.Clusters(ctx, actor.Tenant, f)
	if err != nil {
		return nil, err
	}
	return list, a.complete(ctx, actor, list)
}
