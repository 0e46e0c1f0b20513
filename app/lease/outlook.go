package lease

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// LeaseOutlook tells when a cluster's lease ends, who was warned, how it can be moved, and what would keep the end from coming.
type Outlook struct {
	Cluster   string     `json:"cluster"`
	Name      string     `json:"name"`
	Owner     string     `json:"owner"`
	Access    app.Access `json:"-"` // of the one who asked
	Lock      *app.Lock  `json:"-"`
	Until     time.Time  `json:"until,omitzero"` // zero: never
	Expired   bool       `json:"expired"`        // it has ended, and the cluster is still there
	CreatedAt time.Time  `json:"created_at"`
	// Deleting says that the cluster is being deleted, for whatever reason; Deleted that it was.
	Deleting  bool                `json:"deleting"`
	Deleted   bool                `json:"deleted"`
	Offer     template.LeaseOffer `json:"offer"`
	Warnings  []Warned            `json:"warnings"`
	Obstacles []Obstacle          `json:"obstacles"`
}

// Obstacle is something that would keep machines from being given back at the end of a lease, or make it take longer.
type Obstacle struct {
	Kind ObstacleKind `json:"kind"`
	Text string       `json:"text"`           // what it is, and what happens then, for people
	Stop bool         `json:"stops"`          // someone has to do something; else it only takes longer
	At   time.Time    `json:"since,omitzero"` // where that is known
}

// ObstacleKind says what it is, for programs.
type ObstacleKind string

// The kinds.
const (
	ObstacleOperation    ObstacleKind = "operation"     // one is running or paused
	ObstacleDeleteFailed ObstacleKind = "delete_failed" // it is tried again
	ObstacleAccount      ObstacleKind = "account"       // the provider cannot be reached
	ObstacleProvider     ObstacleKind = "provider"      // it is not in the catalog any more
	ObstacleProvisioner  ObstacleKind = "provisioner"   // none could carry it out
	ObstacleLeader       ObstacleKind = "leader"        // no server leads, so no one ends leases
	ObstacleClock        ObstacleKind = "clock"         // this server's differs from the database's
)

// worstSkew is how far the clocks of server and database may differ before it is worth a word.
const worstSkew = 5 * time.Second

// LeaseOutlook tells how a cluster's lease will end.
func (a *Service) LeaseOutlook(ctx context.Context, actor app.Actor, cluster string) (Outlook, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "LeaseOutlook", cluster)
	if err != nil {
		return Outlook{}, err
	}
	now := a.Now()
	o := Outlook{Cluster: c.ID, Name: c.Name, Owner: c.Owner, Access: c.Access, Lock: c.Lock, Until: c.ExpiresAt, CreatedAt: c.CreatedAt, Deleted: c.Status == app.ClusterDeleted,
		Warnings: []Warned{}, Obstacles: []Obstacle{}}
	if o.Deleted {
		o.Offer.Refusal = "The cluster was deleted."
		return o, nil
	}
	o.Expired = !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt)
	rules, err := a.leaseRules(ctx, c)
	if err != nil {
		return o, err
	}
	ops, err := a.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return o, err
	}
	for i, op := range ops {
		o.Deleting = o.Deleting || op.EndsCluster(i == 0)
	}
	o.Offer = rules.Offer(c.CreatedAt, c.ExpiresAt, now)
	if o.Deleting {
		o.Offer = template.LeaseOffer{Refusal: "The cluster is being deleted."}
	}
	if o.Warnings, err = a.warnings(ctx, c, now); err != nil {
		return o, err
	}
	if c.ExpiresAt.IsZero() && !o.Deleting {
		return o, nil
	}
	if err := a.addOperations(ctx, &o, c, ops, now); err != nil {
		return o, err
	}
	return o, a.addOutside(ctx, &o, c, now)
}

