package home

import (
	"context"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/app/webhook"
)

// needs are what wants someone's attention, of what the actor may see. What cannot be told is left out, and logged: the page leads on
// all the same.
func (p *Service) needs(ctx context.Context, a app.Actor) []Need {
	var all []Need
	note := func(n int, err error, one, many, path string) {
		if err != nil {
			p.Log.WarnContext(ctx, "what wants attention cannot be told", "path", path, "error", err)
		} else if n > 0 {
			all = append(all, Need{Count: n, One: one, Many: many, Path: path})
		}
	}
	note(p.Inbox(ctx, a), nil, "request waits for you", "requests wait for you", "/requests")
	note(p.Asking(ctx, a), nil, "step waits for you", "steps wait for you", "/questions")
	counts, err := p.Clusters.ClusterCounts(ctx, a, app.ClusterFilter{})
	note(counts.By[app.ClusterFailed], err, "cluster has failed", "clusters have failed", "/clusters?status=failed")
	if a.May("Orphans") {
		report, err := p.Machines.Orphans(ctx, a, false)
		undecided := 0
		for _, o := range report.Orphans {
			if o.Decision == "" {
				undecided++
			}
		}
		note(undecided, err, "orphan is undecided", "orphans are undecided", "/orphans")
		note(report.Unlisted, err, "account cannot be listed", "accounts cannot be listed", "/orphans")
	}
	if a.May("Provisioners") {
		list, err := p.Provisioners.Provisioners(ctx, a)
		lost := 0
		for _, v := range list {
			if v.State == app.ProvisionerLost {
				lost++
			}
		}
		note(lost, err, "provisioner is lost", "provisioners are lost", "/provisioners")
	}
	if a.May("Quotas") {
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
		note(near, err, "quota is nearly used up", "quotas are nearly used up", "/admin/quotas")
	}
	if a.May("SaveHook") {
		hooks, err := p.Hooks.Hooks(ctx, a)
		stopped := 0
		for _, h := range hooks {
			if h.State == webhook.HookStopped {
				stopped++
			}
		}
		note(stopped, err, "hook was stopped: what it was to be told does not arrive", "hooks were stopped: what they were to be told does not arrive", "/admin/hooks")
	}
	if a.May("ProviderHealth") {
		accounts, err := p.Installation.ProviderHealth(ctx, a)
		ill := 0
		for _, h := range accounts {
			if calls, failed := h.Calls(); h.Throttled > 0 || calls > 0 && failed == calls || h.Listed.Unlisted() {
				ill++
			}
		}
		note(ill, err, "provider account is not well", "provider accounts are not well", "/admin/provider-health")
	}
	return all
}

// nearLimit is the part of a limit from which it is nearly used up.
const nearLimit = 0.9
