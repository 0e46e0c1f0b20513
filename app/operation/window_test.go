package operation_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	appcluster "muster/app/cluster"
	"muster/app/policy"
	"muster/app/template"
	"muster/app/window"
)

// weekend opens at Saturday 02:00 in Berlin, four hours long. The clock of tests begins at Friday, 2 January 2026, noon UTC.
var weekend = window.Settings{Windows: []window.Window{{Start: "Sat 02:00", Length: "4h", Zone: "Europe/Berlin"}}}

var toWeekend = 13 * time.Hour

// windowed is a cluster whose template has changed, in a tenant with windows.
func windowed(t *testing.T, s window.Settings) *withWorker {
	t.Helper()
	f := newWithWorker(t)
	f.Shop(3, nil)
	f.windows(s)
	f.publish("new")
	return f
}

func (f *withWorker) windows(s window.Settings) {
	f.Helper()
	if _, err := f.Services.Window.SetMaintenanceWindows(f.Context(), f.Actor("root", app.RoleAdmin), s); err != nil {
		f.Fatal(err)
	}
}

// publish changes the script of service web.
func (f *withWorker) publish(text string) {
	web := *f.Catalog.Services["web"]
	web.Actions = map[app.Action]*template.ServiceAction{}
	for a, act := range f.Catalog.Services["web"].Actions {
		web.Actions[a] = act
	}
	web.Actions[app.ActionConfigure] = &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": text}}
	f.Catalog.Services["web"] = &web
}

// upgradeWaits asks for an upgrade that has to wait.
func (f *withWorker) upgradeWaits() appcluster.Request {
	f.Helper()
	p := f.Preview(appcluster.Update{Kind: app.OperationUpgrade})
	a, err := f.Services.Operation.Updates.Update(f.Context(), f.Who, "shop", appcluster.Update{Kind: app.OperationUpgrade, PlanHash: p.PlanHash})
	if err != nil || a.Operation != 0 || a.Request == nil || a.Request.Status != appcluster.RequestScheduled {
		f.Fatalf("it is %+v, %v", a, err)
	}
	if p.Window == nil || !p.Window.Waits || !slices.Contains(p.Notes, p.Window.Text) {
		f.Fatalf("the preview says %+v: %q", p.Window, p.Notes)
	}
	return *a.Request
}

