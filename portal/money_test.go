package portal

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/lease"
	apppolicy "muster/app/policy"
	"muster/app/template"
	appusage "muster/app/usage"
	"muster/portal/site"
)

// fakeQuotas is a fake Muster with quotas, usage and leases in memory, and the real rules.
type fakeQuotas struct {
	site.Clusters
	fake   *fake
	quotas []apppolicy.QuotaUse
	usage  appusage.Usage
	ahead  *appusage.Forecast
	asked  []appusage.Filter
	many   bool // machines, so that sums take time
	summed int  // how often the usage of quotas was added up
	moved  []template.LeaseRequest
	rules  template.Lease
}

func newFakeQuotas(f *fake) *fakeQuotas { return &fakeQuotas{Clusters: f, fake: f} }

func (f *fakeQuotas) ManyMachines(context.Context, app.Actor) (bool, error) { return f.many, nil }

func (f *fakeQuotas) QuotasTakeTime(context.Context, app.Actor) (bool, error) { return f.many, nil }

func (f *fakeQuotas) QuotaLimits(_ context.Context, a app.Actor) (all []apppolicy.Quota, err error) {
	if !a.May("QuotaLimits") {
		return nil, app.Errorf(app.EForbidden, "Only admins see quotas.")
	}
	for _, q := range f.quotas {
		all = append(all, q.Quota)
	}
	return all, nil
}

func (f *fakeQuotas) Quotas(_ context.Context, a app.Actor) ([]apppolicy.QuotaUse, error) {
	if !a.May("Quotas") {
		return nil, app.Errorf(app.EForbidden, "Only admins see quotas.")
	}
	f.summed++
	return f.quotas, nil
}

func (f *fakeQuotas) QuotaLeft(_ context.Context, a app.Actor) (apppolicy.QuotaLeft, error) {
	f.summed++
	l := apppolicy.QuotaLine{Measure: apppolicy.MeasureNodes, Scope: apppolicy.QuotaGroup, Name: "data", Limit: 50, Used: 38, Remaining: 12}
	return apppolicy.QuotaLeft{User: a.User, Month: "2030-05", Lines: []apppolicy.QuotaLine{l}, Tightest: []apppolicy.QuotaLine{l}}, nil
}

func (f *fakeQuotas) SetQuota(_ context.Context, a app.Actor, q apppolicy.Quota) (apppolicy.QuotaUse, error) {
	if !a.May("SetQuota") {
		return apppolicy.QuotaUse{}, app.Errorf(app.EForbidden, "Only admins set quotas.")
	}
	if q.Name == "" && q.Scope != apppolicy.QuotaEachUser {
		return apppolicy.QuotaUse{}, &app.Error{Code: app.EInvalid, Field: "name", Message: "The name is required.", Hint: "Give the name."}
	}
	u := apppolicy.QuotaUse{Quota: q}
	f.quotas = append(f.quotas, u)
	return u, nil
}

func (f *fakeQuotas) SetTenantQuota(_ context.Context, a app.Actor, l apppolicy.Limits) (apppolicy.QuotaUse, error) {
	if !a.May("SetTenantQuota") {
		return apppolicy.QuotaUse{}, app.Errorf(app.EForbidden, "Only superadmins do that.")
	}
	u := apppolicy.QuotaUse{Quota: apppolicy.Quota{Scope: apppolicy.QuotaTenant, Limits: l}}
	f.quotas = append(f.quotas, u)
	return u, nil
}

func (f *fakeQuotas) DeleteQuota(_ context.Context, _ app.Actor, scope apppolicy.QuotaScope, name string) error {
	for i, q := range f.quotas {
		if q.Scope == scope && q.Name == name {
			f.quotas = append(f.quotas[:i], f.quotas[i+1:]...)
			return nil
		}
	}
	return app.Errorf(app.ENotFound, "There is no such quota.")
}

