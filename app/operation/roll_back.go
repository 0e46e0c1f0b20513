package operation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/plan"
	"muster/app/quarantine"
	"muster/app/template"
)

// RollBackStore is what RollBacks needs of the database.
type RollBackStore interface {
	ChangeOf(ctx context.Context, tenant string, operation int64) (before appcluster.Change, after appcluster.Change, err error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	DefinitionAt(ctx context.Context, tenant string, cluster string, operation int64) (appcluster.Definition, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	RollBacksDue(ctx context.Context, limit int) ([]app.Operation, error)
	StepsAndJoins(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	SubmitOperation(ctx context.Context, n appcluster.NewOperation) (app.Operation, error)
}

// RollBacksConfig is what RollBacks is created from.
type RollBacksConfig struct {
	Store      RollBackStore
	Now        func() time.Time
	Plans      *appcluster.Plans
	Views      *appcluster.Views
	Operations *Finder
	Partials   *Partials
	Keeping    *quarantine.Drafts
}

// RollBacks undoes operations that failed or were cancelled.
type RollBacks struct {
	RollBacksConfig
}

// NewRollBacks returns RollBacks on top of their needs.
func NewRollBacks(c RollBacksConfig) *RollBacks { return &RollBacks{RollBacksConfig: c} }

// RollBackPreview is what a rollback would do, worked out before anything is accepted.
type RollBackPreview struct {
	Operation app.Operation `json:"operation"` // that would be undone
	Plan      plan.Plan     `json:"plan"`
	PlanHash  string        `json:"plan_hash"`
	Duration  time.Duration `json:"duration"` // estimate, on unlimited workers
	// Deletes are the nodes whose machines were created, or may have been, and are deleted.
	Deletes []string `json:"deleted_nodes"`
	// Unchanged counts the nodes of the cluster that the rollback doesn't change.
	Unchanged int `json:"unchanged"`
	// Skips are the nodes whose machines are lost, on which nothing is undone. A repair can replace them afterwards.
	Skips []string `json:"skipped_nodes,omitempty"`
	// DeletesCluster reports whether nothing of the cluster is left afterwards.
	DeletesCluster bool `json:"deletes_cluster"`
	// Kept are the failed machines that are kept for inspection instead of deleted.
	Kept quarantine.Selection `json:"kept,omitzero"`
	// CanKeep are the failed nodes whose machines could be kept.
	CanKeep []string `json:"can_keep,omitempty"`
}

// undo is a rollback that was worked out.
type undo struct {
	RollBackPreview
	change     *appcluster.Change // what it makes of the cluster; nil where the operation has changed nothing of that
	definition appcluster.Definition
}

// PreviewRollBack works out what the rollback of an operation would do; operation 0 is the latest. EConflict where it
// cannot be rolled back, saying what can be done instead. Keep says for how long failed machines are kept; "" leaves that to the cluster's setting.
func (a *RollBacks) PreviewRollBack(ctx context.Context, actor app.Actor, cluster string, operation int64, keep template.KeepTime) (RollBackPreview, error) {
	if err := actor.Authorize("PreviewRollBack"); err != nil {
		return RollBackPreview{}, err
	}
	c, o, latest, err := a.Operations.FindOperation(ctx, actor, cluster, operation)
	if err != nil {
		return RollBackPreview{}, err
	}
	if err := o.Allows(app.ActRollBack, latest); err != nil {
		return RollBackPreview{}, err
	}
	if err := keep.Check(); err != nil {
		return RollBackPreview{}, err
	}
	p, err := a.planRollBack(ctx, c, o, keep)
	return p.RollBackPreview, err
}

// RollBack undoes what an operation that failed or was cancelled has done; operation 0 is the latest. When planHash is
// set and the plan is another one by now, it is EConflict and nothing happens.
func (a *RollBacks) RollBack(ctx context.Context, actor app.Actor, cluster string, operation int64, planHash string,
	keep template.KeepTime) (appcluster.View, error) {
	if err := actor.Authorize("RollBack"); err != nil {
		return appcluster.View{}, err
	}
	c, o, latest, err := a.Operations.FindOperation(ctx, actor, cluster, operation)
	if err != nil {
		return appcluster.View{}, err
	}
	if err := actor.MayChange("RollBack", c); err != nil {
		return appcluster.View{}, err
	}
	if err := o.Allows(app.ActRollBack, latest); err != nil {
		return appcluster.View{}, err
	}
	if err := keep.Check(); err != nil {
		return appcluster.View{}, err
	}
	if err := a.rollBack(ctx, c, o, actor.User, planHash, keep); err != nil {
		return appcluster.View{}, err
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}

func (a *RollBacks) rollBack(ctx context.Context, c app.Cluster, o app.Operation, who, planHash string, keep template.KeepTime) error {
	n, err := a.Undo(ctx, c, o, who, keep)
	if err != nil {
		return err
	}
	if planHash != "" && planHash != n.Operation.PlanHash {
		return errPlanChanged
	}
	_, err = a.Store.SubmitOperation(ctx, n)
	return err
}

// Undo works out the rollback of a cluster's latest operation, for the store to accept.
func (a *RollBacks) Undo(ctx context.Context, c app.Cluster, o app.Operation, who string, keep template.KeepTime) (n appcluster.NewOperation, err error) {
	p, err := a.planRollBack(ctx, c, o, keep)
	if err != nil {
		return n, err
	}
	undone, err := a.undoneBy(ctx, c, o)
	if err != nil {
		return n, err
	}
	kept, err := a.Keeping.Draft(ctx, c, p.definition, p.Kept, true)
	if err != nil {
		return n, err
	}
	return appcluster.NewOperation{
		Operation: app.Operation{Tenant: c.Tenant, Cluster: c.ID, Kind: app.OperationRollBack, RollsBack: undone.ID, PlanHash: p.PlanHash, Requester: who,
			CreatedAt: a.Now(), Expected: p.Duration},
		Plan: p.Plan, Change: p.change, Follows: o.ID, Keep: kept,
	}, nil
}

var errPlanChanged = &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan has changed since the preview.",
	Hint: "Check the new preview and submit again."}

// planRollBack returns what a rollback would do.
func (a *RollBacks) planRollBack(ctx context.Context, c app.Cluster, o app.Operation, keep template.KeepTime) (undo, error) {
	undone, err := a.undoneBy(ctx, c, o)
	if err != nil {
		return undo{}, err
	}
	p := undo{RollBackPreview: RollBackPreview{Operation: o, Deletes: []string{}, DeletesCluster: undone.Kind == app.OperationCreate}}
	nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return p, err
	}
	change, had, err := a.undoChange(ctx, c, undone)
	if err != nil {
		return p, err
	}
	p.change = change
	if err := a.withoutPartial(ctx, o, change); err != nil {
		return p, err
	}
	r := plan.Request{Kind: app.OperationRollBack}
	for _, n := range nodes {
		services := n.Services
		if before, changed := had.Nodes[n.Name]; changed {
			services = before
		}
		if n.Lost() && !slices.Contains(change.LeavingNodes(), n.Name) && !p.DeletesCluster {
			p.Skips = append(p.Skips, n.Name)
		}
		r.Nodes = append(r.Nodes, plan.Node{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: services, Lost: n.Lost()})
	}
	if r.Undo, err = a.stepsToUndo(ctx, o, undone, nodes); err != nil {
		return p, err
	}
	failed := quarantine.FailedIn(r.Undo)
	if undone.Kind == app.OperationStart { // to start what ran already did nothing
		r.Undo = slices.DeleteFunc(r.Undo, func(s app.Step) bool { return s.Service != "" && !had.Definition.IsStopped(s.Node, s.Service) })
	}
	r.Services, r.Config = had.Definition.Services, had.Definition.Config
	if p.Plan, err = a.Plans.Plan(ctx, c.Tenant, c.Provider, r); err != nil {
		return p, err
	}
	if err := a.keepFailed(ctx, c, o, &p, nodes, failed, keep); err != nil {
		return p, err
	}
	p.PlanHash, p.Duration = p.Plan.Hash(), p.Plan.Duration()
	touched := map[string]bool{}
	for _, s := range p.Plan.Steps {
		if !s.Join {
			touched[s.Node] = true
		}
	}
	p.Unchanged = len(nodes) - len(touched)
	return p, nil
}

// keepFailed finds which machines the rollback deletes, and which of them are kept instead.
func (a *RollBacks) keepFailed(ctx context.Context, c app.Cluster, o app.Operation, p *undo, nodes []app.Node, failed map[string]string,
	keep template.KeepTime) error {
	recreated := map[string]bool{}
	for _, s := range p.Plan.Steps {
		if s.Action == app.ActionDelete {
			p.Deletes = append(p.Deletes, s.Node)
		}
		recreated[s.Node] = recreated[s.Node] || s.Action == app.ActionCreate
	}
	// What the operation gave back is made again, after what may be left of it is gone.
	p.Deletes = slices.DeleteFunc(p.Deletes, func(node string) bool { return recreated[node] })
	maps.DeleteFunc(failed, func(node, _ string) bool { return !slices.Contains(p.Deletes, node) })
	if len(failed) == 0 {
		return nil
	}
	var err error
	if p.definition, err = a.Store.DefinitionAt(ctx, c.Tenant, c.ID, o.ID); err != nil {
		return err
	}
	if err := a.Partials.Builder.noneWithVolumes(ctx, c, p.definition, nodes, failed); err != nil {
		return err
	}
	p.CanKeep = quarantine.Choose(template.DefaultKeepTime, nodes, failed, quarantine.MostKept).Nodes()
	if p.Kept, err = a.Keeping.Select(ctx, c.Tenant, keep.Over(p.definition.KeepFailed), nodes, failed); err != nil {
		return err
	}
	p.Plan.Keeps = p.Kept.Nodes()
	p.Deletes = slices.DeleteFunc(p.Deletes, func(node string) bool { return slices.Contains(p.Plan.Keeps, node) })
	return nil
}

// undoChange returns the change that puts back what an operation has made of its cluster, nil where it made nothing of it, and what
// the rollback is planned by.
func (a *RollBacks) undoChange(ctx context.Context, c app.Cluster, o app.Operation) (change *appcluster.Change, had appcluster.Change, err error) {
	had, made, err := a.Store.ChangeOf(ctx, c.Tenant, o.ID)
	if app.CodeOf(err) == app.ENotFound {
		had.Definition, err = a.Store.DefinitionAt(ctx, c.Tenant, c.ID, o.ID)
		return nil, had, err
	}
	if err != nil {
		return nil, had, err
	}
	// What came with the operation is stopped and removed by the entries that it came with.
	services := maps.Clone(made.Definition.Services)
	if services == nil {
		services = map[string]*template.Service{}
	}
	maps.Copy(services, had.Definition.Services)
	had.Definition.Services = services
	back := had
	back.Leaving = slices.Clone(had.Leaving)
	for _, n := range made.New {
		back.Leaving = append(back.Leaving, n.Node.Name)
	}
	return &back, had, nil
}

// UndoFailed does what is to become by itself of operations that did not end well, of all tenants: it begins the rollback of those
// that failed or were cancelled and whose requester wanted that, and accepts the partial result of those of which only machines are missing. It returns how
// many it began. It can be called again and again, by several servers: the store takes one such operation after another one, and
// only while nothing else has followed it.
func (a *RollBacks) UndoFailed(ctx context.Context) (begun int, err error) {
	due, err := a.Store.RollBacksDue(ctx, appcluster.TidyAtOnce)
	if err != nil {
		return 0, err
	}
	begun, errs := a.Partials.acceptPartialFailed(ctx)
	for _, o := range due {
		c, err := a.Store.Cluster(ctx, o.Tenant, o.Cluster)
		if err == nil {
			if err = a.rollBack(ctx, c, o, app.Retrier, "", ""); quarantine.Refused(err) { // what is wanted first is that nothing is left
				err = a.rollBack(ctx, c, o, app.Retrier, "", template.KeepOff)
			}
		}
		switch app.CodeOf(err) {
		case "":
			begun++
		case app.EConflict: // a person or another server was faster
		default:
			errs = append(errs, err)
		}
	}
	return begun, errors.Join(errs...)
}
