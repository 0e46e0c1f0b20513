package site

import (
	"context"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
)

// Health tells how clusters are, and what their nodes were found to be.
type Health interface {
	// Health tells how a cluster and its nodes are.
	Health(ctx context.Context, a app.Actor, cluster string) (health.ClusterHealth, error)
	// CheckHealth has the next check start at once.
	CheckHealth(ctx context.Context, a app.Actor, cluster string) (health.ClusterHealth, error)
	ClusterFacts(ctx context.Context, a app.Actor, cluster string) ([]execution.NodeFact, error)
	// NodeReports tells of all nodes of a cluster that were bootstrapped, or of the named one.
	NodeReports(ctx context.Context, a app.Actor, cluster, node string) ([]health.NodeReport, error)
}

// Questions are steps that people carry out.
type Questions interface {
	// Questions returns what people are asked at the moment, oldest first.
	Questions(ctx context.Context, a app.Actor, q execution.QuestionQuery) ([]execution.Question, error)
	// AnswerStep is EConflict, reason "answered", where someone was faster.
	AnswerStep(ctx context.Context, a app.Actor, cluster string, s execution.StepAnswer) (execution.Question, error)
}

// Queues are what waits, and why.
type Queues interface {
	// Waiting says why the steps of the operation under way wait.
	Waiting(ctx context.Context, a app.Actor, cluster string, f execution.WaitingFilter) (execution.Waiting, error)
	// Queue tells admins what waits in their tenant.
	Queue(ctx context.Context, a app.Actor) (execution.Queue, error)
	// Queues returns all tenants in which something is under way.
	Queues(ctx context.Context, a app.Actor) (execution.Queues, error)
}
