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
	"muster/app/idle"
	"muster/app/scaling"
	"muster/app/template"
)

// CheckBatchReport is what a check batch has found. Nodes that are not named are well.
type CheckBatchReport struct {
	Cluster  string               `json:"cluster"`
	Round    int64                `json:"round"`
	Findings []health.NodeFinding `json:"findings,omitempty"`
	// Left are nodes for which there was no time: what is known of them stays as it is.
	Left []string `json:"left,omitempty"`
	// InUse are the nodes on which not all conditions of being idle hold, and UseMeasured says that they were looked at, which older workers
	// don't do.
	InUse       []idle.NodeFinding `json:"in_use,omitempty"`
	UseMeasured bool               `json:"use_measured,omitempty"`
	// Numbers are what scripts of scaling rules said, and NumbersMeasured says that they were asked.
	Numbers         []scaling.NodeNumber `json:"numbers,omitempty"`
	NumbersMeasured bool                 `json:"numbers_measured,omitempty"`
	// Interrupted are the nodes whose machines know that their cloud takes them away.
	Interrupted []app.Interruption `json:"interrupted,omitempty"`
}

// What one report holds at most; what is more is cut.
const (
	maxFindings     = 10_000
	maxWrong        = 100 // services of a node
	maxInUse        = 100 // nodes that are listed as in use
	maxNumbers      = maxFindings * template.MostScalingMetrics
	manyFindings    = 500
	shortReasonText = 100
)

// bounded returns the report within its limits.
func (r CheckBatchReport) bounded() CheckBatchReport {
	most := template.MaxHealthReason
	if len(r.Findings) > manyFindings {
		most = shortReasonText
	}
	cut := func(s string) string { return humanize.CutText(strings.ToValidUTF8(s, ""), most) }
	out := CheckBatchReport{Cluster: r.Cluster, Round: r.Round, Left: r.Left[:min(len(r.Left), maxFindings)], UseMeasured: r.UseMeasured,
		NumbersMeasured: r.NumbersMeasured}
	out.Interrupted = r.Interrupted[:min(len(r.Interrupted), maxFindings)]
	for _, f := range r.InUse[:min(len(r.InUse), maxInUse)] { // no more are shown
		out.InUse = append(out.InUse, f.Bounded())
	}
	for _, n := range r.Numbers[:min(len(r.Numbers), maxNumbers)] {
		out.Numbers = append(out.Numbers, n.Bounded())
	}
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

// ClaimedCheckBatch is what the store says of a check batch that was claimed.
type ClaimedCheckBatch struct {
	Cluster    app.Cluster
	Round      int64
	Nodes      []app.Node // existing ones, in number order
	Definition appcluster.Definition
	Secrets    appcluster.Secrets
	IdleOnly   bool                     // the template has no health checks
	Idle       *template.IdleConditions // to be measured; nil: nothing
	Numbers    []scaling.Number         // scripts that print numbers
}

// CheckBatchQuery claims a check batch.
type CheckBatchQuery struct {
	Worker app.WorkerID
	Except []string // providers that the worker does not reach
	Now    time.Time
	Within func(nodes int) time.Duration // how long it is held
}

// CheckBatchOutcome ends a check batch.
type CheckBatchOutcome struct {
	CheckBatchReport
	Tenant string
	Worker string
	Now    time.Time
	Need   map[string]int // after how many failures a service is unhealthy
}

// HealthDue is what is to be done about health.
type HealthDue struct {
	Tenants []string  // that have a check batch which is due
	Next    time.Time // when the next is; zero where no cluster has health checks
}

// CheckBatchDemand is a check batch that a tenant's workers are to take soon.
type CheckBatchDemand struct {
	Tenant   string
	Provider string
	DueAt    time.Time // of the first
}

// A check batch looks once at all services of all nodes of a cluster that have a health check, and whether the nodes answer. It is no
// operation and has no steps: a check batch that is lost is made again, and all that stays of it is how the cluster is.

// CheckBatchSource is a Coordinator that hands out check batches. A worker that never asks for one is none the worse for it.
type CheckBatchSource interface {
	// AwaitCheckBatch waits until a check batch of a cluster of the worker's tenant is due, and claims it until Deadline has passed; nil
	// when none came within some twenty seconds, or ctx has ended.
	AwaitCheckBatch(ctx context.Context, w app.WorkerID) (*CheckBatch, error)
	// ReportCheckBatch tells what a check batch has found. EStale where it is not the worker's any more; then nothing has changed.
	ReportCheckBatch(ctx context.Context, w app.WorkerID, r CheckBatchReport) error
}

// CheckBatch is a claimed check batch with all that is needed to carry it out.
type CheckBatch struct {
	Cluster string                   `json:"cluster"`
	Tenant  string                   `json:"tenant"`
	Round   int64                    `json:"round"` // the fence: it grows with each claim
	Within  time.Duration            `json:"within"`
	SSHKey  []byte                   `json:"ssh_key"`
	Nodes   []CheckBatchNode         `json:"nodes"`
	Guarded bool                     `json:"guarded,omitempty"` // as Assignment.Guarded
	Idle    *template.IdleConditions `json:"idle,omitempty"`    // to be measured on all nodes; nil: nothing
	Numbers []scaling.Number         `json:"numbers,omitempty"` // scripts to run on the nodes
	// Secrets are the values of the tenant's secrets that the cluster's configuration refers to: nothing that is reported may hold one.
	Secrets []string `json:"secrets,omitempty"`
}

// CheckBatchNode is a node to look at.
type CheckBatchNode struct {
	Node   app.Node         `json:"node"`
	Notice NoticeSource     `json:"notice,omitempty"` // whose service the node asks whether its machine is taken away; "": none
	Checks []CheckBatchItem `json:"checks,omitempty"` // by service name; none: only whether it answers
}

// CheckBatchItem is one service's check, expanded for its node; or, where that was not possible, why.
type CheckBatchItem struct {
	Service string                `json:"service"`
	Check   *template.HealthCheck `json:"check,omitempty"`
	Wrong   string                `json:"wrong,omitempty"`
}

// HealthTick is how often servers look for check batches that are due where HealthTopic does not wake them.
const HealthTick = 15 * time.Second
