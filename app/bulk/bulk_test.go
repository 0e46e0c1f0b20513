package bulk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/lease"
	"muster/app/policy"
	"muster/app/template"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// world is clusters, and what is asked of the use cases for one.
type world struct {
	list     []app.ClusterSummary
	requests []cluster.Request
	fails    map[string]error
	approve  bool
	calls    []string
}

func (w *world) ClusterPage(_ context.Context, _ app.Actor, f app.ClusterFilter) (p cluster.Page, err error) {
	for _, c := range w.list {
		if slices.Contains(f.IDs, c.ID) || f.Name != "" && f.Name == c.Name && c.Status != app.ClusterDeleted {
			p.Clusters = append(p.Clusters, c)
		}
	}
	return p, nil
}

func (w *world) PreviewExtend(_ context.Context, _ app.Actor, id string, r template.LeaseRequest) (time.Time, error) {
	if err := w.fails[id]; err != nil {
		return time.Time{}, err
	}
	until, _, err := template.Lease{}.Move(now, w.find(id).ExpiresAt, now, r)
	return until, err
}

func (w *world) ExtendLease(ctx context.Context, a app.Actor, id string, r template.LeaseRequest) (lease.Outlook, error) {
	w.calls = append(w.calls, "extend "+id)
	until, err := w.PreviewExtend(ctx, a, id, r)
	if err == nil {
		w.find(id).ExpiresAt = until
	}
	return lease.Outlook{Until: until}, err
}

func (w *world) PreviewSleep(_ context.Context, _ app.Actor, id string) (cluster.UpdatePreview, error) {
	p := cluster.UpdatePreview{PlanHash: "hash of " + id, Before: cluster.Figures{CostPerHour: 2}, After: cluster.Figures{CostPerHour: .5}}
	if w.approve {
		p.Decision = &policy.Decision{Outcome: policy.OutcomeApprove}
	}
	return p, w.fails[id]
}

func (w *world) PreviewWake(ctx context.Context, a app.Actor, id string) (cluster.UpdatePreview, error) {
	return w.PreviewSleep(ctx, a, id)
}

func (w *world) SleepCluster(_ context.Context, _ app.Actor, id, hash string) (cluster.UpdateAnswer, error) {
	w.calls = append(w.calls, strings.TrimSpace("sleep "+id+" "+hash))
	if w.approve {
		q := cluster.Request{ID: int64(len(w.requests)) + 1, Kind: app.OperationSleep, Cluster: id,
			Status: cluster.RequestWaiting, Terms: cluster.Terms{PlanHash: "hash of " + id}}
		w.requests = append(w.requests, q)
		return cluster.UpdateAnswer{Request: &q}, nil
	}
	return cluster.UpdateAnswer{Operation: 7}, w.fails[id]
}

func (w *world) WakeCluster(ctx context.Context, a app.Actor, id, hash string) (cluster.UpdateAnswer, error) {
	return w.SleepCluster(ctx, a, id, hash)
}

func (w *world) DeleteCluster(_ context.Context, _ app.Actor, id string) (cluster.View, error) {
	w.calls = append(w.calls, "delete "+id)
	return cluster.View{}, w.fails[id]
}

func (w *world) Requests(context.Context, app.Actor, cluster.RequestFilter) ([]cluster.Request, error) {
	return w.requests, nil
}

func (w *world) find(id string) *app.Cluster {
	i := slices.IndexFunc(w.list, func(c app.ClusterSummary) bool { return c.ID == id })
	return &w.list[i].Cluster
}

func (w *world) service() *Service {
	return New(Config{Now: func() time.Time { return now }, Clusters: w, Leases: w, Sleeping: w, Deletes: w, Requests: w})
}

func one(id string, access app.Access, status app.ClusterStatus) app.ClusterSummary {
	return app.ClusterSummary{Cluster: app.Cluster{ID: id, Name: id + "-name", Tenant: "t", Owner: "ada",
		Access: access, Status: status, Size: 2, CostPerHour: 3,
		ExpiresAt: now.Add(time.Hour)}}
}

func someWorld() *world {
	busy := one("busy", app.AccessOwner, app.ClusterPending)
	busy.Operation = &app.Operation{Kind: app.OperationDelete, Status: app.OperationRunning}
	return &world{fails: map[string]error{}, list: []app.ClusterSummary{one("a", app.AccessOwner, app.ClusterActive),
		one("b", app.AccessOwner, app.ClusterActive),
		one("his", app.AccessReader, app.ClusterActive), one("asleep", app.AccessOwner, app.ClusterAsleep), busy}}
}

var ada = app.Actor{Tenant: "t", User: "ada", Role: app.RoleUser}

func words(r Report) string {
	var all []string
	for _, x := range r.Results {
		all = append(all, x.Cluster+" "+string(x.Outcome))
	}
	return strings.Join(all, ", ")
}

