package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/catalog"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/quarantine"
	"muster/app/template"
)

// PartialStore is what Partials needs of the database.
type PartialStore interface {
	// ChangeOf returns what an operation changed of its cluster: what was there before, and what it made of it. Nodes are the
	// services of those nodes that it changed or gave back, Leaving before are those that were being given back already.
	// A rollback is a change to what was before, with the nodes that were new leaving. ENotFound where it changed nothing, or
	// where the cluster is gone.
	ChangeOf(ctx context.Context, tenant string, operation int64) (before appcluster.Change, after appcluster.Change, err error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	// PartialResultsDue returns, of all tenants, the operations that failed, whose OnFailure accepts fewer machines, that no other operation
	// has followed, and that were not judged since they failed, oldest first.
	PartialResultsDue(ctx context.Context, limit int) ([]app.Operation, error)
	// JudgePartial notes that such an operation cannot be gone on with, and why: in its message and its cluster's, in the feed and in a notice.
	// Where the choice was FailureAcceptPartialOrRollBack, it is to be rolled back from then on. It is false where something else was faster.
	JudgePartial(ctx context.Context, j PartialJudgement) (bool, error)
	OperationHooks(ctx context.Context, tenant string, operation int64) ([]template.OperationHook, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	SubmitOperation(ctx context.Context, n appcluster.NewOperation) (app.Operation, error)
}

// PartialsConfig is what Partials is created from.
type PartialsConfig struct {
	Store      PartialStore
	Now        func() time.Time
	Catalogs   *catalog.Service
	Masks      *appcluster.Masks
	Plans      *appcluster.Plans
	Views      *appcluster.Views
	Operations *Finder
	Builder    *Builder
	Keeping    *quarantine.Drafts
}

// Partials accepts operations of which machines are missing, with those that came.
type Partials struct {
	PartialsConfig
}

// NewPartials returns Partials on top of their needs.
func NewPartials(c PartialsConfig) *Partials { return &Partials{PartialsConfig: c} }

// AcceptPartialPreview is a preview of accepting the machines that came, worked out before anything is accepted.
type AcceptPartialPreview struct {
	Operation app.Operation            `json:"operation"`    // that is brought to its end
	Target    int                      `json:"target_nodes"` // nodes
	Deletes   []LostMachine            `json:"deleted_machines"`
	Nodes     []appcluster.UpdatedNode `json:"nodes"` // that the cluster has then
	Before    appcluster.Figures       `json:"before"`
	After     appcluster.Figures       `json:"after"`
	Plan      plan.Plan                `json:"plan"`
	PlanHash  string                   `json:"plan_hash"`
	Duration  time.Duration            `json:"duration"` // estimate, on unlimited workers
	Notes     []string                 `json:"notes"`
	Backfills bool                     `json:"backfill"` // the nodes that are missing are asked for again later
	// Kept are the failed machines that are kept for inspection instead of deleted, and CanKeep the nodes whose machines could be.
	Kept    quarantine.Selection `json:"kept,omitzero"`
	CanKeep []string             `json:"can_keep,omitempty"`
}

// LostMachine is a machine that did not come.
type LostMachine struct {
	Node  string `json:"node"`
	Error string `json:"error"` // why, in words
}

// Title says in a few words what it is: "Accept 4 of 5 nodes".
func (p AcceptPartialPreview) Title() string {
	return fmt.Sprintf("Accept %d of %s", len(p.Nodes), humanize.Count(p.Target, "node"))
}

// PartialJudgement is why an operation cannot be gone on with.
type PartialJudgement struct {
	Operation app.Operation // as it was read
	Why       string
	Now       time.Time
}

// PreviewAcceptPartial works out what accepting the machines that came of a create or a growth that failed; operation 0 is the
// latest. EConflict, reason "partial_unacceptable", where that cannot be, saying what is missing. Keep says for how long failed machines are kept; "" leaves
// that to the cluster's setting.
func (a *Partials) PreviewAcceptPartial(ctx context.Context, actor app.Actor, cluster string, operation int64,
	keep template.KeepTime) (AcceptPartialPreview, error) {
	if err := actor.Authorize("PreviewAcceptPartial"); err != nil {
		return AcceptPartialPreview{}, err
	}
	c, o, latest, err := a.Operations.FindOperation(ctx, actor, cluster, operation)
	if err != nil {
		return AcceptPartialPreview{}, err
	}
	m, err := a.Masks.MaskFor(ctx, actor, c)
	if err != nil {
		return AcceptPartialPreview{}, err
	}
	if err := keep.Check(); err != nil {
		return AcceptPartialPreview{}, err
	}
	s, err := a.planAcceptPartial(ctx, c, o, latest, template.PartialOverride{KeepFailed: keep})
	if err != nil {
		return AcceptPartialPreview{}, appcluster.MaskError(m, err)
	}
	for i := range s.shown.Deletes { // it says why each machine did not come
		s.shown.Deletes[i].Error = m.Hide(s.shown.Deletes[i].Error)
	}
	return s.shown, nil
}

// AcceptPartial accepts the machines that came; operation 0 is the latest. When planHash is set and the plan is another one by now, it is
// EConflict and nothing happens. Of how, NoBackfill and KeepFailed count.
func (a *Partials) AcceptPartial(ctx context.Context, actor app.Actor, cluster string, operation int64, planHash string,
	how template.PartialOverride) (appcluster.View, error) {
	if err := actor.Authorize("AcceptPartial"); err != nil {
		return appcluster.View{}, err
	}
	c, o, latest, err := a.Operations.FindOperation(ctx, actor, cluster, operation)
	if err != nil {
		return appcluster.View{}, err
	}
	if err := actor.MayChange("AcceptPartial", c); err != nil {
		return appcluster.View{}, err
	}
	if err := how.KeepFailed.Check(); err != nil {
		return appcluster.View{}, err
	}
	s, err := a.planAcceptPartial(ctx, c, o, latest, template.PartialOverride{NoBackfill: how.NoBackfill, KeepFailed: how.KeepFailed})
	if err != nil {
		return appcluster.View{}, err
	}
	if planHash != "" && planHash != s.shown.PlanHash {
		return appcluster.View{}, errPlanChanged
	}
	if err := a.accept(ctx, s, actor.User); err != nil {
		return appcluster.View{}, err
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}

// acceptPartialFailed accepts the partial result of what has lost machines only, where its requester wanted that, and says of the others why it cannot be. It returns
// how many it began. It can be called again and again, by several servers: the store takes one accepted partial result of an operation.
func (a *Partials) acceptPartialFailed(ctx context.Context) (begun int, errs []error) {
	due, err := a.Store.PartialResultsDue(ctx, appcluster.TidyAtOnce)
	if err != nil {
		return 0, []error{err}
	}
	for _, o := range due {
		began, err := a.acceptAutomatically(ctx, o)
		if began {
			begun++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("accepting the partial result of operation %d: %w", o.ID, err))
		}
	}
	return begun, errs
}

func (a *Partials) acceptAutomatically(ctx context.Context, o app.Operation) (begun bool, err error) {
	c, err := a.Store.Cluster(ctx, o.Tenant, o.Cluster)
	if err != nil {
		return false, err
	}
	how := template.PartialOverride{MinAvailable: template.NodeShare(fmt.Sprint(o.MinAvailable)), NoBackfill: o.NoBackfill}
	s, err := a.planAcceptPartial(ctx, c, o, true, how)
	if err == nil {
		err = a.accept(ctx, s, app.Retrier)
	}
	if quarantine.Refused(err) && len(s.shown.Kept.Machines) > 0 {
		how.KeepFailed = template.KeepOff
		if s, err = a.planAcceptPartial(ctx, c, o, true, how); err == nil {
			err = a.accept(ctx, s, app.Retrier)
		}
	}
	e := app.AsError(err)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil, e.Code == app.ETransient:
		return false, err // which passes
	case e.Code == app.EConflict && (e.Reason == "operation_running" || e.Reason == "plan_changed" || e.Reason == "not_the_latest"):
		return false, nil // a person or another server was faster; what is still due is seen again
	}
	_, noted := a.Store.JudgePartial(ctx, PartialJudgement{Operation: o, Why: e.ForPeople(), Now: a.Now()})
	if e.Code != app.EInternal {
		err = nil // people are notified; what is internal is for the log
	}
	return false, errors.Join(err, noted)
}

// accept has what was worked out carried out.
func (a *Partials) accept(ctx context.Context, s *partial, who string) (err error) {
	n := s.operation(a.Now(), who)
	if n.Keep, err = a.Keeping.Draft(ctx, s.Cluster, s.was, s.shown.Kept, true); err != nil {
		return err
	}
	_, err = a.Store.SubmitOperation(ctx, n)
	return err
}

// operation is what the store is to accept, but for machines that are kept.
func (s *partial) operation(now time.Time, who string) appcluster.NewOperation {
	o := app.Operation{Tenant: s.Tenant, Cluster: s.ID, Kind: app.OperationAcceptPartial, Accepts: s.of.ID, PlanHash: s.shown.PlanHash, Requester: who, CreatedAt: now,
		Expected: s.shown.Duration, NoBackfill: !s.shown.Backfills}
	if s.of.OnFailure == app.FailureAcceptPartialOrRollBack {
		o.OnFailure = app.FailureRollBack
	}
	change := &appcluster.Change{Template: s.Template, Definition: s.definition, Size: s.shown.After.Nodes, Services: s.nodes.after().services(),
		CostPerHour: s.shown.After.CostPerHour, Nodes: map[string][]string{},
		Reservation: policy.Reservation{Nodes: s.shown.After.Nodes, CPU: s.cpu(), CostPerHour: s.shown.After.CostPerHour}}
	change.Definition.Services = s.entries()
	for _, n := range s.nodes {
		switch {
		case n.Change == plan.NodeGone:
			change.Leaving = append(change.Leaving, n.Name)
		case len(n.Added) > 0:
			change.Nodes[n.Name] = n.Services
		}
	}
	return appcluster.NewOperation{Operation: o, Plan: s.shown.Plan, Change: change, Follows: s.of.ID, AsOf: s.of.EndedAt}
}