func (f *withWorker) look(servers ...*all.Services) {
	f.Helper()
	if len(servers) == 0 {
		servers = []*all.Services{f.Services}
	}
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() {
			if err := s.Operation.Requests.ReconcileRequests(f.Context()); err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
}

func (f *withWorker) request(id int64) appcluster.Request {
	f.Helper()
	r, err := f.Services.Operation.Requests.Request(f.Context(), f.Who, id)
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// upgrades are how many were begun.
func (f *withWorker) upgrades() int {
	return f.Number(`SELECT count(*) FROM operations WHERE kind = 'upgrade'`)
}

func TestUpgradeStartsOnceWhenItsWindowOpens(t *testing.T) {
	f := windowed(t, weekend)
	r := f.upgradeWaits()
	if text := r.Window.Text(); text != "Sat 3 Jan 2026, 02:00 to 06:00 (Europe/Berlin)" {
		t.Errorf("it waits for %s", text)
	}
	if m := f.See("shop").Maintenance; m == nil || m.Open || len(m.Waiting) != 1 || m.Waiting[0].Request != r.ID || m.Source != window.FromTenant {
		t.Errorf("the cluster shows %+v", m)
	}
	// The same again would never run.
	_, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", appcluster.Update{Kind: app.OperationUpgrade})
	wantReason(t, err, "already_scheduled")
	f.Clock.Move(toWeekend - time.Second)
	if due, err := f.Store.RequestsDue(t.Context(), f.Clock.Now(), 10); err != nil || len(due) != 0 {
		t.Fatalf("%d due too early, %v", len(due), err)
	}
	f.look()
	if f.upgrades() != 0 {
		t.Fatal("it started too early")
	}
	f.Clock.Move(time.Second)
	f.look(f.Services, f.Server(), f.Server())
	f.look(f.Server())
	if f.upgrades() != 1 || f.request(r.ID).Status != appcluster.RequestAccepted {
		t.Fatalf("%d were begun; the request is %+v", f.upgrades(), f.request(r.ID))
	}
	f.Work()
	if v := f.See("shop"); v.Status != app.ClusterActive || v.Operations[0].Status != app.OperationSucceeded || v.Operations[0].PlanHash != r.Terms.PlanHash {
		t.Errorf("the cluster is %s by %+v", v.Status, v.Operations[0])
	}
	titles := strings.Join(f.Titles(), "; ")
	for _, want := range []string{"Waiting for the maintenance window for shop", "Started for shop"} {
		if strings.Count(titles, want) != 1 {
			t.Errorf("%q is not once in: %s", want, titles)
		}
	}
}

func TestOpenWindowStartsAtOnce(t *testing.T) {
	f := windowed(t, weekend)
	f.Clock.Move(toWeekend + time.Hour)
	p, a := f.Update(appcluster.Update{Kind: app.OperationUpgrade})
	if a.Operation == 0 || p.Window == nil || p.Window.Waits {
		t.Fatalf("it is %+v with %+v", a, p.Window)
	}
}

// A window that no server was there for isn't made up for by day: it starts in the next one.
func TestMissedWindow(t *testing.T) {
	f := windowed(t, weekend)
	r := f.upgradeWaits()
	f.Clock.Move(toWeekend + 4*time.Hour)
	f.look(f.Services, f.Server())
	r = f.request(r.ID)
	if r.Status != appcluster.RequestScheduled || r.Window.Text() != "Sat 10 Jan 2026, 02:00 to 06:00 (Europe/Berlin)" ||
		r.Message != "Its maintenance window was missed." {
		t.Fatalf("it is %+v for %v", r, r.Window)
	}
	if due, err := f.Store.RequestsDue(t.Context(), f.Clock.Now(), 10); err != nil || len(due) != 0 {
		t.Fatalf("%d are still due, %v", len(due), err)
	}
	f.Clock.Move(7*24*time.Hour - 4*time.Hour)
	f.look()
	if f.upgrades() != 1 {
		t.Error("it has not started in the next one")
	}
}

// On 29 March 2026, the clock in Berlin jumps from 02:00 to 03:00: a window at 02:30 opens at 03:30, which is 01:30 UTC.
func TestWindowInTheHourThatIsLeftOut(t *testing.T) {
	f := windowed(t, window.Settings{Windows: []window.Window{{Start: "Sun 02:30", Length: "1h", Zone: "Europe/Berlin"}}})
	f.Clock.Move(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC).Sub(f.Clock.Now()))
	r := f.upgradeWaits()
	opens := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	if !r.Window.Start.Equal(opens) || r.Window.End.Sub(opens) != time.Hour {
		t.Fatalf("it waits for %s", r.Window.Text())
	}
	f.Clock.Move(opens.Sub(f.Clock.Now()) - time.Minute)
	f.look()
	if f.upgrades() != 0 {
		t.Fatal("it started too early")
	}
	f.Clock.Move(time.Minute)
	f.look(f.Services, f.Server())
	if f.upgrades() != 1 {
		t.Error("it has not started")
	}
}

func TestRunNowNeedsRightAndReason(t *testing.T) {
	f := windowed(t, weekend)
	r := f.upgradeWaits()
	requests := f.Services.Operation.Requests
	_, err := requests.RunNow(t.Context(), f.Who, r.ID, r.Terms.PlanHash, "can't wait")
	wantReason(t, err, "not_runner")
	boss := f.Actor("root", app.RoleAdmin)
	if _, err := requests.RunNow(t.Context(), boss, r.ID, r.Terms.PlanHash, " "); app.AsError(err).Field != "reason" {
		t.Errorf("without a reason: %v", err)
	}
	_, err = requests.RunNow(t.Context(), boss, r.ID, strings.Repeat("0", 64), "can't wait")
	wantReason(t, err, "plan_changed")
	_, err = f.Approve(boss, r)
	wantReason(t, err, "scheduled")
	if f.upgrades() != 0 {
		t.Fatal("it started")
	}
	r, err = requests.RunNow(t.Context(), boss, r.ID, r.Terms.PlanHash, "can't wait")
	if err != nil || r.Status != appcluster.RequestAccepted || f.upgrades() != 1 || r.Message != "root started it before its maintenance window: can't wait" {
		t.Fatalf("it is %+v, %v", r, err)
	}
	if f.Number(`SELECT count(*) FROM audit WHERE act = 'request.run_now'`) != 1 {
		t.Error("nothing in the audit log")
	}
	_, err = requests.RunNow(t.Context(), boss, r.ID, r.Terms.PlanHash, "can't wait")
	wantReason(t, err, "request_ended")
}

// Who may set the windows of a cluster that has its own may run now; where the tenant's are locked, no one has their own.
func TestWindowsOfAClusterItself(t *testing.T) {
	f := windowed(t, weekend)
	r := f.upgradeWaits()
	monthly := window.Settings{Windows: []window.Window{{Start: "0 4 1 * *", Length: "2h"}}}
	eve := f.Actor("bob", app.RoleUser)
	if _, err := f.Services.Window.SetClusterMaintenance(t.Context(), eve, "shop", &monthly); err == nil {
		t.Error("someone else sets them")
	}
	v, err := f.Services.Window.SetClusterMaintenance(t.Context(), f.Who, "shop", &monthly)
	if err != nil || v.Source != window.FromCluster {
		t.Fatalf("%+v, %v", v, err)
	}
	// What waits follows.
	f.look()
	if r = f.request(r.ID); r.Window.Text() != "Sun 1 Feb 2026, 04:00 to 06:00 (UTC)" {
		t.Errorf("it waits for %s", r.Window.Text())
	}
	if c := f.See("shop"); !c.Maintenance.MayRunNow(f.Who, c.Cluster) {
		t.Error("the owner may not run now")
	}
	locked := weekend
	locked.Locked = true
	f.windows(locked)
	f.look()
	if r = f.request(r.ID); r.Window.Text() != "Sat 3 Jan 2026, 02:00 to 06:00 (Europe/Berlin)" {
		t.Errorf("it waits for %s", r.Window.Text())
	}
	if c := f.See("shop"); c.Maintenance.MayRunNow(f.Who, c.Cluster) {
		t.Error("the owner may run now though the tenant's windows are locked")
	}
	_, err = f.Services.Operation.Requests.RunNow(t.Context(), f.Who, r.ID, r.Terms.PlanHash, "can't wait")
	wantReason(t, err, "not_runner")
	_, err = f.Services.Window.SetClusterMaintenance(t.Context(), f.Who, "shop", &monthly)
	wantReason(t, err, "windows_locked")
	// Without windows nothing waits.
	f.windows(window.Settings{})
	if _, err = f.Services.Window.SetClusterMaintenance(t.Context(), f.Who, "shop", nil); err != nil {
		t.Fatal(err)
	}
	f.look()
	if f.upgrades() != 1 {
		t.Error("it still waits")
	}
}

func TestApprovedChangeWaitsForItsWindow(t *testing.T) {
	f := windowed(t, weekend)
	f.Rules(policy.Policy{Name: "grow", Enabled: true, When: `kind == "resize"`, Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1, Group: "ops"}})
	p, err := f.Services.Operation.Updates.PreviewUpdate(t.Context(), f.Who, "shop", appcluster.Update{Kind: app.OperationResize, Size: 4})
	if err != nil || p.Window == nil || !strings.HasPrefix(p.Window.Text, "Once approved, this change waits") {
		t.Errorf("a growth: %+v, %v", p.Window, err)
	}
	a, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", appcluster.Update{Kind: app.OperationResize, Size: 4})
	if err != nil || a.Request.Status != appcluster.RequestWaiting {
		t.Fatalf("%+v, %v", a.Request, err)
	}
	r, err := f.Approve(f.Actor("cy", app.RoleUser, "ops"), *a.Request)
	if err != nil || r.Status != appcluster.RequestScheduled || !r.ExpiresAt.IsZero() {
		t.Fatalf("approved it is %+v, %v", r, err)
	}
	f.Clock.Move(toWeekend)
	f.look(f.Services, f.Server())
	if r = f.request(r.ID); r.Status != appcluster.RequestAccepted {
		t.Fatalf("it is %+v", r)
	}
	f.Work()
	if v := f.See("shop"); v.Size != 4 || v.Status != app.ClusterActive {
		t.Errorf("the cluster is %s with %d nodes", v.Status, v.Size)
	}
}

