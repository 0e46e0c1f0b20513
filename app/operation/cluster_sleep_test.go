package operation_test

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/policy"
	"muster/app/schedule"
)

// drowsy is a harness with one existing cluster, and with what policies say about sleep.
func drowsy(t *testing.T, rules ...policy.Policy) (*withWorker, app.Actor) {
	f := newWithWorker(t)
	f.Shop(3, nil)
	f.Rules(rules...)
	return f, f.Actor("cy", app.RoleUser, "ops")
}

func (f *withWorker) status(want app.ClusterStatus) {
	f.Helper()
	if v, err := f.Services.Cluster.Views.Cluster(f.Context(), f.Who, "shop"); err != nil || v.Status != want {
		f.Fatalf("the cluster is %s, want %s; %v", v.Status, want, err)
	}
}

var noSleep = policy.Policy{Name: "awake", Enabled: true, When: `kind == "sleep" && hour < 18`, Effect: policy.EffectRefuse, Reason: "It is day."}

func TestPoliciesRefuseSleep(t *testing.T) {
	f, _ := drowsy(t, noSleep, policy.Policy{Name: "short", Enabled: true, When: "true", Effect: policy.EffectRewrite, LeaseCap: `duration("1h")`})
	p, err := f.Services.Operation.Sleeping.PreviewSleep(t.Context(), f.Who, "shop")
	if err != nil || p.Decision == nil || p.Decision.Outcome != policy.OutcomeRefuse || p.Decision.Reason != "It is day." {
		t.Fatalf("the preview says %+v, %v", p.Decision, err)
	}
	answer, err := f.Services.Operation.Sleeping.SleepCluster(t.Context(), f.Who, "shop", p.PlanHash)
	if app.CodeOf(err) != app.EForbidden || app.AsError(err).Reason != "policy" || answer.Request == nil || answer.Request.Status != appcluster.RequestRefused {
		t.Fatalf("it is %+v, %v", answer, err)
	}
	f.status(app.ClusterActive)
	if kept, err := f.Services.Operation.Requests.Request(t.Context(), f.Who, answer.Request.ID); err != nil || kept.Kind != app.OperationSleep || kept.Cluster == "" {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	// A lease that is capped is none of its business, and by night it may.
	f.Clock.Move(8 * time.Hour)
	p, err = f.Services.Operation.Sleeping.PreviewSleep(t.Context(), f.Who, "shop")
	if err != nil || p.Decision != nil {
		t.Fatalf("the preview says %+v, %v", p.Decision, err)
	}
	if answer, err = f.Services.Operation.Sleeping.SleepCluster(t.Context(), f.Who, "shop", p.PlanHash); err != nil || answer.Operation == 0 {
		t.Fatal(answer, err)
	}
	f.Work()
	f.status(app.ClusterAsleep)
}

func TestSleepAndWakeWaitForApprovals(t *testing.T) {
	f, boss := drowsy(t, policy.Policy{Name: "power", Enabled: true, When: `kind in ["sleep", "wake"]`, Effect: policy.EffectApprove, Reason: "Others use it.",
		Approval: &policy.Approval{Count: 1, Group: "ops"}})
	for _, c := range []struct {
		ask func(cluster string) (appcluster.UpdateAnswer, error)
		is  app.ClusterStatus
	}{
		{func(cluster string) (appcluster.UpdateAnswer, error) {
			return f.Services.Operation.Sleeping.SleepCluster(t.Context(), f.Who, cluster, "")
		}, app.ClusterAsleep},
		{func(cluster string) (appcluster.UpdateAnswer, error) {
			return f.Services.Operation.Sleeping.WakeCluster(t.Context(), f.Who, cluster, "")
		}, app.ClusterActive},
	} {
		answer, err := c.ask("shop")
		if err != nil || answer.Operation != 0 || answer.Request == nil || answer.Request.Status != appcluster.RequestWaiting {
			t.Fatalf("it is %+v, %v", answer, err)
		}
		if done := f.Work(); len(done) > 0 {
			t.Fatalf("%v was done before anybody said yes", done)
		}
		r, err := f.Approve(boss, *answer.Request)
		if err != nil || r.Status != appcluster.RequestAccepted {
			t.Fatalf("approved it is %+v, %v", r, err)
		}
		f.Work()
		f.status(c.is)
	}
}

// What was approved is what runs: a cluster that sleeps by then, or has changed, is left alone, and the request ends.
func TestApprovedSleepOfAClusterThatHasChanged(t *testing.T) {
	f, boss := drowsy(t, policy.Policy{Name: "power", Enabled: true, When: `kind == "sleep"`, Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1, Group: "ops"}})
	first, err := f.Services.Operation.Sleeping.SleepCluster(t.Context(), f.Who, "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := f.Services.Operation.Sleeping.SleepCluster(t.Context(), f.Who, "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Approve(boss, *first.Request); err != nil {
		t.Fatal(err)
	}
	f.Work()
	f.status(app.ClusterAsleep)
	if _, err := f.Approve(boss, *second.Request); app.AsError(err).Reason != "cluster_changed" {
		t.Errorf("the second is %v", err)
	}
	if r, err := f.Services.Operation.Requests.Request(t.Context(), f.Who, second.Request.ID); err != nil || r.Status != appcluster.RequestExpired {
		t.Errorf("the second is %+v, %v", r, err)
	}
}

// A schedule is asked about as of when it comes next, and each time that it comes.
func TestPoliciesAndSchedules(t *testing.T) {
	f, boss := drowsy(t, noSleep)
	if _, err := f.Services.Operation.Schedules.SetSchedule(t.Context(), f.Who, "shop", schedule.Schedule{Sleep: "0 17 * * *"}); app.AsError(err).Reason != "policy" {
		t.Fatalf("a schedule for the day is %v", err)
	}
	if s, err := f.Services.Operation.Schedules.Schedule(t.Context(), f.Who, "shop"); err != nil || !s.None() {
		t.Fatalf("there is a schedule: %+v, %v", s, err)
	}
	if _, err := f.Services.Operation.Schedules.SetSchedule(t.Context(), f.Who, "shop", schedule.Schedule{Sleep: "0 19 * * *"}); err != nil {
		t.Fatalf("a schedule for the night is %v", err)
	}
	// Others have made a rule since. What needs approval waits for it, and the cluster's owner is notified.
	f.Rules(policy.Policy{Name: "power", Enabled: true, When: `kind == "sleep" && via == "server"`, Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1, Group: "ops"}})
	next, err := f.Services.Operation.Schedules.Schedule(t.Context(), f.Who, "shop")
	if err != nil || len(next.Next) == 0 {
		t.Fatal(next, err)
	}
	f.Clock.Move(next.Next[0].At.Sub(f.Clock.Now()))
	if n, err := f.Services.Operation.Schedules.RunSchedules(t.Context()); err != nil || n != 0 {
		t.Fatalf("%d were begun, %v", n, err)
	}
	list, err := f.Store.NoticesFor(t.Context(), app.DefaultTenant, &app.NoticeReader{User: f.Who.User}, 0, 20)
	if err != nil {
		t.Fatal(err)
	}
	reported := ""
	for _, n := range list {
		reported += n.Title + " " + n.Text + "\n"
	}
	if !strings.Contains(reported, "The change requires approval: request ") {
		t.Errorf("the notices were %s", reported)
	}
	open, err := f.Store.OpenRequests(t.Context(), app.DefaultTenant, 10)
	if err != nil || len(open) != 1 || open[0].Requester != "schedule" {
		t.Fatalf("open are %+v, %v", open, err)
	}
	boss.ProvenAt = f.Clock.Now()
	if _, err := f.Approve(boss, open[0]); err != nil {
		t.Fatal(err)
	}
	f.Work()
	f.status(app.ClusterAsleep)
}
