package portal

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/dashboard"
	"muster/app/execution"
	applayout "muster/app/layout"
	"muster/app/policy"
	"muster/app/template"
	"muster/app/usage"
	"muster/portal/site"
)

// fakeHome is a Muster with all that a home shows.
type fakeHome struct {
	*fakeQuotas
	site.Templates
	useManualSteps
	useRequests
	prices  map[string]float64
	inbox   []cluster.Request
	mine    []cluster.Request
	asks    []execution.ManualStep
	notices []app.Notice
	fails   error // of all but what a person has
	more    int   // live clusters that are not listed
}

func newFakeHome(f *fake) *fakeHome {
	return &fakeHome{fakeQuotas: newFakeQuotas(f), prices: map[string]float64{"web": 0.24, "single": 0.5}}
}

func (h *fakeHome) Home(_ context.Context, a app.Actor) (dashboard.Data, error) {
	h.fake.mu.Lock()
	defer h.fake.mu.Unlock()
	out := dashboard.Data{Standing: map[app.ClusterStatus]int{}, Notices: h.notices}
	for _, status := range []app.ClusterStatus{app.ClusterFailed, app.ClusterPending, app.ClusterActive, app.ClusterAsleep} {
		for _, c := range h.fake.clusters {
			if c.Owner != a.User || c.Status != status {
				continue
			}
			out.Standing[status]++
			out.CostPerHour += c.CostPerHour
			out.Clusters = append(out.Clusters, app.ClusterSummary{Cluster: c.Cluster, Operation: &c.Operations[0]})
			if !c.ExpiresAt.IsZero() && c.ExpiresAt.Before(h.fake.now().Add(72*time.Hour)) {
				out.Ending = append(out.Ending, c.Cluster)
			}
		}
	}
	if h.more > 0 {
		out.Standing[app.ClusterActive] += h.more
	}
	return out, h.fake.broken
}

func (h *fakeHome) Requests(_ context.Context, _ app.Actor, f cluster.RequestFilter) ([]cluster.Request, error) {
	if f.View == cluster.RequestsInbox {
		return h.inbox, h.fails
	}
	if !f.Open || f.Limit > 10 {
		return nil, app.Errorf(app.EInvalid, "A home reads only a few open ones.")
	}
	return h.mine, h.fails
}

func (h *fakeHome) ManualSteps(_ context.Context, _ app.Actor, q execution.ManualStepQuery) ([]execution.ManualStep, error) {
	if !q.Mine {
		return nil, app.Errorf(app.EInvalid, "A home asks only for what waits for oneself.")
	}
	return h.asks, h.fails
}

func (h *fakeHome) Notices(context.Context, app.Actor, int64, int) ([]app.Notice, error) {
	return h.notices, h.fails
}

func (h *fakeHome) TemplatePrices(context.Context, app.Actor) (map[string]float64, error) {
	return h.prices, nil
}

