package cluster

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/template"
)

// Cluster gives a cluster of the actor's tenant by id or, among live ones, by name; ENotFound where there is none.
func (a *Service) Cluster(ctx context.Context, actor app.Actor, id string) (ClusterView, error) {
	c, err := a.AuthorizedCluster(ctx, actor, "Cluster", id)
	if err != nil {
		return ClusterView{}, err
	}
	m, err := a.MaskFor(ctx, actor, c)
	if err != nil {
		return ClusterView{}, err
	}
	v, err := a.clusterView(ctx, actor, c)
	MaskView(m, &v)
	return v, err
}

// clusterView is all about a cluster that the actor may see, or could see a moment ago.
func (a *Service) clusterView(ctx context.Context, actor app.Actor, c app.Cluster) (ClusterView, error) {
	v, err := a.Store.View(ctx, actor.Tenant, c.ID)
	if err != nil {
		return v, err
	}
	v.Access = c.Access
	v.Actions = Actions{}.Whole()
	if v.Build, err = a.Store.BuildOf(ctx, actor.Tenant, c.ID); err != nil {
		return ClusterView{}, err
	}
	if v.Status == app.ClusterDeleted {
		return v, nil
	}
	d, err := a.Store.Definition(ctx, actor.Tenant, c.ID)
	if err != nil && !app.IsKeyLost(err) { // shown all the same, so that it can be deleted
		return ClusterView{}, err
	}
	v.Links = ExpandLinks(d.Links, c, v.Nodes)
	for i := range v.Nodes {
		v.Nodes[i].Stopped = d.Stopped[v.Nodes[i].Name]
	}
	if d.Health != nil {
		if v.Health, err = a.ClusterHealth(ctx, v.Cluster, v.Nodes); err != nil {
			return ClusterView{}, err
		}
	}
	if v.TopUp, err = a.Store.TopUpOf(ctx, actor.Tenant, c.ID); err != nil {
		return ClusterView{}, err
	}
	open, err := a.unfinished(ctx, v)
	if err != nil {
		return ClusterView{}, err
	}
	v.Trouble = TroubleOf(v, d, open)
	v.Actions = ActionsOf(v, open).Of(actor, v.Cluster)
	catalog, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return ClusterView{}, err
	}
	v.Parameters = d.PresentParameters(catalog.For(actor).Templates[c.Template])
	v.MadeFrom, err = a.Catalogs.VersionUsed(ctx, actor, c.Template, d.Template)
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
func (a *Service) Clusters(ctx context.Context, actor app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error) {
	if err := actor.Authorize("Clusters"); err != nil {
		return nil, err
	}
	reader, err := a.ReaderOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	f.Reader = reader
	list, err := a.Store.Clusters(ctx, actor.Tenant, f)
	if err != nil {
		return nil, err
	}
	return list, a.MaskSummaries(ctx, actor, list)
}

// AuthorizedCluster is find for those who may do such a thing.
func (a *Service) AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error) {
	if err := actor.Authorize(useCase); err != nil {
		return app.Cluster{}, err
	}
	return a.FindCluster(ctx, actor, id)
}

// FindCluster returns a cluster that the actor may see. All others are not found, in the same words as one that does not exist.
func (a *Service) FindCluster(ctx context.Context, actor app.Actor, id string) (app.Cluster, error) {
	reader, err := a.ReaderOf(ctx, actor)
	if err != nil {
		return app.Cluster{}, err
	}
	c, err := a.Store.ReadableCluster(ctx, *reader, id)
	if err == nil {
		actor.Noted.Add(app.Allowance{Cluster: c.ID})
	}
	return c, err
}

// Steps gives the steps of an operation of the cluster in plan order; operation 0 is the latest.
func (a *Service) Steps(ctx context.Context, actor app.Actor, cluster string, operation int64) ([]app.Step, error) {
	return a.stepsBy(ctx, actor, "Steps", cluster, operation, a.Store.Steps)
}

