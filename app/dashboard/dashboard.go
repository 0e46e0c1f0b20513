package dashboard

import (
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
)

// Store is what the service needs of the database.
type Store interface {
	// Home returns a Home without nil in it, also for someone who has nothing.
	Home(ctx context.Context, q Query) (Data, error)
	NoticesFor(ctx context.Context, tenant string, r *app.NoticeReader, before int64, limit int) ([]app.Notice, error)
}

// Config is what a service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Catalogs *catalog.Service
	Masks    *cluster.Masks
}

// Service shows a person what is theirs, and what they were notified of.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// Bounds of what a home shows.
const (
	mostHomeClusters = 8
	mostHomeLeases   = 5
	mostHomeNotices  = 6
	homeLeases       = 3 * 24 * time.Hour // leases that end within it are shown
	amongNotices     = 1000               // of the tenant's newest notices those that are meant for someone are shown
)

// Data is what someone has, in short, for the page that they begin with.
type Data struct {
	// Standing says how many live clusters there are of each status, and CostPerHour what all of them cost.
	Standing    map[app.ClusterStatus]int `json:"standing"`
	CostPerHour float64                   `json:"cost_per_hour"`
	Currency    string                    `json:"currency"` // by ISO 4217
	// Clusters are the first of them: those that failed, those at which something is at work, and then the others; each newest first.
	Clusters []app.ClusterSummary `json:"clusters"`
	// Ending are those whose lease ends soon, the soonest first.
	Ending  []app.Cluster `json:"ending"`
	Notices []app.Notice  `json:"notices"` // the newest
}

// Live is how many live clusters there are.
func (h Data) Live() (n int) {
	for _, k := range h.Standing {
		n += k
	}
	return n
}

// Query asks a store for the clusters of an owner.
type Query struct {
	Tenant, Owner string
	Clusters      int       // at most so many
	EndsBy        time.Time // leases that end by then
	Leases        int       // at most so many
	Notices       int       // at most so many, among the newest of the tenant
	AmongNotices  int
	Reader        app.NoticeReader
}

// Home returns what the actor has in the tenant in which it acts.
func (a *Service) Home(ctx context.Context, actor app.Actor) (Data, error) {
	if err := actor.Authorize("Home"); err != nil {
		return Data{}, err
	}
	h, err := a.Store.Home(ctx, Query{
		Tenant: actor.Tenant, Owner: actor.Name(), Clusters: mostHomeClusters, EndsBy: a.Now().Add(homeLeases), Leases: mostHomeLeases,
		Notices: mostHomeNotices, AmongNotices: amongNotices, Reader: app.NoticeReader{User: actor.Name(), Groups: actor.Groups},
	})
	if err != nil {
		return h, err
	}
	if h.Currency, err = a.Catalogs.CurrencyOf(ctx, actor.Tenant); err != nil {
		return h, err
	}
	for i := range h.Clusters { // all are the actor's own
		h.Clusters[i].Access, h.Clusters[i].Currency = app.AccessOwner, h.Currency
	}
	for i := range h.Ending {
		c := &h.Ending[i]
		c.Access, c.Currency = app.AccessOwner, h.Currency
		if c.Message != "" {
			m, err := a.Masks.MaskFor(ctx, actor, *c)
			if err != nil {
				return h, err
			}
			c.Message = m.Hide(c.Message)
		}
	}
	if err := a.Masks.MaskNotices(ctx, actor, h.Notices); err != nil {
		return h, err
	}
	return h, a.Masks.MaskSummaries(ctx, actor, h.Clusters)
}

// Notices returns the actor's notices before a number, newest first: admins all of the tenant, others what names them or
// one of their groups.
func (a *Service) Notices(ctx context.Context, actor app.Actor, before int64, limit int) ([]app.Notice, error) {
	r, err := actor.Reach("Notices")
	if err != nil {
		return nil, err
	}
	var reader *app.NoticeReader
	if r != app.All {
		reader = &app.NoticeReader{User: actor.Name(), Groups: actor.Groups}
	}
	list, err := a.Store.NoticesFor(ctx, actor.Tenant, reader, before, min(max(limit, 1), 200))
	if err != nil {
		return nil, err
	}
	return list, a.Masks.MaskNotices(ctx, actor, list)
}
