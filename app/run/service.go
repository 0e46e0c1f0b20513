package run

import (
	"context"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
)

// Store is what Service needs of the database.
type Store interface {
	// RunOf returns the command of an operation; ENotFound where it runs none.
	RunOf(ctx context.Context, tenant string, operation int64) (plan.Run, error)
	// RunExits returns how its steps ended that have an exit code, or whose output was cut, by index.
	RunExits(ctx context.Context, tenant string, operation int64) (map[int]plan.RunExit, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
}

// Updates accepts a command as an update of its cluster.
type Updates interface {
	Update(ctx context.Context, actor app.Actor, cluster string, m cluster.Update) (cluster.UpdateAnswer, error)
	PreviewUpdate(ctx context.Context, actor app.Actor, cluster string, m cluster.Update) (cluster.UpdatePreview, error)
}

// Clusters finds clusters that an actor may see.
type Clusters interface {
	AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error)
}

// Config is what Service is created from.
type Config struct {
	Store     Store
	Schedules ScheduleStore
	Now       func() time.Time
	Clusters  Clusters
	Updates   Updates
}

// Service shows commands and how they ended.
type Service struct{ Config }

// New returns the service.
func New(c Config) *Service { return &Service{Config: c} }

// View is a command and how it ended on each node.
type View struct {
	Operation app.Operation    `json:"operation"`
	Run       plan.Run         `json:"run"`
	Results   []plan.RunResult `json:"results"` // in the order of the plan
	// Exit is the worst exit code: 0 where it succeeded everywhere; 1 where it has none though it failed.
	Exit int `json:"exit"`
}

// NodeNames are the nodes of the command, in the order of the plan.
func (v View) NodeNames() (names []string) {
	for _, r := range v.Results {
		names = append(names, r.Node)
	}
	return names
}

// Failed are the nodes on which the command didn't succeed.
func (v View) Failed() (names []string) {
	for _, r := range v.Results {
		if r.State != app.StepSucceeded {
			names = append(names, r.Node)
		}
	}
	return names
}

// Run returns a command of a cluster by its operation; 0 is the latest one.
func (s *Service) Run(ctx context.Context, actor app.Actor, id string, operation int64) (View, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, "Run", id)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayChange("Run", c); err != nil { // to see it takes more than to see the cluster
		return View{}, err
	}
	op, err := s.operation(ctx, c, operation)
	if err != nil {
		return View{}, err
	}
	v := View{Operation: op}
	if v.Run, err = s.Store.RunOf(ctx, c.Tenant, op.ID); err != nil {
		return View{}, err
	}
	steps, err := s.Store.Steps(ctx, c.Tenant, op.ID)
	if err != nil {
		return View{}, err
	}
	exits, err := s.Store.RunExits(ctx, c.Tenant, op.ID)
	if err != nil {
		return View{}, err
	}
	v.Results = plan.RunResults(steps, exits)
	v.Exit = plan.WorstExit(v.Results)
	return v, nil
}

// operation finds one of the cluster's operations; 0 is the latest that runs a command.
func (s *Service) operation(ctx context.Context, c app.Cluster, id int64) (app.Operation, error) {
	ops, err := s.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return app.Operation{}, err
	}
	for _, o := range ops {
		if o.ID == id || id == 0 && o.Kind == app.OperationRun {
			return o, nil
		}
	}
	return app.Operation{}, &app.Error{Code: app.ENotFound, Reason: plan.NoRun, Message: "There's no such command in this cluster.",
		Hint: "See the cluster's history for its operations."}
}
