package cluster

import (
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/app/secret"
)

// MaskStore is what Masks needs of the database.
type MaskStore interface {
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	// Definitions returns, by cluster, the definition as it is and as it was before each operation that changed it, the newest first, at most
	// MaxDefinitions and the present one. A cluster whose definitions can't be decrypted, since their key is lost, isn't in it, and neither is one
	// that is gone. DefinitionStates returns texts that are others whenever they are, and costs little.
	DefinitionStates(ctx context.Context, tenant string, clusters []string) (map[string]string, error)
	Definitions(ctx context.Context, tenant string, clusters []string) (map[string][]Definition, error)
}

// MasksConfig is what Masks is created from.
type MasksConfig struct {
	Store    MaskStore
	Catalogs *catalog.Service
	Clusters *Finder
}

// Masks hides the values of configurations from those who may not read them.
type Masks struct {
	MasksConfig

	masks maskCache
}

// NewMasks returns Masks on top of their needs.
func NewMasks(c MasksConfig) *Masks { return &Masks{MasksConfig: c} }

// masked are the terms without values of the configuration.
func (t *UpdateTerms) masked() *UpdateTerms {
	if t == nil {
		return nil
	}
	out := *t
	out.Update.Parameters, out.Update.Command = nil, ""
	out.Changes = slices.Clone(t.Changes)
	for i, c := range out.Changes {
		command := c.Path == "command" || strings.HasPrefix(c.Path, "actions.") || strings.HasPrefix(c.Path, "parameters.")
		if !command && c.Path != "config" && !strings.HasPrefix(c.Path, "config.") && !strings.HasPrefix(c.Path, "config[") {
			continue
		}
		if c.Before != "" {
			out.Changes[i].Before = secret.HiddenValue
		}
		if c.After != "" {
			out.Changes[i].After = secret.HiddenValue
		}
	}
	return &out
}

// maskBy is MaskFor a cluster that is named in something the actor may read, whether or not the cluster itself is shown. Nil where it is gone.
func (a *Masks) maskBy(ctx context.Context, actor app.Actor, cluster string) (*secret.Redactor, error) {
	c, err := a.Clusters.FindCluster(ctx, actor, cluster)
	if app.CodeOf(err) == app.ENotFound {
		c, err = a.Store.Cluster(ctx, actor.Tenant, cluster)
	}
	if err != nil {
		if app.CodeOf(err) == app.ENotFound {
			err = nil
		}
		return nil, err
	}
	return a.MaskFor(ctx, actor, c)
}

// MaskRequests hides the values that requests change in configurations, from those who may read neither the configuration nor decide on the request.
func (a *Masks) MaskRequests(ctx context.Context, actor app.Actor, list []Request) error {
	owners := map[string]bool{} // by cluster: whether the actor may read its configuration
	for i := range list {
		r := &list[i]
		if r.Terms.Updated == nil && (r.Offer == nil || r.Offer.Updated == nil) || r.Requester == actor.Name() {
			continue
		}
		may, known := owners[r.Cluster]
		if !known {
			c, err := a.Clusters.FindCluster(ctx, actor, r.Cluster)
			if err != nil && app.CodeOf(err) != app.ENotFound {
				return err
			}
			may = err == nil && actor.MayIn("ClusterConfig", c)
			owners[r.Cluster] = may
		}
		if may {
			continue
		}
		r.Terms.Updated = r.Terms.Updated.masked()
		if r.Offer != nil {
			o := *r.Offer
			o.Updated = o.Updated.masked()
			r.Offer = &o
		}
	}
	return nil
}

// MaskNotices does so for people's notices.
func (a *Masks) MaskNotices(ctx context.Context, actor app.Actor, list []app.Notice) error {
	known := map[string]*secret.Redactor{}
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
