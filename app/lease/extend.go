package lease

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/template"
)

// Store is what Service needs of the database.
type Store interface {
	Accounts(ctx context.Context) ([]app.Account, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	// Leader reports whether a server leads, which is the one that ends leases, until when by the database's clock, and what that
	// clock says. Known is false where there can be only one server.
	Leader(ctx context.Context) (until time.Time, clock time.Time, known bool, err error)
	// LeaseTimes returns when a lease was set last and when it ends.
	LeaseTimes(ctx context.Context, tenant string, cluster string) (template.LeaseTimes, error)
	// LeaseWarnings returns the warnings that were given of a cluster's present end, by how long before it.
	LeaseWarnings(ctx context.Context, tenant string, cluster string) (map[time.Duration]time.Time, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	// SetLease moves the end of a lease, and with it what is reserved. EConflict where it is not what it was, or the cluster is
	// being deleted; EQuota where a budget does not allow it.
	SetLease(ctx context.Context, c Change) error
	WorkerKey(ctx context.Context) ([]byte, error)
}

// Config is what Service is created from.
type Config struct {
	Store         Store
	Now           func() time.Time
	Catalogs      *catalog.Service
	WorkerKeys    *identity.WorkerKeys
	Clusters      *cluster.Finder
	Preflight     *cluster.Preflight
	PausedDeletes *PausedDeletes
}

// Service shows and moves the ends of clusters.
type Service struct {
	Config
}

// New returns a Service on top of their needs.
func New(c Config) *Service { return &Service{Config: c} }

// Change is another end of a lease, as the store takes it.
type Change struct {
	Tenant  string
	Cluster string
	Was     time.Time // the end that it had when it was asked for
	Until   time.Time // zero for none
	Who     app.Actor
	Beyond  bool   // more than the template allows
	Reason  string // for the audit
	Message string // for the feed
	Now     time.Time
}

// ExtendLease moves the end of a cluster's lease, nearer or further away. Its owner may, within what the template allows;
// admins may do more, with a reason. It takes more of budgets, or returns some, so a quota can refuse it. A cluster that is
// being deleted is EConflict; one whose lease has ended but whose delete has not begun can still be saved.
func (a *Service) ExtendLease(ctx context.Context, actor app.Actor, cluster string, r template.LeaseRequest) (Outlook, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ExtendLease", cluster)
	if err != nil {
		return Outlook{}, err
	}
	if err := actor.MayChange("ExtendLease", c); err != nil {
		return Outlook{}, err
	}
	r.Reason = strings.TrimSpace(r.Reason)
	now := a.Now()
	until, beyond, err := a.move(ctx, actor, c, r, now)
	if err != nil {
		return Outlook{}, err
	}
	if !until.Equal(c.ExpiresAt) {
		if err := a.Store.SetLease(ctx, Change{Tenant: c.Tenant, Cluster: c.ID, Was: c.ExpiresAt, Until: until, Who: actor, Beyond: beyond,
			Reason: r.Reason, Message: leaseMoved(actor, c.ExpiresAt, until, r.Reason, beyond), Now: now}); err != nil {
			return Outlook{}, err
		}
	}
	return a.LeaseOutlook(ctx, actor, c.ID)
}

// PreviewExtend works out when a lease would end, and changes nothing. What ExtendLease would refuse, it refuses, except for what budgets do not allow.
func (a *Service) PreviewExtend(ctx context.Context, actor app.Actor, cluster string, r template.LeaseRequest) (time.Time, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "PreviewExtend", cluster)
	if err != nil {
		return time.Time{}, err
	}
	if err := actor.MayChange("PreviewExtend", c); err != nil {
		return time.Time{}, err
	}
	r.Reason = strings.TrimSpace(r.Reason)
	until, _, err := a.move(ctx, actor, c, r, a.Now())
	return until, err
}

// move works out the new end of a lease, and whether that is beyond the template's rules, which only admins may do, with a reason.
func (a *Service) move(ctx context.Context, actor app.Actor, c app.Cluster, r template.LeaseRequest, now time.Time) (until time.Time, beyond bool, err error) {
	if len(r.Reason) > template.MostLeaseReason {
		return until, false, &app.Error{Code: app.EInvalid, Field: "reason", Message: "The reason is too long.", Hint: "Use at most 500 characters."}
	}
	if c.Status == app.ClusterDeleted {
		return until, false, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	rules, err := a.leaseRules(ctx, c)
	if err != nil {
		return until, false, err
	}
	until, rule, err := rules.Move(c.CreatedAt, c.ExpiresAt, now, r)
	if err != nil {
		return until, false, err
	}
	if rule == nil && !until.Equal(c.ExpiresAt) {
		if rule, err = a.leaseFixed(ctx, c); err != nil {
			return until, false, err
		}
	}
	if rule == nil {
		return until, false, nil
	}
	if reach, _ := actor.Reach("ExtendLease"); reach != app.All {
		return until, false, rule
	}
	if r.Reason == "" {
		rule.Field, rule.Hint = "reason", "As an admin, you can override the limit with a reason."
		return until, false, rule
	}
	return until, true, nil
}

// leaseFixed says that the template of a cluster does not let leases be changed, nearer or further away; nil where it does. Admins may,
// with a reason, as with the template's other rules: someone must be able to give machines back early.
func (a *Service) leaseFixed(ctx context.Context, c app.Cluster) (*app.Error, error) {
	d, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil || !slices.Contains(d.Immutable, "lease") {
		return nil, err
	}
	return &app.Error{Code: app.EInvalid, Reason: "immutable", Field: "lease", Message: fmt.Sprintf("Template %s doesn't allow changing the lease.", c.Template),
		Hint: "Ask an admin to change the template. You can delete the cluster at any time."}, nil
}

func leaseMoved(who app.Actor, was, until time.Time, reason string, beyond bool) string {
	text := who.Name()
	switch {
	case until.IsZero():
		text += " removed the lease end."
	case !was.IsZero() && until.After(was):
		text += " extended the lease until " + app.Moment(until) + "."
	case was.IsZero():
		text += " set the lease end to " + app.Moment(until) + "."
	default:
		text += " shortened the lease to " + app.Moment(until) + "."
	}
	if beyond {
		text = strings.TrimSuffix(text, ".") + ", beyond the template's limit: " + reason
	}
	return text
}

// leaseRules are those that the cluster was made with. Of clusters from before they were kept it is what the catalog says now.
func (a *Service) leaseRules(ctx context.Context, c app.Cluster) (template.Lease, error) {
	d, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if app.IsKeyLost(err) { // nothing can be extended; see leaseFixed
		return template.Lease{}, nil
	}
	if err != nil {
		return template.Lease{}, err
	}
	if d.Lease != nil {
		return *d.Lease, nil
	}
	catalog, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return template.Lease{}, err
	}
	if t := catalog.Templates[c.Template]; t != nil {
		return t.Lease, nil
	}
	return template.Lease{}, nil
}
