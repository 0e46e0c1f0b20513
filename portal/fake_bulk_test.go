package portal

import (
	"context"
	"time"

	"muster/app"
	"muster/app/bulk"
	"muster/app/cluster"
	"muster/app/lease"
	"muster/app/template"
)

func (f *fake) bulk() *bulk.Service {
	return bulk.New(bulk.Config{Now: time.Now, Clusters: f, Leases: fakeBulkLeases{f}, Sleeping: f, Deletes: f, Requests: noRequests{}})
}

func (f *fake) PreviewBulk(ctx context.Context, a app.Actor, ask bulk.Ask) (bulk.Report, error) {
	return f.bulk().PreviewBulk(ctx, a, ask)
}

func (f *fake) RunBulk(ctx context.Context, a app.Actor, ask bulk.Ask) (bulk.Report, error) {
	return f.bulk().RunBulk(ctx, a, ask)
}

type noRequests struct{}

func (noRequests) Requests(context.Context, app.Actor, cluster.RequestFilter) ([]cluster.Request, error) {
	return nil, nil
}

// fakeBulkLeases moves the ends of the fake's clusters.
type fakeBulkLeases struct{ f *fake }

func (l fakeBulkLeases) PreviewExtend(_ context.Context, _ app.Actor, id string, r template.LeaseRequest) (time.Time, error) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	until, _, err := template.Lease{}.Move(time.Now(), l.f.find(id).ExpiresAt, time.Now(), r)
	return until, err
}

func (l fakeBulkLeases) ExtendLease(ctx context.Context, a app.Actor, id string, r template.LeaseRequest) (lease.Outlook, error) {
	until, err := l.PreviewExtend(ctx, a, id, r)
	if err != nil {
		return lease.Outlook{}, err
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.f.find(id).ExpiresAt = until
	return lease.Outlook{Until: until}, nil
}
