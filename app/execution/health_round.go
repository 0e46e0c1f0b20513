package execution

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/template"
)

// RoundReport is what a round has found. Nodes that are not named are well.
type RoundReport struct {
	Cluster  string               `json:"cluster"`
	Round    int64                `json:"round"`
	Findings []health.NodeFinding `json:"findings,omitempty"`
	// Left are nodes for which there was no time: what is known of them stays as it is.
	Left []string `json:"left,omitempty"`
}

// What one report holds at most; what is more is cut.
const (
	maxFindings     = 10_000
	maxWrong        = 100 // services of a node
	manyFindings    = 500
	shortReasonText = 100
)

// bounded returns the report within its limits.
func (r RoundReport) bounded() RoundReport {
	most := template.MaxHealthReason
	if len(r.Findings) > manyFindings {
		most = shortReasonText
	}
	cut := func(s string) string { return humanize.CutText(strings.ToValidUTF8(s, ""), most) }
	out := RoundReport{Cluster: r.Cluster, Round: r.Round, Left: r.Left[:min(len(r.Left), maxFindings)]}
	for _, f := range r.Findings[:min(len(r.Findings), maxFindings)] {
		if f.Unreachable != "" {
			out.Findings = append(out.Findings, health.NodeFinding{Node: f.Node, Unreachable: cut(f.Unreachable)})
			continue
		}
		wrong := map[string]string{}
		for _, s := range slices.Sorted(maps.Keys(f.Wrong)) {
			if len(wrong) < maxWrong && f.Wrong[s] != "" {
				wrong[s] = cut(f.Wrong[s])
			}
		}
		if len(wrong) > 0 {
			out.Findings = append(out.Findings, health.NodeFinding{Node: f.Node, Wrong: wrong})
		}
	}
	return out
}

// ClaimedRound is what the store says of a round that was claimed.
type ClaimedRound struct {
	Cluster    app.Cluster
	Round      int64
	Nodes      []app.Node // existing ones, in number order
	Definition appcluster.Definition
	Secrets    appcluster.ClusterSecrets
}

// RoundQuery claims a round.
type RoundQuery struct {
	Worker app.WorkerID
	Except []string // providers that the worker does not reach
	Now    time.Time
	Within func(nodes int) time.Duration // how long it is held
}

// RoundOutcome ends a round.
type RoundOutcome struct {
	RoundReport
	Tenant string
	Worker string
	Now    time.Time
	Need   map[string]int // after how many failures a service is sick
}

// HealthDue is what is to be done about health.
type HealthDue struct {
	Tenants []string  // that have a round which is due
	Next    time.Time // when the next is; zero where no cluster has health checks
}

// RoundDemand is a round that a tenant's workers are to take soon.
type RoundDemand struct {
	Tenant   string
	Provider string
	DueAt    time.Time // of the first
}

// A round looks once at all services of all nodes of a cluster that have a health check, and whether the nodes answer. It is no
// operation and has no steps: a round that is lost is made again, and all that stays of it is how the cluster is.

// HealthKeeper is a Coordinator that hands out rounds. A worker that never asks for one is none the worse for it.
type HealthKeeper interface {
	// AwaitRound waits until a round of a cluster of the worker's tenant is due, and claims it until Deadline has passed; nil
	// when none came within some twenty seconds, or ctx has ended.
	AwaitRound(ctx context.Context, w app.WorkerID) (*HealthRound, error)
	// ReportRound tells what a round has found. EStale where it is not the worker's any more; then nothing has changed.
	ReportRound(ctx context.Context, w app.WorkerID, r RoundReport) error
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
	Service string                `json:"service"`
	Check   *template.HealthCheck `json:"check,omitempty"`
	Wrong   string                `json:"wrong,omitempty"`
}

// HealthTick is how often servers look for rounds that are due where HealthTopic does not wake them.
const HealthTick = 15 * time.Second