func (a *Service) warnings(ctx context.Context, c app.Cluster, now time.Time) ([]Warned, error) {
	list := []Warned{}
	if c.ExpiresAt.IsZero() {
		return list, nil
	}
	times, err := a.Store.LeaseTimes(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	sent, err := a.Store.LeaseWarnings(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	for _, before := range times.Warnings() {
		w := Warned{Before: before, At: times.Until.Add(-before), SentAt: sent[before]}
		w.Skipped = w.SentAt.IsZero() && now.Sub(w.At) > time.Minute
		list = append(list, w)
	}
	return list, nil
}

func (a *Service) addOperations(ctx context.Context, o *Outlook, c app.Cluster, ops []app.Operation, now time.Time) error {
	for i, op := range ops {
		kind := humanize.Upper(op.Kind.The())
		over, err := a.PausedDeletes.Overdue(ctx, c, op)
		if err != nil {
			return err
		}
		switch {
		case op.EndsCluster(i == 0) && op.Status == app.OperationFailed:
			o.add(ObstacleDeleteFailed, op.EndedAt, false, fmt.Sprintf("%s failed: %s Muster retries at least once an hour until it succeeds.",
				kind, humanize.Cause(op.Message)))
		case op.Kind == app.OperationDelete && op.Status == app.OperationPaused && over != nil:
			o.add(ObstacleOperation, time.Time{}, false, over.Text(op, now))
		case op.Kind == app.OperationDelete && op.Status == app.OperationPaused:
			o.add(ObstacleOperation, time.Time{}, false, fmt.Sprintf("Deletion is paused. Muster resumes it %s after the lease expires.", humanize.Duration(a.PausedDeletes.leaseGrace())))
		case op.EndsCluster(i == 0) && op.Status == app.OperationPaused:
			o.add(ObstacleOperation, time.Time{}, true, fmt.Sprintf("%s is paused. No machines are deleted until someone resumes it.", kind))
		case op.Kind == app.OperationDelete || op.Kind == app.OperationRollBack, op.Status.Ended():
		case op.Status == app.OperationPaused:
			o.add(ObstacleOperation, time.Time{}, false, fmt.Sprintf("%s is paused. When the lease expires, Muster cancels it and starts deleting the cluster.", kind))
		default:
			o.add(ObstacleOperation, op.StartedAt, false, fmt.Sprintf(
				"%s is %s. When the lease expires, Muster stops it and then deletes the cluster.", kind, op.Status))
		}
	}
	return nil
}

// addOutside adds what lies outside of the cluster.
func (a *Service) addOutside(ctx context.Context, o *Outlook, c app.Cluster, now time.Time) error {
	catalog, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return err
	}
	spec := catalog.Providers[c.Provider]
	if spec == nil {
		o.add(ObstacleProvider, time.Time{}, true, fmt.Sprintf("Provider %q is no longer in the catalog, so Muster has no credentials for it.", c.Provider))
	}
	if err := a.Preflight.CheckProvisioner(ctx, c.Tenant, spec); app.CodeOf(err) == app.EConflict {
		o.add(ObstacleProvisioner, time.Time{}, true, app.AsError(err).Advised())
	} else if err != nil {
		return err
	}
	accounts, err := a.Store.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, acc := range accounts {
		if acc.Provider == c.Provider && acc.Error != "" {
			o.add(ObstacleAccount, acc.EndedAt, false, fmt.Sprintf("The last check of account %s failed: %s Deletion is retried until the account responds.",
				acc.Provider, humanize.Cause(acc.Error)))
		}
	}
	until, clock, known, err := a.Store.Leader(ctx)
	if err != nil || !known {
		return err
	}
	if clock.After(until) {
		o.add(ObstacleLeader, until, true, "No server is the leader right now, and only the leader expires leases. Another server takes over within seconds if one is running.")
	}
	if skew := now.Sub(clock); skew > worstSkew || skew < -worstSkew {
		o.add(ObstacleClock, time.Time{}, false, fmt.Sprintf("The clocks of this server and the database differ by %s. Leases expire by the leader's clock.",
			humanize.Duration(max(skew, -skew))))
	}
	return nil
}

func (o *Outlook) add(kind ObstacleKind, since time.Time, stop bool, text string) {
	o.Obstacles = append(o.Obstacles, Obstacle{Kind: kind, Text: text, Stop: stop, At: since})
}