func TestWithdrawnRequestDoesNotStart(t *testing.T) {
	f := windowed(t, weekend)
	r := f.upgradeWaits()
	if _, err := f.Services.Operation.Requests.Withdraw(t.Context(), f.Who, r.ID, ""); err != nil {
		t.Fatal(err)
	}
	again := f.upgradeWaits() // which is free again
	f.Clock.Move(toWeekend)
	f.look()
	if f.upgrades() != 1 || f.request(r.ID).Status != appcluster.RequestWithdrawn || f.request(again.ID).Status != appcluster.RequestAccepted {
		t.Errorf("%d upgrades", f.upgrades())
	}
}

// A cluster that was changed meanwhile isn't upgraded by a plan for another one, and that is said as soon as it is known. What leaves the
// cluster as it was doesn't count.
func TestClusterChangesWhileAnUpgradeWaits(t *testing.T) {
	f := windowed(t, weekend)
	r := f.upgradeWaits()
	f.Carried(appcluster.Update{Kind: app.OperationRestart})
	f.look()
	if got := f.request(r.ID); got.Status != appcluster.RequestScheduled || !got.Window.Start.Equal(r.Window.Start) {
		t.Fatalf("after a restart it is %+v", got)
	}
	f.Carried(appcluster.Update{Kind: app.OperationResize, Size: 4})
	f.look()
	if got := f.request(r.ID); got.Status != appcluster.RequestExpired || !strings.Contains(got.Message, "has changed since") {
		t.Fatalf("after a growth it is %+v", got)
	}
	r = f.upgradeWaits()
	f.publish("newer")
	f.Clock.Move(toWeekend)
	f.look()
	if got := f.request(r.ID); got.Status != appcluster.RequestExpired || f.upgrades() != 0 {
		t.Fatalf("after another version it is %+v", got)
	}
}

