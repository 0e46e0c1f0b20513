package site

import (
	"context"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
)

// Health shows the health of clusters, and their node checks.
type Health interface {
	// Health returns the health of a cluster and its nodes.
	Health(ctx context.Context, a app.Actor, cluster string) (health.ClusterHealth, error)
	// CheckHealth starts a check at once.
	CheckHealth(ctx context.Context, a app.Actor, cluster string) (health.ClusterHealth, error)
	ClusterFacts(ctx context.Context, a app.Actor, cluster string) ([]execution.NodeFact, error)
	// NodeReports returns the checks of all bootstrapped nodes of a cluster, or of one.
	NodeReports(ctx context.Context, a app.Actor, cluster, node string) ([]health.NodeReport, error)
}

// ManualSteps shows and answers manual steps.
type ManualSteps interface {
	// ManualSteps returns open manual steps, oldest first.
	ManualSteps(ctx context.Context, a app.Actor, q execution.ManualStepQuery) ([]execution.ManualStep, error)
	// AnswerStep is EConflict, reason "answered", if someone else answered first.
	AnswerStep(ctx context.Context, a app.Actor, cluster string, s execution.StepAnswer) (execution.ManualStep, error)
}

// Queues shows what is waiting, and why.
type Queues interface {
	// Waiting returns why the steps of the current operation are waiting.
	Waiting(ctx context.Context, a app.Actor, cluster string, f execution.WaitingFilter) (execution.Waiting, error)
	// Queue returns what is waiting in the tenant, for admins.
	Queue(ctx context.Context, a app.Actor) (execution.Queue, error)
	// Queues returns all tenants with work in progress.
	Queues(ctx context.Context, a app.Actor) (execution.Queues, error)
}
