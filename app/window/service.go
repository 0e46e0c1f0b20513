package window

import (
	"context"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Store keeps windows.
type Store interface {
	// Windows returns those of a tenant, and with a cluster those of the cluster, and what waits there; nil where none are set.
	Windows(ctx context.Context, tenant, cluster string) (Kept, error)
	// SetWindows writes those of a tenant, or with a cluster the cluster's own; nil takes them away. What waits is looked at again.
	SetWindows(ctx context.Context, who app.Actor, cluster string, s *Settings, now time.Time) error
}

// Clusters finds the clusters that an actor may see.
type Clusters interface {
	AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error)
}

// Kept is what is kept for a tenant or a cluster.
type Kept struct {
	Tenant *Set
	Own    *Set // of the cluster
	Waits  []Waiting
}

// Set is what was set, by whom and when.
type Set struct {
	Settings
	ChangedBy string    `json:"changed_by,omitempty"`
	ChangedAt time.Time `json:"changed_at,omitzero"`
}

// Waiting is a request that waits for its window.
type Waiting struct {
	Request int64             `json:"request"`
	Kind    app.OperationKind `json:"kind"`
	Window  Opening           `json:"window"`
}

// Effective are the settings that count for the cluster.
func (k Kept) Effective() (Settings, Source) {
	switch {
	case k.Tenant != nil && k.Tenant.Locked:
		return k.Tenant.Settings, FromTenant
	case k.Own != nil:
		return k.Own.Settings, FromCluster
	case k.Tenant != nil:
		return k.Tenant.Settings, FromTenant
	}
	return Settings{Windows: []Window{}}, FromNowhere
}

// Source says whose windows count.
type Source string

// The sources.
const (
	FromTenant  Source = "tenant"
	FromCluster Source = "cluster"
	FromNowhere Source = "none"
)

// View is what windows mean for a tenant or a cluster, as it is shown.
type View struct {
	Set
	// Source says whose windows these are: the tenant's, the cluster's own, or none's.
	Source Source `json:"source"`
	// TenantLocked reports whether clusters have the tenant's windows only.
	TenantLocked bool `json:"tenant_locked,omitempty"`
	Open         bool `json:"open"` // a window is open now
	// Next are the next times, or the one that is open; sooner first.
	Next    []Opening `json:"next"`
	Waiting []Waiting `json:"waiting"` // requests of the cluster
}

// Shown is how many times are shown.
const Shown = 3

// Now is the soonest of them; nil for none.
func (v View) Now() *Opening {
	if len(v.Next) == 0 {
		return nil
	}
	return &v.Next[0]
}

// Config is what a service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Clusters Clusters
}

// Service says when changes may start.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// MaintenanceWindows returns the windows of the actor's tenant.
func (a *Service) MaintenanceWindows(ctx context.Context, actor app.Actor) (View, error) {
	if err := actor.Authorize("MaintenanceWindows"); err != nil {
		return View{}, err
	}
	k, err := a.Store.Windows(ctx, actor.Tenant, "")
	return k.view(a.Now()), err
}

// SetMaintenanceWindows sets them; without a window nothing waits any more. What waits already is looked at again.
func (a *Service) SetMaintenanceWindows(ctx context.Context, actor app.Actor, s Settings) (View, error) {
	if err := a.WriteMaintenanceWindows(ctx, actor, s); err != nil {
		return View{}, err
	}
	return a.MaintenanceWindows(ctx, actor)
}

// WriteMaintenanceWindows is SetMaintenanceWindows for others that don't show them.
func (a *Service) WriteMaintenanceWindows(ctx context.Context, actor app.Actor, s Settings) error {
	if err := actor.Authorize("SetMaintenanceWindows"); err != nil {
		return err
	}
	if err := s.Check(a.Now()); err != nil {
		return err
	}
	s = s.Normal()
	return a.Store.SetWindows(ctx, actor, "", &s, a.Now())
}

