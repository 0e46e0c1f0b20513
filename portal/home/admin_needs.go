package home

import (
	"context"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/app/webhook"
)

// needs are the things that need attention and that the actor can see. What can't be read is left out and logged, as the rest of the
// page works without it. The usage of quotas can take time to add up.
func (p *Service) needs(ctx context.Context, a app.Actor, quotas bool) []Need {
	var all []Need
	note := func(n int, err error, one, many, path string) {
		if err != nil {
			p.Log.WarnContext(ctx, "read what needs attention", "path", path, "error", err)
		} else if n > 0 {
			all = append(all, Need{Count: n, One: one, Many: many, Path: path})
		}
	}
	note(p.Inbox(ctx, a), nil, "request waiting for you", "requests waiting for you", "/requests")
	note(p.Asking(ctx, a), nil, "manual step waiting for you", "manual steps waiting for you", "/manual-steps")
	counts, err := p.Clusters.ClusterCounts(ctx, a, app.ClusterFilter{})
	note(counts.By[app.ClusterFailed], err, "failed cluster", "failed clusters", "/clusters?status=failed")
	if a.May("Orphans") {
		report, err := p.Machines.Orphans(ctx, a, false)
		undecided := 0
		for _, o := range report.Orphans {
			if o.Decision == "" {
				undecided++
			}
		}
		note(undecided, err, "orphaned machine to review", "orphaned machines to review", "/orphans")
		note(report.Unlisted, err, "provider account that can't be listed", "provider accounts that can't be listed", "/orphans")
	}
	if a.May("Provisioners") {
		list, err := p.Provisioners.Provisioners(ctx, a)
		lost := 0
		for _, v := range list {
			if v.State == app.ProvisionerLost {
				lost++
			}
		}
		note(lost, err, "lost provisioner", "lost provisioners", "/provisioners")
	}
	if quotas && a.May("Quotas") {
		quotas, err := p.Quotas.Quotas(ctx, a)
		near := 0
		for _, q := range quotas {
			for _, m := range apppolicy.Measures {
				if limit, is := q.Limits.Of(m); is && limit > 0 && q.Used.Of(m) >= nearLimit*limit {
					near++
					break
				}
			}
		}
		note(near, err, "quota nearly used up", "quotas nearly used up", "/admin/quotas")
	}
	if a.May("SaveHook") {
		hooks, err := p.Hooks.Hooks(ctx, a)
		stopped := 0
		for _, h := range hooks {
			if h.State == webhook.HookStopped {
				stopped++
			}
		}
		note(stopped, err, "stopped webhook", "stopped webhooks", "/admin/webhooks")
	}
	if a.May("ProviderHealth") {
		accounts, err := p.Installation.ProviderHealth(ctx, a)
		ill := 0
		for _, h := range accounts {
			if calls, failed := h.Calls(); h.Throttled > 0 || calls > 0 && failed == calls || h.LastListing.Unlisted() {
				ill++
			}
		}
		note(ill, err, "provider account with errors", "provider accounts with errors", "/admin/provider-health")
	}
	return all
}

// nearLimit is the share of a limit from which it counts as nearly used up.
const nearLimit = 0.9
