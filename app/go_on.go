package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// GoOnPreview is what it would be to go on with the machines that came, worked out before anything is accepted.
type GoOnPreview struct {
	Operation Operation      `json:"operation"` // that is brought to its end
	Wanted    int            `json:"wanted"`    // nodes
	GivesBack []LostMachine  `json:"gives_back" nullable:"false"`
	Nodes     []AmendedNode  `json:"nodes" nullable:"false"` // that the cluster has then
	Before    ClusterFigures `json:"before"`
	After     ClusterFigures `json:"after"`
	Plan      Plan           `json:"plan"`
	PlanHash  string         `json:"plan_hash"`
	Duration  time.Duration  `json:"duration"` // estimate, on unlimited workers
	Notes     []string       `json:"notes" nullable:"false"`
	TopsUp    bool           `json:"tops_up"` // the nodes that are missing are asked for again later
}

// LostMachine is a machine that did not come.
type LostMachine struct {
	Node  string `json:"node"`
	Error string `json:"error"` // why, in words
}

// Title says in a few words what it is: "Accept 4 of 5 nodes".
func (p GoOnPreview) Title() string {
	return fmt.Sprintf("Accept %d of %s", len(p.Nodes), several(p.Wanted, "node"))
}

// GoOnStore finds what is to be gone on with by itself.
type GoOnStore interface {
	// GoOnsDue gives, of all tenants, the operations that failed, whose OnFailure goes on with fewer machines, that no other operation
	// has followed, and that were not judged since they failed, oldest first.
	GoOnsDue(ctx context.Context, limit int) ([]Operation, error)
	// JudgeGoOn notes that such an operation cannot be gone on with, and why: in its message and its cluster's, in the feed and in a notice.
	// Where the choice was FailureGoOnOrBack, it is to be rolled back from then on. It is false where something else was faster.
	JudgeGoOn(ctx context.Context, j GoOnJudgement) (bool, error)
}

// GoOnJudgement is why an operation cannot be gone on with.
type GoOnJudgement struct {
	Operation Operation // as it was read
	Why       string
	Now       time.Time
}

// PreviewGoOn works out what it would be to go on with the machines that came of a create or a growth that failed; operation 0 is the
// latest. EConflict, reason "no_go_on", where that cannot be, saying what is missing.
func (a *App) PreviewGoOn(ctx context.Context, actor Actor, cluster string, operation int64) (GoOnPreview, error) {
	if err := actor.may("PreviewGoOn"); err != nil {
		return GoOnPreview{}, err
	}
	c, o, latest, err := a.operation(ctx, actor, cluster, operation)
	if err != nil {
		return GoOnPreview{}, err
	}
	m, err := a.maskFor(ctx, actor, c)
	if err != nil {
		return GoOnPreview{}, err
	}
	s, err := a.planGoOn(ctx, c, o, latest, Survival{})
	if err != nil {
		return GoOnPreview{}, maskError(m, err)
	}
	for i := range s.shown.GivesBack { // it says why each machine did not come
		s.shown.GivesBack[i].Error = m.Hide(s.shown.GivesBack[i].Error)
	}
	return s.shown, nil
}

// GoOn goes on with the machines that came; operation 0 is the latest. When planHash is set and the plan is another one by now, it is
// EConflict and nothing happens. With noTopUp the missing nodes are not asked for again.
func (a *App) GoOn(ctx context.Context, actor Actor, cluster string, operation int64, planHash string, noTopUp bool) (ClusterView, error) {
	if err := actor.may("GoOn"); err != nil {
		return ClusterView{}, err
	}
	c, o, latest, err := a.operation(ctx, actor, cluster, operation)
	if err != nil {
		return ClusterView{}, err
	}
	if err := actor.mayChange("GoOn", c); err != nil {
		return ClusterView{}, err
	}
	s, err := a.planGoOn(ctx, c, o, latest, Survival{NoTopUp: noTopUp})
	if err != nil {
		return ClusterView{}, err
	}
	if planHash != "" && planHash != s.shown.PlanHash {
		return ClusterView{}, errPlanChanged
	}
	if _, err := a.Store.SubmitOperation(ctx, s.operation(a.Now(), actor.User)); err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, c.ID)
}

// goOnFailed goes on with what has lost machines only, where its requester wanted that, and says of the others why it cannot be. It gives
// how many it began. It can be called again and again, by several servers: the store takes one go-on of an operation.
func (a *App) goOnFailed(ctx context.Context) (begun int, errs []error) {
	due, err := a.Store.GoOnsDue(ctx, tidyAtOnce)
	if err != nil {
		return 0, []error{err}
	}
	for _, o := range due {
		began, err := a.goOnByItself(ctx, o)
		if began {
			begun++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("going on with operation %d: %w", o.ID, err))
		}
	}
	return begun, errs
}

func (a *App) goOnByItself(ctx context.Context, o Operation) (begun bool, err error) {
	c, err := a.Store.Cluster(ctx, o.Tenant, o.Cluster)
	if err != nil {
		return false, err
	}
	s, err := a.planGoOn(ctx, c, o, true, Survival{AtLeast: NodeShare(fmt.Sprint(o.AtLeast)), NoTopUp: o.NoTopUp})
	if err == nil {
		_, err = a.Store.SubmitOperation(ctx, s.operation(a.Now(), retrier))
	}
	e := AsError(err)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil, e.Code == ETransient:
		return false, err // which passes
	case e.Code == EConflict && (e.Reason == "operation_running" || e.Reason == "plan_changed" || e.Reason == "not_the_latest"):
		return false, nil // a person or another server was faster; what is still due is seen again
	}
	_, noted := a.Store.JudgeGoOn(ctx, GoOnJudgement{Operation: o, Why: e.ForPeople(), Now: a.Now()})
	if e.Code != EInternal {
		err = nil // it is told to people; what is internal is for the log
	}
	return false, errors.Join(err, noted)
}

// noGoOn refuses to go on.
func noGoOn(hint, format string, args ...any) error {
	return &Error{Code: EConflict, Reason: "no_go_on", Message: fmt.Sprintf(format, args...), Hint: hint}
}

// operation is what the store is to accept.
func (s *survival) operation(now time.Time, who string) NewOperation {
	o := Operation{Tenant: s.Tenant, Cluster: s.ID, Kind: OperationGoOn, GoesOn: s.of.ID, PlanHash: s.shown.PlanHash, Requester: who, CreatedAt: now,
		Expected: s.shown.Duration, NoTopUp: !s.shown.TopsUp}
	if s.of.OnFailure == FailureGoOnOrBack {
		o.OnFailure = FailureRollBack
	}
	change := &ClusterChange{Template: s.Template, Definition: s.definition, Size: s.shown.After.Nodes, Services: s.servicesAfter(),
		CostPerHour: s.shown.After.CostPerHour, Nodes: map[string][]string{},
		Reservation: Reservation{Nodes: s.shown.After.Nodes, CPU: s.cpu(), CostPerHour: s.shown.After.CostPerHour}}
	change.Definition.Services = s.entries()
	for _, n := range s.nodes {
		switch {
		case n.Change == NodeGone:
			change.Leaving = append(change.Leaving, n.Name)
		case len(n.Added) > 0:
			change.Nodes[n.Name] = n.Services
		}
	}
	return NewOperation{Operation: o, Plan: s.shown.Plan, Change: change, Follows: s.of.ID, AsOf: s.of.EndedAt}
}