// ClusterMaintenance returns the windows that count for a cluster, and what waits for them.
func (a *Service) ClusterMaintenance(ctx context.Context, actor app.Actor, cluster string) (View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterMaintenance", cluster)
	if err != nil {
		return View{}, err
	}
	return a.Of(ctx, c)
}

// Of is ClusterMaintenance of a cluster that the actor may see.
func (a *Service) Of(ctx context.Context, c app.Cluster) (View, error) {
	k, err := a.Store.Windows(ctx, c.Tenant, c.ID)
	return k.view(a.Now()), err
}

// SetClusterMaintenance sets windows of a cluster itself instead of the tenant's; nil takes them away again. EConflict, reason windows_locked,
// where the tenant doesn't let clusters have their own.
func (a *Service) SetClusterMaintenance(ctx context.Context, actor app.Actor, cluster string, s *Settings) (View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "SetClusterMaintenance", cluster)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayChange("SetClusterMaintenance", c); err != nil {
		return View{}, err
	}
	if c.Status == app.ClusterDeleted {
		return View{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	if s != nil {
		k, err := a.Store.Windows(ctx, c.Tenant, "")
		switch {
		case err != nil:
			return View{}, err
		case k.Tenant != nil && k.Tenant.Locked:
			return View{}, &app.Error{Code: app.EConflict, Reason: "windows_locked", Message: "Clusters of this tenant can't have maintenance windows of their own.",
				Hint: "Ask an admin to change the tenant's windows."}
		case s.Locked:
			return View{}, &app.Error{Code: app.EInvalid, Field: "locked", Message: "Only a tenant's windows can be locked.", Hint: "Omit it."}
		}
		if err := s.Check(a.Now()); err != nil {
			return View{}, err
		}
		own := s.Normal()
		s = &own
	}
	if err := a.Store.SetWindows(ctx, actor, c.ID, s, a.Now()); err != nil {
		return View{}, err
	}
	return a.Of(ctx, c)
}

// Wait says whether a change waits for a window.
func (a *Service) Wait(ctx context.Context, c Change) (Wait, error) {
	k, err := a.Store.Windows(ctx, c.Tenant, c.Cluster)
	if err != nil {
		return Wait{}, err
	}
	s, _ := k.Effective()
	return s.Decide(c, a.Now())
}

// Text is the next window for people, or the one that is open: Next maintenance window: Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin).
func (v View) Text() string {
	switch now := v.Now(); {
	case now == nil:
		return "No maintenance windows."
	case v.Open:
		return "Maintenance window, open now: " + now.Text() + "."
	default:
		return "Next maintenance window: " + now.Text() + "."
	}
}

// Text is what waits, for people: Upgrade waits for the maintenance window: Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin).
func (w Waiting) Text() string {
	return humanize.Upper(w.Kind.Text()) + " waits for the maintenance window: " + w.Window.Text()
}

// MayRunNow reports whether someone may start a waiting change of a cluster before its window: it takes an approver or an admin, or, where
// the cluster has its own windows, someone who may set those.
func (v View) MayRunNow(actor app.Actor, c app.Cluster) bool {
	return actor.May("RunNow") && (actor.Role.AtLeast(app.RoleApprover) || v.Source == FromCluster && actor.MayIn("SetClusterMaintenance", c))
}

func (k Kept) view(now time.Time) View {
	s, source := k.Effective()
	v := View{Set: Set{Settings: s}, Source: source, TenantLocked: k.Tenant != nil && k.Tenant.Locked, Next: []Opening{}, Waiting: k.Waits}
	switch source {
	case FromTenant:
		v.Set = *k.Tenant
	case FromCluster:
		v.Set = *k.Own
	}
	if v.Waiting == nil {
		v.Waiting = []Waiting{}
	}
	for at := now; len(v.Next) < Shown; {
		o, ok := s.Next(at)
		if !ok {
			break
		}
		v.Next, at = append(v.Next, o), o.End
	}
	v.Open = len(v.Next) > 0 && !v.Next[0].Start.After(now)
	return v
}
