package idle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/template"
)

// ReasonInUse is the reason of an error where a cluster is in use again.
const ReasonInUse = "in_use"

// Due is a cluster with an idle policy, and how it is used.
type Due struct {
	Cluster app.Cluster
	State   State
	Every   time.Duration // from one measurement to the next
}

// Move is the state after a step, with what people are notified of; no notice where its kind is "".
type Move struct {
	Due    Due
	After  State
	Notice app.Notice
	Now    time.Time
}

// Change is what a person says of a cluster's idle policy: keep it until a time, or else turn the policy off or on.
type Change struct {
	Tenant  string
	Cluster string
	Who     app.Actor
	Now     time.Time
	Until   time.Time
	Disable bool
}

// Store is what the service needs of the database.
type Store interface {
	// IdleState returns how a cluster is used; nil where it has no idle policy.
	IdleState(ctx context.Context, tenant, cluster string) (*State, error)
	// DueIdle returns clusters of all tenants of which there is something to do, found by an index.
	DueIdle(ctx context.Context, now time.Time, limit int) ([]Due, error)
	// MoveIdle writes a step; false where another server, a person or a measurement was faster.
	MoveIdle(ctx context.Context, m Move) (bool, error)
	// ChangeIdle writes what a person said. EConflict where the cluster has no idle policy, or can't be kept as it is.
	ChangeIdle(ctx context.Context, c Change) error
	// IdleWarnings returns the clusters that a reader sees and that are about to sleep or to be deleted, soonest first.
	IdleWarnings(ctx context.Context, r app.ClusterReader, limit int) ([]Due, error)
	IdleSavings(ctx context.Context, q SavingsQuery) ([]Saving, error)
	// DefaultIdlePolicy returns the policy of clusters whose templates say nothing; nil for none.
	DefaultIdlePolicy(ctx context.Context, tenant string) (*template.IdlePolicy, error)
	SetDefaultIdlePolicy(ctx context.Context, who app.Actor, now time.Time, p *template.IdlePolicy) error
}

// Config is what the service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Catalogs *catalog.Service
	Clusters *cluster.Finder
	Deletes  *cluster.Deletes
	Sleeping *operation.Sleeping
}

// Service warns of idle clusters and ends their use.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// seenAtOnce is how many clusters one run sees to.
const seenAtOnce = 200

// RunIdle does what is due about idle clusters, of all tenants, and tells how many it began to put to sleep or to delete. Several servers may
// call it at the same time: each step is written on the condition that nothing has changed, and an operation is only accepted while the cluster is
// idle.
func (a *Service) RunIdle(ctx context.Context) (begun int, err error) {
	due, err := a.Store.DueIdle(ctx, a.Now(), seenAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, d := range due {
		did, err := a.step(ctx, d)
		if did {
			begun++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("idle cluster %s: %w", d.Cluster.ID, err))
		}
	}
	return begun, errors.Join(errs...)
}

func (a *Service) step(ctx context.Context, d Due) (began bool, err error) {
	now := a.Now()
	m := Move{Due: d, After: d.State, Now: now}
	next := d.State.Next(now, d.Every, d.Cluster.Size)
	if d.Cluster.Status != app.ClusterActive {
		next = StepNone
	}
	switch next {
	case StepNone: // until it's measured again
		m.After.DueAt = time.Time{}
	case StepWarn:
		m.After = d.State.Warned(now)
		m.Notice = warnNotice(d.Cluster, m.After, now)
	case StepConfirm:
		m.After = d.State.Confirming(now)
	case StepAct:
		began, why, err := a.act(ctx, d)
		if err != nil || began || why == "" {
			return began, err
		}
		m.After = d.State.Failed(now, why)
		m.Notice = failNotice(d.Cluster, m.After, now)
	}
	_, err = a.Store.MoveIdle(ctx, m)
	return false, err
}

// act begins the operation. Why says that it isn't possible, and won't be soon.
func (a *Service) act(ctx context.Context, d Due) (began bool, why string, err error) {
	c, who := d.Cluster, app.System(d.Cluster.Tenant, app.IdleUser)
	if d.State.Policy.Action() == template.IdleDelete {
		_, err = a.Deletes.StartDelete(ctx, who, c)
	} else {
		var answer cluster.UpdateAnswer
		answer, err = a.Sleeping.SleepCluster(ctx, who, c.ID, "")
		if err == nil && answer.Request != nil {
			return false, fmt.Sprintf("The change requires approval: request %d.", answer.Request.ID), nil
		}
	}
	switch e := app.AsError(err); {
	case err == nil:
		return true, "", nil
	case e.Code == app.EConflict, e.Code == app.ETransient, e.Code == app.ETimeout, e.Code == app.ECancelled, e.Code == app.ERateLimit:
		return false, "", nil // a person or an operation was faster, or it's tried again
	case e.Code == app.EInternal:
		return false, "", err
	default:
		return false, e.Advised(), nil
	}
}

// since says how long a cluster has been idle, and by what.
func since(s State) string {
	text := "It has been idle since " + app.Moment(s.IdleSince)
	if words := s.Policy.If.Words(); len(words) > 0 {
		text += ": " + humanize.And(words)
	}
	return text + "."
}

func warnNotice(c app.Cluster, s State, now time.Time) app.Notice {
	n := app.Notice{At: now, Tenant: c.Tenant, Kind: app.NoticeIdle, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
		Title: c.Name + " is idle.", Text: since(s)}
	if s.ActAt.IsZero() {
		n.Text += " It still costs money: put it to sleep or delete it if you don't need it."
		return n
	}
	n.Title = fmt.Sprintf("%s is idle and will %s in %s.", c.Name, ActionWords(s.Policy.Action()), humanize.Duration(s.ActAt.Sub(now)))
	if s.Policy.Action() == template.IdleDelete {
		n.Text += fmt.Sprintf(" At %s, Muster deletes the cluster's %s and all data on them, unless it's used before.", app.Moment(s.ActAt),
			humanize.Count(c.Size, "node"))
	} else {
		n.Text += fmt.Sprintf(" At %s, its machines are stopped, unless it's used before. You can wake it at any time.", app.Moment(s.ActAt))
	}
	if s.Policy.MayKeep() {
		n.ActionName, n.Act = KeepWords(s.Policy.KeepStep()), app.Subject{Kind: app.SubjectKeep, ID: c.ID}
	}
	return n
}

// KeepWords names a button: "Keep 2 h more".
func KeepWords(by time.Duration) string { return "Keep " + humanize.Duration(by) + " more" }

// ActNotice tells that an idle cluster is put to sleep or deleted now.
func ActNotice(c app.Cluster, s State, now time.Time) app.Notice {
	n := app.Notice{At: now, Tenant: c.Tenant, Kind: app.NoticeIdle, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
		Title: c.Name + " is going to sleep because it's idle.", Text: since(s) + " Wake it when you need it."}
	if s.Policy.Action() == template.IdleDelete {
		n.Title, n.Text = c.Name+" is being deleted because it's idle.", since(s)+" All its data is deleted."
	}
	return n
}

func failNotice(c app.Cluster, s State, now time.Time) app.Notice {
	return app.Notice{At: now, Tenant: c.Tenant, Kind: app.NoticeIdle, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("%s is idle but did not %s.", c.Name, ActionWords(s.Policy.Action())), Text: s.Note + " " + since(s)}
}
