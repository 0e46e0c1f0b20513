package app

import (
	"context"
	"slices"
	"strings"
)

// maskBy is maskFor a cluster that is named in something the actor may read, whether or not the cluster itself is shown. Nil where it is gone.
func (a *App) maskBy(ctx context.Context, actor Actor, cluster string) (*Redactor, error) {
	c, err := a.find(ctx, actor, cluster)
	if CodeOf(err) == ENotFound {
		c, err = a.Store.Cluster(ctx, actor.Tenant, cluster)
	}
	if err != nil {
		if CodeOf(err) == ENotFound {
			err = nil
		}
		return nil, err
	}
	return a.maskFor(ctx, actor, c)
}

// maskRequests hides the values that requests change in configurations, from those who may read neither the configuration nor decide on the request.
func (a *App) maskRequests(ctx context.Context, actor Actor, list []Request) error {
	owners := map[string]bool{} // by cluster: whether the actor may read its configuration
	for i := range list {
		r := &list[i]
		if r.Terms.Amended == nil && (r.Offer == nil || r.Offer.Amended == nil) || r.Requester == actor.Name() {
			continue
		}
		may, known := owners[r.Cluster]
		if !known {
			c, err := a.find(ctx, actor, r.Cluster)
			if err != nil && CodeOf(err) != ENotFound {
				return err
			}
			may = err == nil && actor.MayIn("ClusterConfig", c)
			owners[r.Cluster] = may
		}
		if may {
			continue
		}
		r.Terms.Amended = r.Terms.Amended.masked()
		if r.Offer != nil {
			o := *r.Offer
			o.Amended = o.Amended.masked()
			r.Offer = &o
		}
	}
	return nil
}

// masked are the terms without values of the configuration.
func (t *AmendTerms) masked() *AmendTerms {
	if t == nil {
		return nil
	}
	out := *t
	out.Amendment.Parameters = nil
	out.Changes = slices.Clone(t.Changes)
	for i, c := range out.Changes {
		if c.Path != "config" && !strings.HasPrefix(c.Path, "config.") && !strings.HasPrefix(c.Path, "config[") {
			continue
		}
		if c.Before != "" {
			out.Changes[i].Before = HiddenValue
		}
		if c.After != "" {
			out.Changes[i].After = HiddenValue
		}
	}
	return &out
}

// maskNotices does so for what people were told.
func (a *App) maskNotices(ctx context.Context, actor Actor, list []Notice) error {
	known := map[string]*Redactor{}
	for i := range list {
		n := &list[i]
		if n.Cluster == "" || n.Text == "" {
			continue
		}
		m, is := known[n.Cluster]
		if !is {
			var err error
			if m, err = a.maskBy(ctx, actor, n.Cluster); err != nil {
				return err
			}
			known[n.Cluster] = m
		}
		n.Title, n.Text = m.Hide(n.Title), m.Hide(n.Text)
	}
	return nil
}
