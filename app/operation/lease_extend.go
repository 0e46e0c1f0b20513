package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/template"
)

// LeaseChange is another end of a lease, as the store takes it.
type LeaseChange struct {
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
// admins may do more, with a reason. It takes more of budgets, or gives some back, so a quota can refuse it. A cluster that is
// being deleted is EConflict; one whose lease has ended but whose delete has not begun can still be saved.
func (a *Service) ExtendLease(ctx context.Context, actor app.Actor, cluster string, r template.LeaseRequest) (LeaseOutlook, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ExtendLease", cluster)
	if err != nil {
		return LeaseOutlook{}, err
	}
	if err := actor.MayChange("ExtendLease", c); err != nil {
		return LeaseOutlook{}, err
	}
	if r.Reason = strings.TrimSpace(r.Reason); len(r.Reason) > template.MostLeaseReason {
		return LeaseOutlook{}, &app.Error{Code: app.EInvalid, Field: "reason", Message: "The reason is too long.", Hint: "Say it in at most 500 letters."}
	}
	if c.Status == app.ClusterDeleted {
		return LeaseOutlook{}, app.Errorf(app.EConflict, "Cluster %q is gone.", c.Name)
	}
	rules, err := a.leaseRules(ctx, c)
	if err != nil {
		return LeaseOutlook{}, err
	}
	now := a.Now()
	until, beyond, err := rules.Move(c.CreatedAt, c.ExpiresAt, now, r)
	if err != nil {
		return LeaseOutlook{}, err
	}
	if beyond == nil && !until.Equal(c.ExpiresAt) {
		if beyond, err = a.leaseFixed(ctx, c); err != nil {
			return LeaseOutlook{}, err
		}
	}
	if beyond != nil {
		if reach, _ := actor.Reach("ExtendLease"); reach != app.All {
			return LeaseOutlook{}, beyond
		}
		if r.Reason == "" {
			beyond.Field, beyond.Hint = "reason", "As an admin you may do it all the same: give the reason."
			return LeaseOutlook{}, beyond
		}
	}
	if !until.Equal(c.ExpiresAt) {
		if err := a.Store.SetLease(ctx, LeaseChange{Tenant: c.Tenant, Cluster: c.ID, Was: c.ExpiresAt, Until: until, Who: actor, Beyond: beyond != nil,
			Reason: r.Reason, Message: leaseMoved(actor, c.ExpiresAt, until, r.Reason, beyond != nil), Now: now}); err != nil {
			return LeaseOutlook{}, err
		}
	}
	return a.LeaseOutlook(ctx, actor, c.ID)
}

// leaseFixed says that the template of a cluster does not let leases be changed, nearer or further away; nil where it does. Admins may,
// with a reason, as with the template's other rules: somebody must be able to give machines back early.
func (a *Service) leaseFixed(ctx context.Context, c app.Cluster) (*app.Error, error) {
	d, err := a.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil || !slices.Contains(d.Immutable, "lease") {
		return nil, err
	}
	return &app.Error{Code: app.EInvalid, Reason: "immutable", Field: "lease", Message: fmt.Sprintf("Template %s does not let the lease be changed.", c.Template),
		Hint: "Leave it as it is, or ask an admin. The cluster can be deleted at any time."}, nil
}

func leaseMoved(who app.Actor, was, until time.Time, reason string, beyond bool) string {
	text := who.Name()
	switch {
	case until.IsZero():
		text += " took the end of the lease away."
	case !was.IsZero() && until.After(was):
		text += " extended the lease until " + app.Moment(until) + "."
	case was.IsZero():
		text += " gave the lease an end: " + app.Moment(until) + "."
	default:
		text += " shortened the lease until " + app.Moment(until) + "."
	}
	if beyond {
		text = strings.TrimSuffix(text, ".") + ", beyond what the template allows: " + reason
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