// furnish returns ada a cluster of each kind, and much that waits for her.
func (h *fakeHome) furnish() error {
	ctx, now := context.Background(), h.fake.now()
	for i, r := range []cluster.CreateRequest{
		{Name: "lake", Request: applayout.Request{Template: "hadoop", Size: 5}},
		{Name: "shop-staging", Request: applayout.Request{Template: "web", Size: 4}},
		{Name: "orders-db", Request: applayout.Request{Template: "single", Size: 1}},
		{Name: "theirs", Request: applayout.Request{Template: "web", Size: 3}},
	} {
		who := ada
		if i == 3 {
			who = root
		}
		v, err := h.fake.CreateCluster(ctx, who, r)
		if err != nil {
			return err
		}
		for h.fake.advance(v.ID, 9) && i != 0 {
		}
	}
	h.fake.advance("c01", 12)
	h.fake.failStep("c02", "n1.haproxy.start", "The script ended with 1.")
	layout := applayout.Layout{CostPerHour: 0.96, Groups: []applayout.NodeGroup{{Count: 8, Services: []string{"web"}}}}
	h.inbox = []cluster.Request{{ID: 7, Status: cluster.RequestWaiting, Requester: "bob", RequestedAt: now.Add(-time.Hour), ExpiresAt: now.Add(time.Hour),
		Spec: cluster.CreateRequest{Name: "load-test", Request: applayout.Request{Template: "web"}}, Terms: cluster.Terms{Layout: layout}}}
	h.mine = []cluster.Request{{ID: 9, Status: cluster.RequestWaiting, Requester: "ada", RequestedAt: now.Add(-time.Hour), ExpiresAt: now.Add(20 * time.Hour),
		Spec: cluster.CreateRequest{Name: "big-lake", Request: applayout.Request{Template: "hadoop"}}, Terms: cluster.Terms{Layout: layout},
		Approvals: []policy.RequiredApproval{{Approval: policy.Approval{Group: "finance", Count: 2}}}}}
	h.asks = []execution.ManualStep{{Operation: 3, Index: 4, Cluster: "c01", ClusterName: "lake", Service: "datanode", Action: app.ActionConfigure, Node: "n2", Mine: true,
		Person: template.Person{Ask: "Is the disk of n2 wiped?"}}}
	h.notices = []app.Notice{{ID: 5, At: now.Add(-2 * time.Hour), Kind: app.NoticeLease, Title: "The lease of lake expires in 22 hours.", About: app.ClusterSubject("c01"), Users: []string{"ada"}},
		{ID: 4, At: now.Add(-30 * time.Hour), Kind: app.NoticeApproval, Title: `Your request "shop" was approved <b>`, About: app.Subject{Kind: app.SubjectAddress, ID: "https://elsewhere.example/"}, Users: []string{"ada"}}}
	month := app.MonthOf(now).Start
	for i := 0; !month.AddDate(0, 0, i).After(now); i++ {
		cost := float64(1+(i*7)%5) / 2
		h.usage.Lines = append(h.usage.Lines, usage.Line{Start: month.AddDate(0, 0, i), Sum: usage.Sum{Cost: cost, NodeHours: cost * 10}})
		h.usage.Total.Cost += cost
		h.usage.Total.NodeHours += cost * 10
	}
	return nil
}

func homeSite(t *testing.T) (*testSite, *fakeHome) {
	t.Helper()
	var h *fakeHome
	s := visit(t, func(c *Config) {
		h = newFakeHome(fakeOf(c))
		c.UseCases = useCases(h.fake, h)
	})
	s.clock.pass(20 * 24 * time.Hour)
	return s, h
}

func TestHome(t *testing.T) {
	s, h := homeSite(t)
	if err := h.furnish(); err != nil {
		t.Fatal(err)
	}
	s.signIn("ada")
	a := s.get("/")
	a.reads(http.StatusOK, "Hello, ada", "You have 3 clusters: 1 active, 1 in progress and 1 failed. 1.20/h in total.",
		"Waiting for you 2", "load-test bob requested web with 8 nodes at 0.96/h, 1 h ago Review", "Is the disk of n2 wiped? lake: datanode, configure on n2 Answer",
		"shop-staging failed", "Create failed at n1.haproxy.start.", "lake creating", "Creating: 21 of 43 steps done.", "48%", "orders-db active",
		"Expiring soon lake expires in 24 h Extend orders-db expires in 8 h Extend", "Your requests", "big-lake", "Your cost this month", "node hours", "Quota usage Nodes 38 of 50",
		"Notifications", "The lease of lake expires in 22 hours.", "Templates", "Web with a load balancer", "from 0.24")
	a.lacks("theirs", "Create your first cluster", "Tenant cost")
	if text := a.text(); strings.Index(text, "shop-staging failed") > strings.Index(text, "lake creating") || strings.Index(text, "lake creating") > strings.Index(text, "orders-db active") {
		t.Error("what needs a look does not come first")
	}
	for _, want := range []string{`href="/clusters/c01#lease"`, `href="/requests/7"`, `aria-label="Daily cost in May: highest 2.50 on 3 May, today 0.50 so far."`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s is not to be found", want)
		}
	}
	if strings.Contains(a.body, "elsewhere.example") || strings.Contains(a.body, "approved <b>") {
		t.Error("a notice leads elsewhere, or gets into the page as it is")
	}
	if got := s.get("/home/cost?of=tenant", "Muster-Part", "cost"); got.status != http.StatusForbidden {
		t.Errorf("a user sees the tenant's costs: %d", got.status)
	}
	if got := s.get("/home/cost"); got.status != http.StatusSeeOther || got.header.Get("Location") != "/usage" {
		t.Errorf("a person who follows the address of a part comes to %d %s", got.status, got.header.Get("Location"))
	}
}