// StepGraph is Steps with the joins between, and with needs as the plan has them: what a picture of the plan is drawn from.
func (a *Service) StepGraph(ctx context.Context, actor app.Actor, cluster string, operation int64) ([]app.Step, error) {
	return a.stepsBy(ctx, actor, "StepGraph", cluster, operation, a.Store.StepsAndJoins)
}

// stepsBy finds an operation that may be looked at, and gives what read says of it.
func (a *Service) stepsBy(ctx context.Context, actor app.Actor, act, cluster string, operation int64, read func(ctx context.Context, tenant string, operation int64) ([]app.Step, error)) ([]app.Step, error) {
	c, err := a.AuthorizedCluster(ctx, actor, act, cluster)
	if err != nil {
		return nil, err
	}
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	for _, o := range ops {
		if operation == 0 || o.ID == operation {
			m, err := a.MaskFor(ctx, actor, c)
			if err != nil {
				return nil, err
			}
			steps, err := read(ctx, actor.Tenant, o.ID)
			return MaskSteps(m, steps), err
		}
	}
	return nil, app.Errorf(app.ENotFound, "Cluster %q has no operation %d.", c.Name, operation)
}

// Limits of what one answer holds.
const (
	maxEvents   = 1000
	maxLogLines = 5000
)

// Events gives what happened to a cluster after a number, oldest first; limit 0 means 1,000, which is also the most.
func (a *Service) Events(ctx context.Context, actor app.Actor, cluster string, after int64, limit int) ([]app.Event, error) {
	c, err := a.AuthorizedCluster(ctx, actor, "Events", cluster)
	if err != nil {
		return nil, err
	}
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	m, err := a.MaskFor(ctx, actor, c)
	if err != nil {
		return nil, err
	}
	events, err := a.Store.Events(ctx, actor.Tenant, c.ID, after, limit)
	for i := range events {
		events[i].Message = m.Hide(events[i].Message)
	}
	return events, err
}

// Logs gives lines of a cluster's log.
func (a *Service) Logs(ctx context.Context, actor app.Actor, cluster string, f LogFilter) ([]app.LogLine, error) {
	c, err := a.AuthorizedCluster(ctx, actor, "Logs", cluster)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 {
		f.Limit = 500
	}
	f.Limit = min(f.Limit, maxLogLines)
	m, err := a.MaskFor(ctx, actor, c)
	if err != nil {
		return nil, err
	}
	lines, err := a.Store.Logs(ctx, actor.Tenant, c.ID, f)
	return MaskLines(m, lines), err
}

// Watch returns a channel that gets a value, coalesced, whenever the topic wakes. It carries no data, so it needs no permission; what changed is asked for
// with Events, Logs and the lists. Call stop.
func (a *Service) Watch(_ app.Actor, topic app.Topic) (changed <-chan struct{}, stop func()) {
	return a.Store.Watch(topic)
}

// ClusterKey gives the user and private key that open a cluster's machines, to those who may change the cluster.
func (a *Service) ClusterKey(ctx context.Context, actor app.Actor, cluster string) (user string, pem []byte, err error) {
	c, err := a.AuthorizedCluster(ctx, actor, "ClusterKey", cluster)
	if err != nil {
		return "", nil, err
	}
	if err := actor.MayChange("ClusterKey", c); err != nil {
		return "", nil, err
	}
	secrets, err := a.Store.ClusterSecrets(ctx, actor.Tenant, c.ID)
	if err != nil {
		return "", nil, err
	}
	if len(secrets.PrivateKey) == 0 {
		return "", nil, app.Errorf(app.EConflict, "Cluster %q is gone, and its key with it.", c.Name)
	}
	if err := a.Store.NoteDeed(ctx, actor.Deed(a.Now(), "cluster.key", c.ID, "")); err != nil {
		return "", nil, err
	}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil || len(nodes) == 0 {
		return "root", secrets.PrivateKey, err
	}
	return nodes[0].SSHUser, secrets.PrivateKey, nil
}
