package execution

import (
	"context"
	"time"

	"muster/app"
)

// A round looks once at all services of all nodes of a cluster that have a health check, and whether the nodes answer. It is no
// operation and has no steps: a round that is lost is made again, and all that stays of it is how the cluster is.

// HealthKeeper is a Coordinator that hands out rounds. A worker that never asks for one is none the worse for it.
type HealthKeeper interface {
	// AwaitRound waits until a round of a cluster of the worker's tenant is due, and claims it until Deadline has passed; nil
	// when none came within some twenty seconds, or ctx has ended.
	AwaitRound(ctx context.Context, w app.WorkerID) (*HealthRound, error)
	// ReportRound tells what a round has found. EStale where it is not the worker's any more; then nothing has changed.
	ReportRound(ctx context.Context, w app.WorkerID, r app.RoundReport) error
}

// HealthRound is a claimed round with all that is needed to carry it out.
type HealthRound struct {
	Cluster string        `json:"cluster"`
	Tenant  string        `json:"tenant"`
	Round   int64         `json:"round"` // the fence: it grows with each claim
	Within  time.Duration `json:"within"`
	SSHKey  []byte        `json:"ssh_key"`
	Nodes   []RoundNode   `json:"nodes"`
	Guarded bool          `json:"guarded,omitempty"` // as Assignment.Guarded
	// Secrets are the values of the tenant's secrets that the cluster's configuration refers to: nothing that is reported may hold one.
	Secrets []string `json:"secrets,omitempty"`
}

// RoundNode is a node to look at.
type RoundNode struct {
	Node   app.Node     `json:"node"`
	Checks []RoundCheck `json:"checks,omitempty"` // by service name; none: only whether it answers
}

// RoundCheck is one service's check, expanded for its node; or, where that was not possible, why.
type RoundCheck struct {
	Service string           `json:"service"`
	Check   *app.HealthCheck `json:"check,omitempty"`
	Wrong   string           `json:"wrong,omitempty"`
}

// HealthTick is how often servers look for rounds that are due where HealthTopic does not wake them.
const HealthTick = 15 * time.Second
