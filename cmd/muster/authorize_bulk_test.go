package main

import (
	"context"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/all"
	"muster/app/bulk"
	"muster/app/template"
)

// What is done to several clusters, and what is seen of that, in the matrix. A refusal of the one cluster is the answer.
var bulkTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"PreviewBulk": func(ctx context.Context, a *all.Services, s *scene) error {
		r, err := a.Bulk.PreviewBulk(ctx, s.actor, bulk.Ask{Action: bulk.Sleep, Targets: bulk.Targets([]string{s.cluster()})})
		return bulkRefusal(r, err, app.EForbidden) // for readers the refusal is the answer
	},
	"RunBulk": func(ctx context.Context, a *all.Services, s *scene) error {
		r, err := a.Bulk.RunBulk(ctx, s.actor, bulk.Ask{Action: bulk.Sleep, Targets: bulk.Targets([]string{s.cluster()})})
		return bulkRefusal(r, err, "")
	},
	"Activity": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Feed.Activity(ctx, s.actor, activity.FeedFilter{Cluster: s.cluster()})
		return err
	},
	"PreviewExtend": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Lease.Leases.PreviewExtend(ctx, s.actor, s.cluster(), template.LeaseRequest{Until: time.Now().Add(time.Hour)})
		return err
	},
}

// bulkRefusal is why the only cluster is refused, unless with an expected code.
func bulkRefusal(r bulk.Report, err error, expected app.Code) error {
	if err != nil || len(r.Results) != 1 || r.Results[0].Err == nil {
		return err
	}
	if code := app.CodeOf(r.Results[0].Err); code == expected {
		return nil
	}
	return r.Results[0].Err
}