func TestHomeOfANewUser(t *testing.T) {
	s, h := homeSite(t)
	s.signIn("ada")
	a := s.get("/")
	a.reads(http.StatusOK, "Create your first cluster", "New cluster", "One database", "You don't have any clusters.")
	a.lacks("Your clusters", "Waiting for you", `id="home-start"`)
	if a.find("home-waits") == nil || !has(a.find("home-waits"), "hidden") {
		t.Error("what waits is shown where nothing does, or has no place to come to")
	}
	h.fake.catalog = template.NewCatalog()
	s.get("/").reads(http.StatusOK, "No templates yet")
	s.signIn("vera")
	a = s.get("/")
	a.reads(http.StatusOK, "You have read-only access.")
	a.lacks("Create")
}

func TestHomeOfAnAdmin(t *testing.T) {
	s, h := homeSite(t)
	if err := h.furnish(); err != nil {
		t.Fatal(err)
	}
	s.signIn("root")
	h.fakeQuotas.asked = nil
	a := s.get("/")
	a.reads(http.StatusOK, "You have 1 cluster: 1 active.", "Tenant cost this month View usage")
	if len(h.fakeQuotas.asked) != 1 || !h.fakeQuotas.asked[0].Mine {
		t.Errorf("the page sums up the tenant's costs before it answers: %v", h.fakeQuotas.asked)
	}
	n := a.find("home-cost-tenant")
	if n == nil || attr(n, "data-fill") != "/home/cost?of=tenant" {
		t.Fatal("nothing fetches the tenant's costs")
	}
	part := s.get(attr(n, "data-fill"), "Muster-Part", "cost")
	part.reads(http.StatusOK, "Tenant cost this month", "node hours")
	if strings.Contains(part.body, "<html") || h.fakeQuotas.asked[1].Mine {
		t.Error("the part is a page, or only the admin's own")
	}
	h.more = 10_000
	h.fakeQuotas.asked = nil
	s.get("/").reads(http.StatusOK, "You have 10,001 clusters: 10,001 active.", "View all your clusters 10,000 more", "Your cost this month View usage")
	if len(h.fakeQuotas.asked) != 0 {
		t.Error("people with very many clusters wait for the sum of their costs")
	}
}

func TestHomeMoves(t *testing.T) {
	s, h := homeSite(t)
	if err := h.furnish(); err != nil {
		t.Fatal(err)
	}
	s.signIn("ada")
	r := s.follow("/live?page=%2F")
	e := r.until("change", "21 of 43")
	for _, part := range changes(t, e).Parts {
		if a := s.get("/"); a.find(part[0]) == nil {
			t.Errorf("the page has no place for %s", part[0])
		}
	}
	h.fake.advance("c01", 3)
	if c := changes(t, r.until("change", "24 of 43")); len(c.Parts) != 1 || c.Parts[0][0] != "home-clusters" {
		t.Errorf("more than what moved is sent: %d parts", len(c.Parts))
	}
	r.close()
}

// Without the rest, what a person has is worth showing.
func TestHomeWhenSomethingIsBroken(t *testing.T) {
	s, h := homeSite(t)
	if err := h.furnish(); err != nil {
		t.Fatal(err)
	}
	s.signIn("ada")
	h.fake.broken = fmt.Errorf("the disk is full")
	s.get("/").reads(http.StatusInternalServerError)
	h.fake.broken = nil
	s.get("/").reads(http.StatusOK, "Hello, ada")
}
