package build

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	appbuild "muster/app/build"
	"muster/app/store/storetest/kit"
	"muster/app/webhook"
)

const statusToken = "ghp_a-token-that-stays-secret"

// statuses claims the commit statuses that are to be written now, and takes them for written.
func (b *buildHookTest) statuses(want ...string) {
	b.Helper()
	due, _, err := b.Store.BuildCallbacks().ClaimDeliveries(b.Ctx, webhook.DeliveryClaim{Holder: "x", Now: b.Clock.Now(), For: 30 * time.Second, Most: 100, PerTenant: 100})
	b.Must(err)
	var got []string
	for _, d := range due {
		b.Must(d.Err)
		if d.Token != statusToken || d.API != "https://git.example.com/api" || d.URL != "" {
			b.Errorf("it is written at %q with %q", d.API, d.Token)
		}
		s := d.BuildNews.Status
		got = append(got, fmt.Sprintf("%s %s %s", s.Repository, s.State, s.Description))
		b.Must(b.answered(d, "", 0, ""))
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		b.Fatalf("written is %q, want %q", got, want)
	}
}

// buildStatuses: pending, then how it went, once each; nothing for what names no commit, and nothing once the token is gone.
func (t *storeTest) buildStatuses() {
	b := t.building(createRule(1, 1))
	token, api := statusToken, "https://git.example.com/api"
	h, _, err := b.Store.SaveBuildHook(b.Ctx, kit.Boss, appbuild.BuildHookChange{Name: "ci", StatusToken: &token, StatusAPI: &api}, b.Clock.Now())
	if b.Must(err); !h.Statuses || h.StatusAPI != api {
		b.Fatalf("the hook is %+v", h)
	}
	begin := func(build, repository, commit string) appbuild.IntakeResponse {
		r, err := b.send(0, app.BuildEvent{Action: "go", Phase: appbuild.PhaseRunning, Build: build, Repository: repository, Commit: commit})
		b.Must(err)
		return r
	}
	sha := strings.Repeat("ab", 20)
	one := begin("web/1", "octo/web", sha)
	b.statuses("octo/web pending Waiting for a cluster.")
	two := begin("web/2", "octo/two", sha)
	b.statuses("octo/two pending Waiting for a cluster.")
	begin("web/3", "octo/web", sha)
	b.statuses("octo/web failure The queue of rule web is full: 0 with clusters, 2 waiting.")
	b.settle()
	c := b.is(one.Build, app.BuildReady).Cluster
	v, err := b.Store.View(b.Ctx, kit.Tenant, c)
	b.Must(err)
	b.statuses("octo/web success Cluster " + v.Name + " is ready: 1 node.")
	if all := b.is(one.Build, app.BuildReady).Statuses; len(all) != 2 || all[0].State != app.BuildWaiting || all[1].State != app.BuildReady || all[1].Outcome != webhook.DeliveryMade {
		b.Errorf("people see %+v", all)
	}
	b.ends("web/2")
	b.ends("web/1")
	b.settle()
	b.is(two.Build, app.BuildOver)
	b.statuses("octo/two cancelled The build ended before its cluster was ready.")
	// The path of the API is the hook's, whatever an event calls its repository.
	for i, repository := range []string{"../../user", "octo/..", "octo/web?x=", "octo", "octo//web", "octo/web/../../x", ""} {
		begin(fmt.Sprint("evil/", i), repository, sha)
		b.ends(fmt.Sprint("evil/", i))
		b.settle()
	}
	begin("evil/commit", "octo/web", "main")
	b.ends("evil/commit")
	b.settle()
	b.statuses()
	begin("web/4", "octo/web", sha)
	none := ""
	h, _, err = b.Store.SaveBuildHook(b.Ctx, kit.Boss, appbuild.BuildHookChange{Name: "ci", StatusToken: &none}, b.Clock.Now())
	if b.Must(err); h.Statuses {
		b.Error("it still writes statuses")
	}
	b.statuses()
	audit, err := b.Store.Audit(b.Ctx, app.AuditFilter{Tenant: kit.Tenant, Limit: 100})
	if b.Must(err); strings.Contains(fmt.Sprintf("%+v", audit), statusToken) {
		b.Error("the audit has the token")
	}
}

