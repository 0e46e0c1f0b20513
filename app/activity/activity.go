package activity

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
)

// Limits of what one answer holds.
const (
	maxEvents   = 1000
	maxLogLines = 5000
)

// Store is what the service needs of the database.
type Store interface {
	// Events returns a cluster's events after a number, oldest first.
	Events(ctx context.Context, tenant string, cluster string, after int64, limit int) ([]app.Event, error)
	Logs(ctx context.Context, tenant string, cluster string, f appcluster.LogFilter) ([]app.LogLine, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	// Watch returns a channel that gets a (coalesced) value whenever the topic wakes. Call stop, which may be done twice.
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// Config is what the service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Clusters *appcluster.Finder
	Masks    *appcluster.Masks
}

// Service shows what happens inside a cluster: steps, events and logs.
type Service struct {
	Config
}

// New returns the service on top of c.
func New(c Config) *Service { return &Service{Config: c} }

// Steps returns the steps of an operation of the cluster in plan order; operation 0 is the latest.
func (a *Service) Steps(ctx context.Context, actor app.Actor, cluster string, operation int64) ([]app.Step, error) {
	return a.stepsBy(ctx, actor, "Steps", cluster, operation, a.Store.Steps)
}

// StepGraph is Steps with the joins between, and with needs as the plan has them: what a picture of the plan is drawn from.
func (a *Service) StepGraph(ctx context.Context, actor app.Actor, cluster string, operation int64) ([]app.Step, error) {
	return a.stepsBy(ctx, actor, "StepGraph", cluster, operation, a.Store.StepsAndJoins)
}

// stepsBy finds an operation that may be looked at, and returns what read says of it.
func (a *Service) stepsBy(ctx context.Context, actor app.Actor, act, cluster string, operation int64,
	read func(ctx context.Context, tenant string, operation int64) ([]app.Step, error)) ([]app.Step, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, act, cluster)
	if err != nil {
		return nil, err
	}
	ops, err := a.Store.Operations(ctx, actor.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	for _, o := range ops {
		if operation == 0 || o.ID == operation {
			m, err := a.Masks.MaskFor(ctx, actor, c)
			if err != nil {
				return nil, err
			}
			steps, err := read(ctx, actor.Tenant, o.ID)
			return appcluster.MaskSteps(m, steps), err
		}
	}
	return nil, app.Errorf(app.ENotFound, "Cluster %q has no operation %d.", c.Name, operation)
}

// Events returns what happened to a cluster after a number, oldest first; limit 0 means 1,000, which is also the most.
func (a *Service) Events(ctx context.Context, actor app.Actor, cluster string, after int64, limit int) ([]app.Event, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Events", cluster)
	if err != nil {
		return nil, err
	}
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	m, err := a.Masks.MaskFor(ctx, actor, c)
	if err != nil {
		return nil, err
	}
	events, err := a.Store.Events(ctx, actor.Tenant, c.ID, after, limit)
	for i := range events {
		events[i].Message = m.Hide(events[i].Message)
	}
	return events, err
}

// Logs returns lines of a cluster's log.
func (a *Service) Logs(ctx context.Context, actor app.Actor, cluster string, f appcluster.LogFilter) ([]app.LogLine, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Logs", cluster)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 {
		f.Limit = 500
	}
	f.Limit = min(f.Limit, maxLogLines)
	m, err := a.Masks.MaskFor(ctx, actor, c)
	if err != nil {
		return nil, err
	}
	lines, err := a.Store.Logs(ctx, actor.Tenant, c.ID, f)
	return appcluster.MaskLines(m, lines), err
}

// Watch returns a channel that gets a value, coalesced, whenever the topic wakes. It carries no data, so it needs no permission; what changed is asked for
// with Events, Logs and the lists. Call stop.
func (a *Service) Watch(_ app.Actor, topic app.Topic) (changed <-chan struct{}, stop func()) {
	return a.Store.Watch(topic)
}