func (f *fakeQuotas) ExtendLease(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (lease.Outlook, error) {
	v, err := f.Cluster(ctx, a, cluster)
	if err != nil {
		return lease.Outlook{}, err
	}
	if !a.MayIn("ExtendLease", shownTo(v.Cluster, a)) {
		return lease.Outlook{}, app.Errorf(app.EForbidden, "Only its owner may.")
	}
	until, beyond, err := f.rules.Move(v.CreatedAt, v.ExpiresAt, f.fake.now(), r)
	if err != nil || beyond != nil && r.Reason == "" {
		if err == nil {
			err = beyond
		}
		return lease.Outlook{}, err
	}
	f.moved = append(f.moved, r)
	f.fake.mu.Lock()
	f.fake.find(cluster).ExpiresAt = until
	f.fake.tell(cluster, app.Event{Kind: app.EventLease, Message: "The lease was moved."})
	f.fake.mu.Unlock()
	return f.LeaseOutlook(ctx, a, cluster)
}

func (f *fakeQuotas) LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (lease.Outlook, error) {
	v, err := f.Cluster(ctx, a, cluster)
	if err != nil {
		return lease.Outlook{}, err
	}
	return lease.Outlook{Cluster: v.ID, Name: v.Name, Owner: v.Owner, Access: v.Access, Until: v.ExpiresAt, Offer: f.rules.Offer(v.CreatedAt, v.ExpiresAt, f.fake.now()),
		Warnings:  []lease.Warned{{Before: 4 * time.Hour, At: v.ExpiresAt.Add(-4 * time.Hour)}},
		Obstacles: []lease.Obstacle{{Kind: lease.ObstacleProvisioner, Text: "No provisioner can take <this>.", Stop: true}}}, nil
}

func (f *fakeQuotas) LeaseLink(ctx context.Context, a app.Actor, cluster, end, signature string) (lease.Outlook, bool, error) {
	if signature != "good" {
		return lease.Outlook{}, false, &app.Error{Code: app.EInvalid, Message: "This link is invalid."}
	}
	o, err := f.LeaseOutlook(ctx, a, cluster)
	return o, end == "old", err
}

func (f *fakeQuotas) Usage(_ context.Context, _ app.Actor, q appusage.Filter) (appusage.Usage, error) {
	f.asked = append(f.asked, q)
	if q.By == "colour" {
		return appusage.Usage{}, &app.Error{Code: app.EInvalid, Field: "by", Message: "Unknown grouping that.", Hint: "Say user."}
	}
	u := f.usage
	u.By, u.Step = q.By, q.Step
	return u, nil
}

func (f *fakeQuotas) UsageLabels(context.Context, app.Actor) ([]string, error) {
	return []string{"cost-centre"}, nil
}

func (f *fakeQuotas) UsageOfAll(ctx context.Context, a app.Actor, q appusage.Filter) (appusage.Usage, error) {
	if !a.May("UsageOfAll") {
		return appusage.Usage{}, app.Errorf(app.EForbidden, "Only superadmins see all tenants.")
	}
	return f.Usage(ctx, a, q)
}

func (f *fakeQuotas) UsageAhead(_ context.Context, a app.Actor) (appusage.Forecast, error) {
	if f.ahead == nil {
		return appusage.Forecast{User: "other"}, nil
	}
	return *f.ahead, nil
}

func (f *fakeQuotas) UsageAheadOfAll(ctx context.Context, a app.Actor) (appusage.Forecast, error) {
	if !a.May("UsageAheadOfAll") {
		return appusage.Forecast{}, app.Errorf(app.EForbidden, "Only superadmins see all tenants.")
	}
	u, err := f.UsageAhead(ctx, a)
	u.Budget = nil
	return u, err
}

// treasury signs a user in to a portal with a treasurer.
func treasury(t *testing.T, user string) (*testSite, *fakeQuotas) {
	t.Helper()
	var f *fakeQuotas
	s := visit(t, func(c *Config) {
		f = newFakeQuotas(fakeOf(c))
		f.rules = template.Lease{Initial: 24 * time.Hour, Max: 72 * time.Hour, Step: 12 * time.Hour}
		c.UseCases = useCases(f.fake, f)
	})
	now := f.fake.now()
	f.usage = appusage.Usage{From: app.MonthOf(now.Add(-48 * time.Hour)).Start, To: now, Total: appusage.Sum{NodeHours: 36, CoreHours: 72, Cost: 9.5, Unpriced: 2}}
	for i, key := range []string{"ada", "=cmd|' /C calc'!A0", "<b>bob</b>", "+x", "-y", "@z", "k6", "k7", "k8", "k9"} {
		f.usage.Lines = append(f.usage.Lines, appusage.Line{Start: appusage.IntervalDay.Start(now).AddDate(0, 0, -i%3), Key: key,
			Sum: appusage.Sum{NodeHours: float64(10 - i), Cost: float64(10-i) / 4, CoreHours: 2}})
	}
	s.signIn(user)
	return s, f
}

func TestQuotaPage(t *testing.T) {
	s, f := treasury(t, "root")
	limits := apppolicy.Limits{}.With(apppolicy.MeasureNodes, 50).With(apppolicy.MeasurePerMonth, 100)
	s.get("/admin/quotas").reads(http.StatusOK, "No quotas yet")
	f.quotas = []apppolicy.QuotaUse{{Quota: apppolicy.Quota{Scope: apppolicy.QuotaGroup, Name: "<data>", Limits: limits, Currency: "EUR"}, Used: apppolicy.Amounts{Nodes: 38, PerMonth: 120.5}}}
	a := s.get("/admin/quotas?scope=group&name=" + url.QueryEscape("<data>"))
	a.reads(http.StatusOK, "Group <data>", "Nodes 38 of 50", "Cost per month €120.50 of €100.00", "Edit quota")
	if got := a.fields(); got.Get("nodes") != "50" || got.Get("per_month") != "100" || got.Get("scope") == "" {
		t.Errorf("the form holds %v", got)
	}
	if !strings.Contains(a.body, `width="76.00%"`) || !strings.Contains(a.body, "bar-full") {
		t.Error("the bars are wrong")
	}
	if a := s.post("/admin/quotas", url.Values{"scope": {"user"}, "name": {"ada"}, "nodes": {" 7 "}, "per_hour": {"1,5"}}); a.status != http.StatusSeeOther {
		t.Errorf("saving: %d %s", a.status, a.text())
	}
	q := f.quotas[1]
	if nodes, _ := q.Limits.Of(apppolicy.MeasureNodes); nodes != 7 || q.Name != "ada" || *q.Limits.PerHour != 1.5 || q.Limits.Clusters != nil {
		t.Errorf("saved %+v", q)
	}
	if a := s.post("/admin/quotas", url.Values{"scope": {"tenant"}, "name": {"is of no use"}, "cpu": {"9"}}); a.status != http.StatusSeeOther || f.quotas[2].Scope != apppolicy.QuotaTenant {
		t.Errorf("the tenant's: %d %+v", a.status, f.quotas)
	}
	a = s.post("/admin/quotas", url.Values{"scope": {"user"}, "name": {"ada"}, "nodes": {"many"}})
	a.reads(http.StatusUnprocessableEntity, "must be a number.")
	if got := a.fields(); got.Get("nodes") != "many" || got.Get("name") == "" {
		t.Errorf("what was typed is lost: %v", got)
	}
	s.post("/admin/quotas", url.Values{"scope": {"user"}, "nodes": {"3"}}).reads(http.StatusUnprocessableEntity, "The name is required.")
	if a := s.post("/admin/quotas/delete", url.Values{"scope": {"user"}, "name": {"ada"}}); a.status != http.StatusSeeOther || len(f.quotas) != 2 {
		t.Errorf("lifting: %d", a.status)
	}
	s.post("/admin/quotas/delete", url.Values{"scope": {"user"}, "name": {"ada"}}).reads(http.StatusNotFound)

	s, _ = treasury(t, "ada")
	s.get("/admin/quotas").reads(http.StatusForbidden)
	s.get("/clusters/new").reads(http.StatusOK, `Quota left before this request: 12 of 50 nodes (the group "data")`)
	if strings.Contains(s.get("/clusters").body, `href="/admin"`) {
		t.Error("a user is linked to admin pages")
	}
}

func TestLeaseBox(t *testing.T) {
	s, _ := treasury(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "Lease Expires in 24 h, on 2 May 2030 12:00 UTC .", "Extend by 12 h 2.88 more", "Extend by up to 12 h at a time, to at most 3 d after creation. Latest possible expiry: 3 May 2030 00:00 UTC .", "4 h (in 20 h)", "No provisioner can take <this>. Needs attention")
}

// An open page shows the new expiry when the lease is extended elsewhere.
func TestLeaseCardIsLive(t *testing.T) {
	s, f := treasury(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	page := s.get("/clusters/" + id)
	page.reads(http.StatusOK, "Expires in 24 h, on 2 May 2030 12:00 UTC .")
	live := page.find("live")
	r := s.follow("/clusters/" + id + "/live?operation=1&have=" + url.QueryEscape(attr(live, "data-have")) + "&after=" + attr(live, "data-after"))
	if _, err := f.ExtendLease(t.Context(), ada, id, template.LeaseRequest{By: 12 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	e := r.until("part", "3 May 2030 00:00 UTC")
	if !strings.Contains(e.data, `id=\"lease\"`) && !strings.Contains(e.data, `id="lease"`) {
		t.Errorf("the page receives something other than the lease card: %s", e.data)
	}
	r.close()
}

func TestLeaseIsMoved(t *testing.T) {
	s, f := treasury(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	if a := s.post("/clusters/"+id+"/lease", url.Values{"by": {"12h"}}); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/"+id+"#lease" {
		t.Errorf("the button: %d %s", a.status, a.text())
	}
	if len(f.moved) != 1 || f.moved[0].By != 12*time.Hour {
		t.Errorf("asked for %+v", f.moved)
	}
	if a := s.post("/clusters/"+id+"/lease", url.Values{"until": {"2030-05-02T18:30"}}); a.status != http.StatusSeeOther || !f.moved[1].Until.Equal(time.Date(2030, 5, 2, 18, 30, 0, 0, time.UTC)) {
		t.Errorf("the date: %d %+v", a.status, f.moved)
	}
	// In the browser's time zone, which the form sends.
	until := func(text, zone string) seen {
		return s.post("/clusters/"+id+"/lease", url.Values{"until": {text}, "zone": {zone}})
	}
	if a := until("2030-05-02T18:30", "Asia/Kolkata"); a.status != http.StatusSeeOther || !f.moved[2].Until.Equal(time.Date(2030, 5, 2, 13, 0, 0, 0, time.UTC)) {
		t.Errorf("the date in a zone: %d %+v", a.status, f.moved)
	}
	until("2030-05-02T18:30", "Mars/Olympus").reads(http.StatusUnprocessableEntity, `Unknown time zone "Mars/Olympus".`)
	until("2030-05-02T18:30", "Local").reads(http.StatusUnprocessableEntity, `Unknown time zone "Local".`)
	until("2030-03-31T02:30", "Europe/Berlin").reads(http.StatusUnprocessableEntity, "2030-03-31T02:30 doesn't exist in Europe/Berlin: clocks are set forward then.", "Choose an earlier or a later time.")
	until("2030-02-30T02:30", "Europe/Berlin").reads(http.StatusUnprocessableEntity, `Invalid time "2030-02-30T02:30".`)
	s.post("/clusters/"+id+"/lease", url.Values{"until": {"tomorrow"}}).reads(http.StatusUnprocessableEntity, `Invalid time "tomorrow".`)
	s.post("/clusters/"+id+"/lease", url.Values{"by": {"200h"}}).reads(http.StatusUnprocessableEntity, "at most 3 d, until 4 May 2030")
	s.post("/clusters/"+id+"/lease", url.Values{"forever": {"yes"}}).reads(http.StatusUnprocessableEntity, "This template requires a lease that expires.")
	// Another site can't press the button, and opening the address doesn't either.
	if a := s.post("/clusters/"+id+"/lease", url.Values{"by": {"1h"}}, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); a.status != http.StatusForbidden {
		t.Errorf("from elsewhere: %d", a.status)
	}
	before := len(f.moved)
	s.get("/clusters/"+id+"/extend?end=1&sig=good").reads(http.StatusOK, "lake", "Extend by 12 h", "View cluster")
	s.get("/clusters/" + id + "/extend?end=old&sig=good").lacks("Extend by")
	s.get("/clusters/"+id+"/extend?end=1&sig=bad").reads(http.StatusUnprocessableEntity, "This link is invalid.")
	if a := s.get("/clusters/" + id + "/lease"); a.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", a.status)
	}
	if len(f.moved) != before {
		t.Error("opening the page moved the lease")
	}
	s.post("/signout", nil)
	if a := s.get("/clusters/" + id + "/extend?end=1&sig=good"); a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Location"), "/signin") {
		t.Errorf("the link works without sign-in: %d", a.status)
	}
	s.signIn("vera")
	s.get("/clusters/" + id).lacks("Extend by")
}

func TestUsagePage(t *testing.T) {
	s, f := treasury(t, "root")
	a := s.get("/usage?by=user&step=day&from=2030-04-28&to=2030-05-01")
	a.reads(http.StatusOK, "Cost 9.50 Node hours 36.00 Core hours 72.00 Unpriced 2.00 node hours", "Wed 1 May ada 2.50 10.00 2.00", "<b>bob</b>", "3 others", "up to")
	if strings.Contains(a.body, "<b>bob</b>") || strings.Contains(a.body, "style=") {
		t.Error("the page isn't escaped")
	}
	last := f.asked[len(f.asked)-1]
	if !last.From.Equal(time.Date(2030, 4, 28, 0, 0, 0, 0, time.UTC)) || !last.To.Equal(time.Date(2030, 5, 2, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the last day isn't included: %+v", last)
	}
	s.get("/usage?by=colour").reads(http.StatusUnprocessableEntity, `Unknown grouping "colour".`, "Use none, tenant, user,")
	s.get("/usage?from=yesterday").reads(http.StatusUnprocessableEntity, "Invalid time")
	a = s.get("/usage?by=user&format=csv")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		t.Fatalf("CSV: %d %s", a.status, a.header.Get("Content-Type"))
	}
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(rows) != 11 || fmt.Sprint(rows[0]) != "[start user node_hours core_hours cost unpriced_node_hours]" {
		t.Fatalf("%v: %v", err, rows)
	}
	for _, r := range rows[1:] {
		if strings.ContainsAny(r[1][:1], "=+-@\t\r") {
			t.Errorf("a spreadsheet would run %q", r[1])
		}
	}
	s.get("/usage?all=true").reads(http.StatusOK, "all tenants")

	s, f = treasury(t, "ada")
	s.get("/usage?all=true").reads(http.StatusForbidden)
	s.get("/clusters").reads(http.StatusOK, "Your machines have cost 9.50 this month (36.00 node hours).")
	if q := f.asked[len(f.asked)-1]; !q.Mine {
		t.Errorf("asked for %+v", q)
	}
}

func TestMoneyAPI(t *testing.T) {
	s, f := treasury(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	api := func(method, path, body string, headers ...string) seen {
		r := s.request(method, "/api/v1"+path, body, append([]string{"Authorization", "Bearer token-of-ada", "Content-Type", "application/json"}, headers...)...)
		return s.do(r)
	}
	var o lease.Outlook
	a := api(http.MethodPost, "/clusters/"+id+"/lease", `{"by":3600000000000}`)
	if err := json.Unmarshal([]byte(a.body), &o); err != nil || a.status != http.StatusOK || !o.Until.Equal(f.fake.now().Add(25*time.Hour)) || len(o.Obstacles) != 1 {
		t.Errorf("extend: %d %s", a.status, a.body)
	}
	if a := api(http.MethodPost, "/clusters/"+id+"/lease", `{"until":"2030-05-02T00:00:00Z"}`); a.status != http.StatusOK {
		t.Errorf("until: %d %s", a.status, a.body)
	}
	if a := api(http.MethodPost, "/clusters/"+id+"/lease", `{"forever":true}`); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"kind":"lease"`) {
		t.Errorf("no expiry: %d %s", a.status, a.body)
	}
	if a := api(http.MethodGet, "/clusters/"+id+"/lease", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"kind":"provisioner"`) {
		t.Errorf("outlook: %d %s", a.status, a.body)
	}
	if a := api(http.MethodGet, "/quotas/remaining", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"remaining":12`) {
		t.Errorf("left: %d %s", a.status, a.body)
	}
	if a := api(http.MethodGet, "/quotas", ""); a.status != http.StatusForbidden {
		t.Errorf("quotas for a user: %d", a.status)
	}
	if a := api(http.MethodPut, "/quotas", `{"scope":"user","name":"ada","limits":{"nodes":3}}`); a.status != http.StatusForbidden {
		t.Errorf("setting for a user: %d %s", a.status, a.body)
	}
	if a := api(http.MethodPut, "/quotas", `{"scope":"galaxy","limits":{"nodes":3}}`); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a scope that does not exist: %d %s", a.status, a.body)
	}
	if a := api(http.MethodDelete, "/quotas?scope=user&name=unknown", ""); a.status != http.StatusNotFound {
		t.Errorf("deleting an unknown quota: %d %s", a.status, a.body)
	}
	if a := api(http.MethodGet, "/usage?by=user&step=day", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"node_hours":10`) || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("usage: %d %s", a.status, a.body)
	}
	for _, a := range []seen{api(http.MethodGet, "/usage?by=user&format=csv", ""), api(http.MethodGet, "/usage?by=user", "", "Accept", "text/csv")} {
		if a.status != http.StatusOK || !strings.HasPrefix(a.body, "start,user,node_hours") || !strings.Contains(a.body, "'=cmd|") {
			t.Errorf("CSV: %d %s", a.status, a.body)
		}
	}
	if a := api(http.MethodGet, "/usage?all=true", ""); a.status != http.StatusForbidden {
		t.Errorf("all tenants for a user: %d", a.status)
	}
	if a := api(http.MethodGet, "/usage?from=soon", ""); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"field":"from"`) {
		t.Errorf("an invalid time: %d %s", a.status, a.body)
	}
}

func TestMoneyPagesAreClean(t *testing.T) {
	s, f := treasury(t, "root")
	f.quotas = []apppolicy.QuotaUse{{Quota: apppolicy.Quota{Scope: apppolicy.QuotaEachUser, Limits: apppolicy.Limits{}.With(apppolicy.MeasureCPU, 0)}}, {Quota: apppolicy.Quota{Scope: apppolicy.QuotaTenant,
		Limits: apppolicy.Limits{}.With(apppolicy.MeasurePerHour, 2.5)}}}
	id := s.cluster(root, "lake", "hadoop", 2)
	for _, path := range []string{"/usage", "/usage?step=none&by=none", "/usage?from=never", "/admin/quotas", "/clusters/" + id, "/clusters/" + id + "/extend?end=1&sig=good",
		"/clusters/new", "/clusters"} {
		t.Run(path, func(t *testing.T) { wantClean(t, s.get(path)) })
	}
}

// With very many machines pages come before the usage of quotas, which a script or a link loads.
func TestQuotasOfManyMachinesComeLater(t *testing.T) {
	s, h := homeSite(t)
	limits := apppolicy.Limits{}.With(apppolicy.MeasureNodes, 50)
	h.quotas = []apppolicy.QuotaUse{{Quota: apppolicy.Quota{Scope: apppolicy.QuotaTenant, Limits: limits}, Used: apppolicy.Amounts{Nodes: 48}}}
	s.signIn("root")
	for _, page := range []struct{ path, first, then, link string }{
		{"/admin/quotas", "Nodes: limit 50", "Nodes 48 of 50", "/admin/quotas?whole=true"},
		{"/admin", "Checking quotas", "1 quota nearly used up", "/admin?whole=true"},
		{"/", "View quota usage", "Nodes 38 of 50", "/home/quota"},
		{"/clusters/new?template=web", "View quota usage", "12 of 50 nodes", ""},
	} {
		h.many = false
		if a := s.get(page.path); !strings.Contains(a.text(), page.then) || strings.Contains(a.body, "data-fill") && page.path != "/" {
			t.Errorf("%s of few machines: %s", page.path, a.text())
		}
		h.many, h.summed = true, 0
		a := s.get(page.path)
		a.reads(http.StatusOK, page.first)
		a.lacks(page.then)
		before := a.body[:max(strings.Index(a.body, page.first), 0)]
		where, _, _ := strings.Cut(before[strings.LastIndex(before, `data-fill="`)+len(`data-fill="`):], `"`)
		if where = html.UnescapeString(where); h.summed > 0 {
			t.Errorf("%s is not filled later, or was summed up before %d times", page.path, h.summed)
			continue
		}
		part := s.get(where, "Muster-Part", "cost")
		part.reads(http.StatusOK, page.then)
		if strings.Contains(part.body, "<html") || strings.Contains(part.body, "data-fill") {
			t.Errorf("%s is no part", where)
		}
		link := page.link
		if link == "" {
			link = where + "&whole=true"
		}
		if !strings.Contains(a.body, `href="`+html.EscapeString(link)+`"`) {
			t.Errorf("%s has no link to %s", page.path, link)
		}
		whole := s.get(link)
		if whole.status == http.StatusSeeOther {
			whole = s.get(whole.header.Get("Location"))
		}
		whole.reads(http.StatusOK, page.then)
	}
}