// buildRunsAgain: a build whose number stays, as GitLab's pipelines have it, begins again with jobs that are newer than its end, also while its
// first cluster is still to be deleted; what only comes late begins nothing.
func (t *storeTest) buildRunsAgain() {
	b := t.building(createRule(3, 3))
	at := b.Clock.Now()
	order := func(e app.BuildEvent) appbuild.IngestResult {
		b.sent++
		o := appbuild.IngestOrder{Hook: b.hook, Who: kit.Boss, Uniq: fmt.Sprint("again ", b.sent), Now: b.Clock.Now(), Event: e,
			Delivery: appbuild.DeliveryRecord{Hook: "ci", At: b.Clock.Now()}}
		if e.Phase == appbuild.PhaseEnded {
			o.Ends = []appbuild.End{{Build: e.Build, Lasting: true, At: e.FinishedAt}}
		} else {
			r := createRule(3, 3)
			o.Begin = &appbuild.Start{Rule: r, Key: e.DefaultKey(), NewestJobAt: e.NewestJobAt, Ask: appbuild.Spec{Template: "web", Lease: r.LeaseTime(), WaitFor: r.WaitTime(), Concurrency: 3}}
		}
		done, err := b.Store.IngestBuild(b.Ctx, o)
		b.Must(err)
		return done
	}
	run := func(minutes int) appbuild.IngestResult {
		return order(app.BuildEvent{Action: "running", Phase: appbuild.PhaseRunning, Build: "web/31", NewestJobAt: at.Add(time.Duration(minutes) * time.Minute)})
	}
	end := func(minutes int) {
		order(app.BuildEvent{Action: "failed", Phase: appbuild.PhaseEnded, Build: "web/31", FinishedAt: at.Add(time.Duration(minutes) * time.Minute)})
	}
	first := run(0).Build
	b.settle()
	b.is(first.ID, app.BuildReady)
	end(3)
	if v, err := b.a.Build.Builds.Build(b.Ctx, kit.Boss, first.ID); err != nil || v.State != app.BuildEnding {
		b.Errorf("after its end the build answers %s, %v", v.State, err)
	}
	if late := run(0).Delivery; late.Outcome != appbuild.OutcomeIgnored && late.Outcome != appbuild.OutcomeDuplicate {
		b.Errorf("what came late is %+v", late)
	}
	second := run(10) // while the first cluster is still there
	if second.Delivery.Outcome != appbuild.OutcomeStarted || second.Build.ID == first.ID {
		b.Fatalf("the second run is %+v", second.Delivery)
	}
	if again := run(10); again.Delivery.Outcome != appbuild.OutcomeDuplicate || again.Build.ID != second.Build.ID {
		b.Errorf("sent twice it is %+v", again.Delivery)
	}
	b.settle()
	b.is(first.ID, app.BuildOver)
	b.is(second.Build.ID, app.BuildReady)
	end(12)
	b.settle()
	if v, err := b.a.Build.Builds.Build(b.Ctx, kit.Boss, second.Build.ID); err != nil || v.State != app.BuildOver {
		b.Errorf("with its cluster gone the build answers %s, %v", v.State, err)
	}
	b.is(second.Build.ID, app.BuildOver)
	if late := run(10).Delivery; late.Outcome == appbuild.OutcomeStarted {
		b.Errorf("what came late of the second run is %+v", late)
	}
	third := run(20)
	if third.Delivery.Outcome != appbuild.OutcomeStarted {
		b.Errorf("the third run is %+v", third.Delivery)
	}
	end(22)
	b.settle()
}

// buildNamesFree: a build whose rule names its cluster waits until the one of the same name is deleted, for as long as builds wait; a name that
// stays taken ends it at once.
func (t *storeTest) buildNamesFree() {
	b := t.building(createRule(3, 3))
	order := func(build string) appbuild.Build {
		b.sent++
		r := createRule(3, 3)
		done, err := b.Store.IngestBuild(b.Ctx, appbuild.IngestOrder{Hook: b.hook, Who: kit.Boss, Uniq: build, Now: b.Clock.Now(),
			Event: app.BuildEvent{Build: build, Phase: appbuild.PhaseRunning}, Delivery: appbuild.DeliveryRecord{Hook: "ci", At: b.Clock.Now()},
			Begin: &appbuild.Start{Rule: r, Key: build, Ask: appbuild.Spec{Template: "web", Cluster: "nightly", Lease: r.LeaseTime(), WaitFor: r.WaitTime(), Concurrency: 3}}})
		b.Must(err)
		return *done.Build
	}
	first := order("web/1")
	b.settle()
	b.is(first.ID, app.BuildReady)
	taken := order("web/2")
	b.tend()
	if v := b.is(taken.ID, app.BuildFailed); !strings.Contains(v.Message, "nightly") {
		b.Errorf("a name that stays taken: %s", v.Message)
	}
	b.ends("web/1")
	waits := order("web/3")
	b.tend() // the delete has begun, and no worker runs
	if v := b.is(waits.ID, app.BuildWaiting); v.Message != "Waiting for cluster nightly of an earlier build to be deleted." || !v.RetryAt.After(b.Clock.Now()) || v.RetryAt.After(v.WaitUntil) {
		b.Errorf("it is %+v", v)
	}
	b.settle()
	b.is(first.ID, app.BuildOver)
	b.Clock.Move(5 * time.Second)
	b.settle()
	b.is(waits.ID, app.BuildReady)
	b.ends("web/3")
	late := order("web/4")
	b.tend()
	b.Clock.Move(createRule(3, 3).WaitTime())
	b.tend()
	if v := b.is(late.ID, app.BuildFailed); !strings.Contains(v.Message, "nightly") {
		b.Errorf("a cluster that is never deleted: %s", v.Message)
	}
	b.settle()
}
