package portal

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/template"
	"muster/portal/site"
)

// fakeOperations is a fake Muster with settings, provider health and queues.
type fakeOperations struct {
	site.Installation
	useQueues
	now func() time.Time
}

func newFakeOperations(f *fake) fakeOperations { return fakeOperations{f, f, f.now} }

func (o fakeOperations) Settings(_ context.Context, a app.Actor) (fleet.ServerInfo, error) {
	if !a.May("Settings") {
		return fleet.ServerInfo{}, app.Errorf(app.EForbidden, "Only superadmins see that.")
	}
	return fleet.ServerInfo{Server: "s1", Version: "1.2.3", Database: "SQLite 3.50", Migration: 41, Skew: -20 * time.Millisecond, Redis: "inside this process", Leader: true,
		Settings: []fleet.Setting{
			{Name: "--workers", Value: "3", From: "flag", Default: "16", Set: true, About: "steps at the same time"},
			{Name: "--listen", Value: "127.0.0.1:8420", From: "default", About: "address"},
			{Name: "MUSTER_SECRET_KEY", Secret: true, Set: true, From: "environment", About: "the key"},
		}}, nil
}

func (o fakeOperations) ProviderHealth(_ context.Context, a app.Actor) ([]fleet.ProviderHealth, error) {
	if !a.May("ProviderHealth") {
		return nil, app.Errorf(app.EForbidden, "Only superadmins see that.")
	}
	return []fleet.ProviderHealth{
		{Name: "ocean", Type: "digitalocean", Rate: template.Rate{PerSecond: 2, Burst: 5}, Known: true, Waiting: 7, AccountCalls: fleet.AccountCalls{
			LastAt: o.now().Add(-time.Minute), LastError: "ocean: create: too many", ErrorCode: app.ERateLimit, ErrorAt: o.now().Add(-time.Minute),
			Hour: map[app.Code]int{"": 90, app.ERateLimit: 10}, Day: map[app.Code]int{"": 200, app.ERateLimit: 11, app.ETimeout: 12}, Remaining: 1.2}},
		{Name: "sandbox", Type: "sandbox"},
	}, nil
}

func (o fakeOperations) Queues(_ context.Context, a app.Actor) (execution.Queues, error) {
	if !a.May("Queues") {
		return execution.Queues{}, app.Errorf(app.EForbidden, "Only superadmins see that.")
	}
	q := execution.TenantQueue{Queue: execution.Queue{Tenant: "research", Workers: 0, Slots: 0, Queued: 4, Text: "1 operation in progress, 0 steps running on 0 slots, 4 queued.",
		Groups: []execution.WaitGroup{{Reason: execution.WaitWorkers, Text: "No worker is connected.", Count: 4, Oldest: o.now().Add(-time.Hour)}},
		Operations: []execution.QueueLine{{Cluster: "lake-1", Name: "lake", Kind: app.OperationCreate, Status: app.OperationRunning, Requester: "rosa", CreatedAt: o.now().Add(-time.Hour),
			Queued: 4, Total: 25, Text: "No worker is connected."}}, More: 7},
		Oldest: o.now().Add(-time.Hour), Help: "Assign a provisioner to the tenant."}
	return execution.Queues{Text: "8 operations in progress in 1 tenant.", Tenants: []execution.TenantQueue{q}}, nil
}

// TestQueuesOfAllTenants checks on the page and in the API which tenant waits, since when, why, and what would help.
func TestQueuesOfAllTenants(t *testing.T) {
	s := visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), newFakeOperations(fakeOf(c))) })
	s.signIn("ada")
	s.get("/admin/queues").reads(http.StatusForbidden)
	s.post("/signout", nil)
	s.signIn("root")
	s.get("/admin/queues").reads(http.StatusOK, "8 operations in progress in 1 tenant.", "research oldest operation: 1 h ago", "Suggested fix: Assign a provisioner to the tenant.",
		"4 steps: No worker is connected.", "oldest operation: 1 h ago", "8 operations", "lake creation running, by rosa 1 h ago", "0 of 25", "And 7 more operations.")
	parts, err := s.p.execution.QueuesLive(t.Context(), root, nil)
	if err != nil || len(parts) != 1 || parts[0].ID != "queues" {
		t.Errorf("live parts: %+v, %v", parts, err)
	}
}

