package cluster

import (
	"context"

	"muster/app"
)

// Page is a part of a list of clusters.
type Page struct {
	Clusters []app.ClusterSummary `json:"clusters"`
	Next     string               `json:"next,omitempty"`
}

// Page returns the clusters of the actor's tenant that a filter lets through, and how to ask for more of them.
func (a *Views) ClusterPage(ctx context.Context, actor app.Actor, f app.ClusterFilter) (p Page, err error) {
	if err := actor.Authorize("ClusterPage"); err != nil {
		return p, err
	}
	if err := f.Check(); err != nil {
		return p, err
	}
	if f.Limit == 0 {
		f.Limit = 200
	}
	limit := f.Limit
	f.Limit++
	if f.Reader, err = a.Finder.ReaderOf(ctx, actor); err != nil {
		return p, err
	}
	p.Clusters, err = a.Store.Clusters(ctx, actor.Tenant, f)
	if err == nil {
		err = a.complete(ctx, actor, p.Clusters)
	}
	if app.CodeOf(err) == app.ENotFound {
		e := app.Errorf(app.EInvalid, "Cluster %q in parameter after doesn't exist.", f.After)
		e.Field, e.Hint = "after", "Start from the beginning: omit after."
		return p, e
	}
	if err == nil && len(p.Clusters) > limit {
		p.Clusters = p.Clusters[:limit]
		p.Next = p.Clusters[limit-1].ID
	}
	return p, err
}

// complete says in which currency clusters cost, and hides what the actor may not read of them.
func (a *Views) complete(ctx context.Context, actor app.Actor, list []app.ClusterSummary) error {
	currency, err := a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Currency = currency
	}
	return a.Masks.MaskSummaries(ctx, actor, list)
}

// ClusterCounts counts the clusters that a filter lets through, whatever their status, order and page; deleted ones only where
// the filter has them.
func (a *Views) ClusterCounts(ctx context.Context, actor app.Actor, f app.ClusterFilter) (app.ClusterCounts, error) {
	if err := actor.Authorize("ClusterCounts"); err != nil {
		return app.ClusterCounts{}, err
	}
	if err := f.Check(); err != nil {
		return app.ClusterCounts{}, err
	}
	reader, err := a.Finder.ReaderOf(ctx, actor)
	if err != nil {
		return app.ClusterCounts{}, err
	}
	f.Reader = reader
	counts, err := a.Store.CountClusters(ctx, actor.Tenant, f)
	if err != nil {
		return counts, err
	}
	counts.Currency, err = a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	return counts, err
}