// While another operation is running, it waits for its end within the window.
func TestWindowOpensWhileAnOperationRuns(t *testing.T) {
	f := windowed(t, weekend)
	r := f.upgradeWaits()
	f.Clock.Move(toWeekend)
	f.Update(appcluster.Update{Kind: app.OperationRestart})
	f.look()
	got := f.request(r.ID)
	if got.Status != appcluster.RequestScheduled || got.Window.RetryAt.IsZero() || !strings.HasPrefix(got.Message, "It couldn't start yet: ") {
		t.Fatalf("it is %+v, %+v", got, got.Window)
	}
	f.Work()
	f.look() // at once, not at the next try
	if f.upgrades() != 1 {
		t.Errorf("it is %+v", f.request(r.ID))
	}
}

// A repair of a machine that is gone harms nothing, so it doesn't wait; one of a machine that is there does.
func TestRepairsWaitWhereTheyDisturb(t *testing.T) {
	f := windowed(t, weekend)
	a, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", appcluster.Update{Kind: app.OperationRepair, Nodes: []string{"n2"}})
	if err != nil || a.Request == nil || a.Request.Status != appcluster.RequestScheduled {
		t.Fatalf("a repair of what runs is %+v, %v", a, err)
	}
	// Muster's own, of a node that is well by the time it starts, ends.
	own, err := f.Services.Operation.Updates.Update(t.Context(), app.System(app.DefaultTenant, app.HealthUser), "shop",
		appcluster.Update{Kind: app.OperationRepair, Nodes: []string{"n3"}})
	if err != nil || own.Request == nil || own.Request.Status != appcluster.RequestScheduled {
		t.Fatalf("an automatic repair of what runs is %+v, %v", own, err)
	}
	f.SQL(`UPDATE nodes SET lost_at = 1 WHERE name = 'n2'`)
	lost, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", appcluster.Update{Kind: app.OperationRepair, Nodes: []string{"n2"}})
	if err != nil || lost.Operation == 0 {
		t.Fatalf("a repair of what is gone is %+v, %v", lost, err)
	}
}

func TestWellNodesAreNotRepairedLater(t *testing.T) {
	f := windowed(t, weekend)
	a, err := f.Services.Operation.Updates.Update(t.Context(), app.System(app.DefaultTenant, app.HealthUser), "shop",
		appcluster.Update{Kind: app.OperationRepair, Nodes: []string{"n3"}})
	if err != nil || a.Request == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	f.Clock.Move(toWeekend)
	f.look()
	r, err := f.Services.Operation.Requests.Request(t.Context(), f.Actor("root", app.RoleAdmin), a.Request.ID)
	if err != nil || r.Status != appcluster.RequestExpired || !strings.Contains(r.Message, "n3 became healthy again") {
		t.Errorf("it is %+v, %v", r, err)
	}
}
