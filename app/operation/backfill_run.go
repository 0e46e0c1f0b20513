package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/identity"
	"muster/app/template"
)

// BackfillStore is what Backfills needs of the database.
type BackfillStore interface {
	// NoteBackfill writes down what happened to a try. It is false where something else was faster.
	NoteBackfill(ctx context.Context, n BackfillNote) (bool, error)
	// Request returns one with its reviews; ENotFound where the tenant has none of that number.
	Request(ctx context.Context, tenant string, id int64) (appcluster.Request, error)
	// SetBackfill carries out a person's order. EConflict where the cluster lacks nothing, and for now while an operation is running
	// or the cluster sleeps.
	SetBackfill(ctx context.Context, c BackfillChange) error
	// BackfillsDue returns those that are to be tried by now, of all tenants, of clusters whose lease has not ended.
	BackfillsDue(ctx context.Context, now time.Time, limit int) ([]BackfillDue, error)
	User(ctx context.Context, tenant string, name string) (identity.User, error)
}

// BackfillsConfig is what Backfills is created from.
type BackfillsConfig struct {
	Store    BackfillStore
	Now      func() time.Time
	Clusters *appcluster.Finder
	Views    *appcluster.Views
	Updates  *Updates
}

// Backfills requests the nodes that clusters lack again.
type Backfills struct {
	BackfillsConfig
}

// NewBackfills returns Backfills on top of their needs.
func NewBackfills(c BackfillsConfig) *Backfills { return &Backfills{BackfillsConfig: c} }

func (d BackfillDue) tell(at time.Time, title, text string) *app.Notice {
	c := d.Cluster
	return &app.Notice{At: at, Tenant: c.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID), Title: title, Text: text}
}

// SetBackfill says whether, and when, the nodes that a cluster lacks are asked for again. An empty order begins again where it was off.
func (a *Backfills) SetBackfill(ctx context.Context, actor app.Actor, cluster string, o BackfillOrder) (appcluster.View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "SetBackfill", cluster)
	if err != nil {
		return appcluster.View{}, err
	}
	if err := actor.MayChange("SetBackfill", c); err != nil {
		return appcluster.View{}, err
	}
	if o.Off && o.Now {
		return appcluster.View{}, &app.Error{Code: app.EInvalid, Field: "now", Message: "Off and now can't be combined.", Hint: "Set only one of them."}
	}
	if c.Status == app.ClusterDeleted {
		return appcluster.View{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	if err := a.Store.SetBackfill(ctx, BackfillChange{BackfillOrder: o, Tenant: c.Tenant, Cluster: c.ID, Who: actor, At: a.Now()}); err != nil {
		return appcluster.View{}, err
	}
	return a.Views.Cluster(ctx, actor, c.ID)
}

// RunBackfills asks again for the nodes that clusters lack, where it is time, of all tenants. It returns how many operations it began. Several
// servers may do this at the same time: a cluster takes one operation of two.
func (a *Backfills) RunBackfills(ctx context.Context) (begun int, err error) {
	due, err := a.Store.BackfillsDue(ctx, a.Now(), appcluster.TidyAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, d := range due {
		began, err := a.backfill(ctx, d)
		if began {
			begun++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("backfilling %s: %w", d.Cluster.ID, err))
		}
	}
	return begun, errors.Join(errs...)
}

// backfill asks for what a cluster lacks in the name of its owner: the same policies, quotas and approvals hold. What does not come of it
// either is gone on without; where something else goes wrong, the cluster is put back as it was.
func (a *Backfills) backfill(ctx context.Context, d BackfillDue) (begun bool, err error) {
	now := a.Now()
	n := BackfillNote{Tenant: d.Cluster.Tenant, Cluster: d.Cluster.ID, Now: now, Due: d.NextAt, Tries: d.Tries + 1}
	wait := func(note string, gap time.Duration) error {
		n.Note, n.NextAt = note, now.Add(gap)
		_, err := a.Store.NoteBackfill(ctx, n)
		return err
	}
	if d.Request > 0 {
		r, err := a.Store.Request(ctx, d.Cluster.Tenant, d.Request)
		switch {
		case err != nil && app.CodeOf(err) != app.ENotFound:
			return false, err
		case err == nil && r.Status.Open():
			n.Request, n.Tries = d.Request, d.Tries
			return false, wait(d.Note, longBackfillGap)
		case err == nil && (r.Status == appcluster.RequestDenied || r.Status == appcluster.RequestWithdrawn):
			n.Off = true
			n.Tell = d.tell(now, fmt.Sprintf("Backfill of cluster %s has stopped.", d.Cluster.Name), fmt.Sprintf("Request %d was %s.", r.ID, r.Status))
			return false, wait(fmt.Sprintf("Request %d was %s.", r.ID, r.Status), longBackfillGap)
		}
	}
	owner, err := a.Store.User(ctx, d.Cluster.Tenant, d.Cluster.Owner)
	if app.CodeOf(err) == app.ENotFound || err == nil && owner.Disabled() {
		n.Off = true
		return false, wait(fmt.Sprintf("The account of the owner, %s, was disabled or deleted.", d.Cluster.Owner), longBackfillGap)
	}
	if err != nil {
		return false, err
	}
	actor := owner.Actor()
	actor.Via = app.ViaServer
	answer, err := a.askBackfill(ctx, actor, d)
	e := app.AsError(err)
	switch {
	case err == nil && answer.Operation > 0:
		return true, nil
	case err == nil && answer.Request != nil:
		n.Request = answer.Request.ID
		return false, wait("", longBackfillGap)
	case err == nil: // it has them all
		return false, wait("", BackfillGap(n.Tries))
	case ctx.Err() != nil:
		return false, err
	case e.Code == app.EConflict && (e.Reason == "operation_running" || e.Reason == "plan_changed"), e.Code == app.ETransient:
		n.Tries = d.Tries
		return false, wait(d.Note, backfillLook)
	case e.Code == app.EInternal:
		return false, errors.Join(err, wait("Internal error.", BackfillGap(n.Tries)))
	}
	return false, wait(e.ForPeople(), BackfillGap(n.Tries))
}

func (a *Backfills) askBackfill(ctx context.Context, actor app.Actor, d BackfillDue) (appcluster.UpdateAnswer, error) {
	if err := actor.Authorize("Update"); err != nil {
		return appcluster.UpdateAnswer{}, err
	}
	return a.Updates.update(ctx, actor, d.Cluster, appcluster.Update{Kind: app.OperationResize, Size: d.Target, OnFailure: app.FailureAcceptPartialOrRollBack, PartialOverride: template.PartialOverride{MinAvailable: "1"}, Backfill: true})
}
