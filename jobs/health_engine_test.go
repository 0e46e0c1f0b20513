package jobs_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/plan"
	"muster/app/store"
	"muster/app/template"
	"muster/jobs/upkeep"
)

// watched lets the service back be unhealthy while a file of its node is there, which a start takes away.
func watched(policy template.HealthPolicy) func(e *engine, c *template.Catalog) {
	return func(e *engine, c *template.Catalog) {
		back := c.Services["back"]
		back.Health = &template.HealthCheck{Command: `[ ! -e '` + e.effect + `.'"$MUSTER_NODE" ] || { echo the file of $MUSTER_NODE is there; exit 1; }`, Failures: 2,
			Timeout: template.MaxHealthTimeout}
		back.Actions[app.ActionStart].Fields["script"] = `rm -f '` + e.effect + `.'"$MUSTER_NODE"` + "\n" + back.Actions[app.ActionStart].Fields["script"]
		t := c.Templates["web"]
		t.Constraints = template.Constraints{Size: template.SizeRange{Min: 1, Max: 50}}
		t.Defaults.Services = []string{"back"}
		t.Health = &policy
	}
}

// makeUnhealthy puts the file there.
func (e *engine) makeUnhealthy(node string) {
	e.Helper()
	if err := os.WriteFile(e.effect+"."+node, nil, 0o600); err != nil {
		e.Fatal(err)
	}
}

// soon has repairs due that are to be looked at again within half a minute, for which no test waits.
type soon struct{ *store.Store }

func (s soon) RepairsDue(ctx context.Context, now time.Time, most int) ([]execution.RepairDue, error) {
	return s.Store.RepairsDue(ctx, now.Add(31*time.Second), most)
}

// keepHealth runs what a server runs to monitor clusters.
func (e *engine) keepHealth() {
	services := appall.New(e.config)
	services.Execution.Health.Store = soon{e.store}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() {
		(&upkeep.HealthClock{Ring: e.app.Execution.Coordinator.SignalCheckBatches, Feed: e.store, Log: quiet(e.T), Now: time.Now}).Run(ctx)
		done <- struct{}{}
	}()
	go func() {
		(&upkeep.AutoRepairer{Repair: services.Execution.Health.RepairUnhealthy, Every: 50 * time.Millisecond, Log: quiet(e.T)}).Run(ctx)
		done <- struct{}{}
	}()
	e.Cleanup(func() { cancel(); <-done; <-done })
}