// A failure of one cluster is its result, and the others are done.
func TestOneFailureStopsNothing(t *testing.T) {
	w := someWorld()
	w.fails["a"] = fmt.Errorf("store: disk full")
	ids := []string{"a", "b-name", "his", "none", "asleep", "busy", "b"}
	r, err := w.service().RunBulk(t.Context(), ada, Ask{Action: Delete, Targets: Targets(ids)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := words(r), "a refused, b done, his refused, none refused, asleep done, busy unchanged"; got != want {
		t.Errorf("the results are %s, not %s", got, want)
	}
	if x := r.Results[0]; x.Code != app.EInternal || strings.Contains(x.Message, "disk") || x.Err == nil {
		t.Errorf("an unexpected error is shown as %+v", x)
	}
	if x := r.Results[2]; x.Code != app.EForbidden || r.Results[3].Code != app.ENotFound || r.Failed() != 3 {
		t.Errorf("the refusals are %+v and %+v", x, r.Results[3])
	}
	if got := strings.Join(w.calls, ", "); got != "delete a, delete b, delete asleep" {
		t.Errorf("the calls were %s", got)
	}
}

// The confirmed form names each lease's new end, so posting it twice extends the lease once, and never shortens one.
func TestConfirmedExtensionIsRepeated(t *testing.T) {
	w := someWorld()
	s := w.service()
	p, err := s.PreviewBulk(t.Context(), ada, Ask{Action: Extend, Targets: Targets([]string{"a", "his", "busy"}), By: 8 * time.Hour})
	if err != nil || words(p) != "a ready, his refused, busy refused" {
		t.Fatal(words(p), err)
	}
	if x := p.Results[0]; !x.Until.Equal(now.Add(9*time.Hour)) || x.Cost != 24 {
		t.Errorf("the preview is %+v", x)
	}
	if len(w.calls) != 0 {
		t.Errorf("a preview did %v", w.calls)
	}
	ask := Ask{Action: Extend, Targets: []Target{{ID: "a", Until: p.Results[0].Until}}}
	for i, want := range []string{"a done", "a unchanged"} {
		r, err := s.RunBulk(t.Context(), ada, ask)
		if err != nil || words(r) != want || !w.find("a").ExpiresAt.Equal(now.Add(9*time.Hour)) {
			t.Errorf("time %d: %s, %v, until %s", i, words(r), err, w.find("a").ExpiresAt)
		}
	}
	w.find("a").ExpiresAt = now.Add(20 * time.Hour)
	if r, err := s.RunBulk(t.Context(), ada, ask); err != nil || words(r) != "a unchanged" || !w.find("a").ExpiresAt.Equal(now.Add(20*time.Hour)) {
		t.Errorf("a lease that was extended further: %s, %v", words(r), err)
	}
}

// What needs approval is requested once, however often the form is posted.
func TestConfirmedSleepIsRequestedOnce(t *testing.T) {
	w := someWorld()
	w.approve = true
	s := w.service()
	p, err := s.PreviewBulk(t.Context(), ada, Ask{Action: Sleep, Targets: Targets([]string{"a", "asleep"})})
	if err != nil || words(p) != "a approval, asleep unchanged" || p.Results[0].PerHour != -1.5 {
		t.Fatalf("%+v, %v", p, err)
	}
	for range 2 {
		r, err := s.RunBulk(t.Context(), ada, Ask{Action: Sleep, Targets: []Target{{ID: "a", PlanHash: p.Results[0].PlanHash}}})
		if err != nil || words(r) != "a requested" || r.Results[0].Request != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if got := strings.Join(w.calls, ", "); got != "sleep a hash of a" {
		t.Errorf("the calls were %s", got)
	}
	p, err = s.PreviewBulk(t.Context(), ada, Ask{Action: Sleep, Targets: Targets([]string{"a"})})
	if err != nil || words(p) != "a unchanged" || p.Results[0].Request != 1 {
		t.Errorf("asked again it is %+v, %v", p, err)
	}
}

func TestBulkRequestsHaveBounds(t *testing.T) {
	ids := make([]string, Most+1)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	for name, ask := range map[string]Ask{
		"no clusters":      {Action: Sleep},
		"too many":         {Action: Sleep, Targets: Targets(ids)},
		"unknown action":   {Action: "explode", Targets: Targets(ids[:1])},
		"no duration":      {Action: Extend, Targets: Targets(ids[:1])},
		"shorter":          {Action: Extend, Targets: Targets(ids[:1]), By: -time.Hour},
		"both":             {Action: Extend, Targets: Targets(ids[:1]), By: time.Hour, Until: now},
		"sleep with a by":  {Action: Sleep, Targets: Targets(ids[:1]), By: time.Hour},
		"an empty name":    {Action: Sleep, Targets: Targets([]string{""})},
		"an endless name":  {Action: Sleep, Targets: Targets([]string{strings.Repeat("x", 200)})},
		"one without time": {Action: Extend, Targets: []Target{{ID: "a", Until: now}, {ID: "b"}}},
	} {
		if _, err := someWorld().service().RunBulk(t.Context(), ada, ask); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	viewer := app.Actor{Tenant: "t", User: "vic", Role: app.RoleViewer}
	if _, err := someWorld().service().RunBulk(t.Context(), viewer, Ask{Action: Sleep, Targets: Targets(ids[:1])}); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a viewer: %v", err)
	}
}