func TestInstallationPages(t *testing.T) {
	s := visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), newFakeOperations(fakeOf(c))) })
	s.signIn("ada")
	s.get("/admin/settings").reads(http.StatusForbidden)
	s.get("/admin/provider-health").reads(http.StatusForbidden)
	s.post("/signout", nil)
	s.signIn("root")
	a := s.get("/admin/settings")
	a.reads(http.StatusOK, "SQLite 3.50", "less than 1 s behind the database", "Leader yes", "--workers 3 default: 16 flag", "MUSTER_SECRET_KEY set (secret) environment", "--listen")
	a = s.get("/admin/settings?set=true")
	a.reads(http.StatusOK, "--workers")
	a.lacks("--listen")
	a = s.get("/admin/provider-health")
	a.reads(http.StatusOK, "ocean digitalocean 10% of calls failing", "Calls (1 h) 100", "Errors (1 h) 10 rate limit", "Errors (1 d) 12 timeout, 11 rate limit", "Remaining 1 of 5",
		"Waiting steps 7", "Last error, 1 min ago: ocean: create: too many", "API calls are unknown because Redis isn't responding.")

	id := s.cluster(ada, "lake", "hadoop", 3)
	a = s.get("/admin")
	a.reads(http.StatusOK, "Nothing needs your attention.", "Provider health", "Overview")
	s.f.advance(id, 2)
	s.f.failStep(id, "n2.create", "No machine was created.")
	a = s.get("/admin")
	a.reads(http.StatusOK, "1 failed cluster")
	if !strings.Contains(a.body, `aria-current="page"`) {
		t.Error("no page is marked as the current one")
	}
}

func TestSearch(t *testing.T) {
	s := visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), withTemplates{fakeOf(c), fakeOf(c)}) })
	s.signIn("ada")
	lake, shop := s.cluster(ada, "lake", "hadoop", 3), s.cluster(ada, "lakeside", "web", 2)
	// A single hit is opened; of several, an exact match is listed first.
	for q, want := range map[string]string{"lakeside": shop, "LakeSide": shop} {
		if a := s.get("/search?q=" + q); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/"+want {
			t.Errorf("%s leads to %d %s", q, a.status, a.header.Get("Location"))
		}
	}
	a := s.get("/search?q=lake")
	a.reads(http.StatusOK, "Results for “lake”.", "lake exact match", "lakeside")
	if !strings.Contains(a.body, "/clusters/"+lake) || strings.Index(a.body, "/clusters/"+lake) > strings.Index(a.body, "/clusters/"+shop) {
		t.Error("the exact match isn't the first")
	}
	a = s.get("/search?q=lak")
	a.reads(http.StatusOK, "Results for “lak”.", "lake", "lakeside")
	if in := a.fields(); in.Get("q") != "lak" || len(in["q"]) != 2 {
		t.Errorf("the field has %q", in.Get("q"))
	}
	for i := range 12 {
		s.cluster(ada, fmt.Sprintf("a-lake-%d", i), "hadoop", 3)
	}
	s.get("/search?q=lake").reads(http.StatusOK, "View all", "lake exact match")
	web := s.cluster(ada, "web", "hadoop", 3)
	s.get("/search?q=web").reads(http.StatusOK, "Clusters web exact match", "Templates", "Web", "owner ada")
	if a := s.get("/search?q=" + web); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/"+web {
		t.Errorf("an id leads to %d %s", a.status, a.header.Get("Location"))
	}
	s.get("/search?q=%3Cb%3E").reads(http.StatusOK, "No results for “<b>”.")
	s.get("/search").reads(http.StatusOK, "Find clusters")
	s.get("/search?q="+strings.Repeat("x", 5000)).reads(http.StatusOK, "No results")
	s.post("/signout", nil)
	if a := s.get("/search?q=lake"); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin") {
		t.Errorf("a stranger is led to %s", a.header.Get("Location"))
	}
}