// awaitHealth waits until a cluster's health is as it should be.
func (e *engine) awaitHealth(id string, what string, is func(h *health.ClusterHealth) bool) *health.ClusterHealth {
	e.Helper()
	deadline := time.Now().Add(hangs)
	for {
		h, err := e.store.ClusterHealth(e.ctx, app.DefaultTenant, id)
		if err != nil {
			e.Fatal(err)
		}
		if h != nil && is(h) {
			return h
		}
		if time.Now().After(deadline) {
			e.Fatalf("the cluster does not become %s: %+v", what, h)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// titles are those of the notices about health, oldest first.
func (e *engine) titles() []string {
	e.Helper()
	all, err := e.store.Notices(e.ctx, app.DefaultTenant, 0, 100)
	if err != nil {
		e.Fatal(err)
	}
	var out []string
	for _, n := range all {
		if n.Kind == app.NoticeHealth {
			out = append(out, n.Title)
		}
	}
	return out
}

func TestUnhealthyNodesAreDetectedAndRecover(t *testing.T) {
	t.Parallel()
	e := newEngine(t, watched(template.HealthPolicy{Interval: 300 * time.Millisecond}))
	e.keepHealth()
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	for _, s := range steps {
		if s.Action == app.ActionCheck {
			checks++
		}
	}
	if checks != 3 {
		t.Errorf("creation has %d checks, want one for each node", checks)
	}
	h := e.awaitHealth(v.ID, "healthy", func(h *health.ClusterHealth) bool { return h.State == health.Healthy })
	if h.Healthy != 3 || len(h.Nodes) != 0 || h.CheckedAt.IsZero() || h.Reason != "" {
		t.Errorf("healthy: %+v", h)
	}
	e.makeUnhealthy("n2")
	h = e.awaitHealth(v.ID, "unhealthy", func(h *health.ClusterHealth) bool { return h.State == health.Unhealthy })
	if h.Unhealthy != 1 || h.Healthy != 2 || h.Of("n2").State != health.Unhealthy || h.Of("n1").State != health.Healthy ||
		!strings.HasPrefix(h.Reason, "n2 is unhealthy: back: command [ ! -e ") || !strings.HasSuffix(h.Reason, "failed with exit code 1: the file of n2 is there.") {
		t.Errorf("unhealthy: %+v", h)
	}
	e.drifts(v.ID)
	if err := os.Remove(e.effect + ".n2"); err != nil {
		t.Fatal(err)
	}
	e.awaitHealth(v.ID, "well again", func(h *health.ClusterHealth) bool { return h.State == health.Healthy && len(h.Nodes) == 0 })
	if got := strings.Join(e.titles(), "\n"); got != "Cluster web is unhealthy.\nCluster web is healthy again." {
		t.Errorf("notices:\n%s", got)
	}
	events, err := e.app.Cluster.Activity.Events(t.Context(), e.admin, v.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, ev := range events {
		if ev.Kind == app.EventHealth {
			seen = append(seen, ev.Node+" "+ev.Status)
		}
	}
	if got := strings.Join(seen, ", "); got != "n2 unhealthy,  unhealthy, n2 healthy,  healthy" {
		t.Errorf("events: %s", got)
	}
	if v, err = e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil || len(v.Operations) != 1 {
		t.Errorf("something was done although the template does not say so: %+v (%v)", v.Operations, err)
	}
}

// drifts checks what is notified of a cluster whose n2 is unhealthy, also after the catalog has changed.
func (e *engine) drifts(id string) {
	e.Helper()
	tell := func(a *appall.Services) string {
		d, err := a.Operation.Drifts.Drift(e.ctx, e.admin, id)
		if err != nil {
			e.Fatal(err)
		}
		var all []string
		for _, i := range d.Items {
			repair := ""
			if i.Fix != nil {
				repair = string(i.Fix.Kind) + " " + strings.Join(i.Fix.Nodes, ",")
			}
			all = append(all, string(i.From)+" "+i.Node+" "+repair)
		}
		return strings.Join(append(all, d.Notes...), "; ")
	}
	if got := tell(e.app); got != "health n2 repair n2" {
		e.Errorf("drift: %s", got)
	}
	replaced := func(a *appall.Services) (names []string) {
		p, err := a.Operation.Updates.PreviewUpdate(e.ctx, e.admin, id, cluster.Update{Kind: app.OperationRepair})
		if err != nil {
			e.Fatal(err)
		}
		for _, n := range p.Nodes {
			if n.Change == plan.NodeReplaced {
				names = append(names, n.Name)
			}
		}
		return names
	}
	if got := replaced(e.app); !slices.Equal(got, []string{"n2"}) {
		e.Errorf("a repair replaces %v", got)
	}
	// What was found too long ago says nothing of now.
	config := e.config
	config.Now = func() time.Time { return time.Now().Add(3 * time.Hour) }
	if got := tell(appall.New(config)); got != "Last health check 3 h ago; expected every 300 ms." {
		e.Errorf("drift long after the last check: %s", got)
	}
	if got := replaced(appall.New(config)); len(got) > 0 {
		e.Errorf("a repair replaces %v, which were unhealthy long ago", got)
	}
	config, newer := e.config, e.catalog()
	watched(template.HealthPolicy{Interval: 300 * time.Millisecond})(e, newer)
	newer.Services["back"].Actions[app.ActionStart] = script("true")
	config.Catalog = func() *template.Catalog { return newer }
	if got := tell(appall.New(config)); got != "health n2 repair n2; catalog  upgrade " {
		e.Errorf("drift from another catalog: %s", got)
	}
}

func TestUnhealthyNodesAreRepairedAutomatically(t *testing.T) {
	t.Parallel()
	e := newEngine(t, watched(template.HealthPolicy{Interval: 300 * time.Millisecond, Repair: template.RepairAuto, After: 2}))
	e.keepHealth()
	v := e.await(e.create(4).ID)
	e.want(v, app.ClusterActive)
	machine := func(v cluster.View, i int) string { return v.Nodes[i].MachineID }
	e.awaitHealth(v.ID, "healthy", func(h *health.ClusterHealth) bool { return h.State == health.Healthy })
	e.makeUnhealthy("n3")
	// On a busy host it may be repaired before this looks again.
	e.awaitHealth(v.ID, "unhealthy", func(h *health.ClusterHealth) bool { return h.State == health.Unhealthy || len(e.titles()) > 0 })
	e.awaitHealth(v.ID, "well again", func(h *health.ClusterHealth) bool { return h.State == health.Healthy && h.Note == "" })
	after := e.await(v.ID)
	e.want(after, app.ClusterActive)
	if len(after.Operations) != 2 || after.Operations[0].Kind != app.OperationRepair || after.Operations[0].Requester != app.HealthUser {
		t.Fatalf("operations: %+v", after.Operations)
	}
	for i := range after.Nodes {
		if same := machine(v, i) == machine(after, i); same == (i == 2) {
			t.Errorf("%s has machine %s, and had %s", after.Nodes[i].Name, machine(after, i), machine(v, i))
		}
	}
	if e.machines() != 4 {
		t.Errorf("%d machines, want 4", e.machines())
	}

	// More than 30% of 4 nodes at once are too many.
	e.makeUnhealthy("n1")
	e.makeUnhealthy("n4")
	h := e.awaitHealth(v.ID, "braked", func(h *health.ClusterHealth) bool { return strings.Contains(h.Note, "Automatic repair is paused") })
	if h.Unhealthy != 2 {
		t.Errorf("braked: %+v", h)
	}
	if last, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil || len(last.Operations) != 2 {
		t.Errorf("it was repaired in spite of the brake: %+v (%v)", last.Operations, err)
	}
	if got := e.titles(); got[len(got)-1] != "Automatic repair of cluster web is paused." {
		t.Errorf("notices: %q", got)
	}
}

func (f *flaky) AwaitCheckBatch(ctx context.Context, w app.WorkerID) (*execution.CheckBatch, error) {
	return f.Coordinator.(execution.CheckBatchSource).AwaitCheckBatch(ctx, w)
}

func (f *flaky) ReportCheckBatch(ctx context.Context, w app.WorkerID, r execution.CheckBatchReport) error {
	return f.Coordinator.(execution.CheckBatchSource).ReportCheckBatch(ctx, w, r)
}

// A check that a user asks for starts at once, however long it is until the next one is due. Where none can start, it says why.
func TestHealthCheckOnRequest(t *testing.T) {
	t.Parallel()
	e := newEngine(t, watched(template.HealthPolicy{Interval: template.MaxHealthInterval}))
	e.keepHealth()
	refused := func(id, why string) {
		t.Helper()
		if _, err := e.app.Execution.Health.CheckHealth(t.Context(), e.admin, id); app.CodeOf(err) != app.EConflict || !strings.Contains(app.AsError(err).Message, why) {
			t.Errorf("a check is %v, want a conflict that says %q", err, why)
		}
	}
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	before, err := e.app.Execution.Health.CheckHealth(t.Context(), e.admin, v.ID)
	if err != nil || before.State != health.Unknown || !before.CheckedAt.IsZero() {
		t.Fatalf("before the check: %+v, %v", before, err)
	}
	first := e.awaitHealth(v.ID, "healthy", func(h *health.ClusterHealth) bool { return h.State == health.Healthy })
	if _, err := e.app.Execution.Health.CheckHealth(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.awaitHealth(v.ID, "checked again", func(h *health.ClusterHealth) bool { return h.CheckedAt.After(first.CheckedAt) })
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	if v = e.await(v.ID); v.Status != app.ClusterAsleep {
		t.Fatalf("the cluster is %s", v.Status)
	}
	refused(v.ID, "asleep")
}
