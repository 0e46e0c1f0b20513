package portal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/layout"
	appoperation "muster/app/operation"
	apppolicy "muster/app/policy"
	"muster/app/policy/cel"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/template"
	"muster/cmd/muster/wiring/faces"
	"muster/planner"
	"muster/portal/static"
	"muster/solver"
	"muster/solver/change"
)

type fastKeys struct{}

func (fastKeys) SignCertificate([]byte, app.CertificateOrder) (app.SignedCertificate, error) {
	return app.SignedCertificate{}, app.Errorf(app.EInternal, "no certificates here")
}

func (fastKeys) NewKey(string) ([]byte, string, error) {
	return []byte("private"), "ssh-ed25519 AAAA test", nil
}

// fullSite is a portal with the real use cases, solver, planner, policies and a store on disk.
type fullSite struct {
	*testing.T
	app     *appall.Services
	store   *store.Store
	catalog *template.Catalog
	clock   *clock
	sites   map[string]*testSite // by user
}

func newFullSite(t *testing.T) *fullSite {
	t.Helper()
	s := storetest.Open(t)
	c := template.NewCatalog()
	c.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5, CPU: 2}}}
	c.Images["linux"] = &template.ImageType{About: template.About{Name: "linux"}, Providers: map[string]template.Image{"cloud": {Image: "i"}}}
	act := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
	c.Services["web"] = &template.Service{About: template.About{Name: "web"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act, app.ActionStart: act}}
	c.Templates["web"] = &template.Template{About: template.About{Name: "web"}, Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 50}},
		Defaults: template.Defaults{Provider: "cloud", Services: []string{"web"}}}
	o := &fullSite{T: t, store: s, catalog: c, clock: newClock(), sites: map[string]*testSite{}}
	o.clock.t = time.Now() // sessions of the store go by it
	o.app = appall.New(appall.Config{Store: s, Solver: solver.New(), Changer: change.New(), Planner: planner.New(), Keys: fastKeys{}, Policies: cel.New(),
		Catalog: func() *template.Catalog { return c }, Now: o.clock.now})
	hash := identity.HashPassword("correct horse")
	for name, role := range map[string]app.Role{"ada": app.RoleUser, "bob": app.RoleApprover, "cy": app.RoleApprover, "boss": app.RoleAdmin, "vic": app.RoleViewer} {
		u := identity.User{Tenant: app.DefaultTenant, Name: name, Role: role, PasswordHash: hash, CreatedAt: o.clock.now()}
		if err := s.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// at returns a browser with a signed-in user.
func (o *fullSite) at(user string) *testSite {
	o.Helper()
	if s := o.sites[user]; s != nil {
		return s
	}
	s := visit(o.T, func(c *Config) { c.UseCases, c.Now = faces.Portal(o.app), o.clock.now })
	s.signIn(user)
	o.sites[user] = s
	return s
}

// actor returns a user as an actor.
func (o *fullSite) actor(user string) app.Actor {
	o.Helper()
	u, err := o.store.User(o.Context(), app.DefaultTenant, user)
	if err != nil {
		o.Fatal(err)
	}
	a := u.Actor()
	a.ProvenAt = o.clock.now()
	return a
}

// api calls the API with a user's token.
func (o *fullSite) api(user, method, path string, in, out any) (int, http.Header) {
	o.Helper()
	token, err := o.app.Identity.Tokens.IssueToken(o.Context(), app.DefaultTenant, user, "test")
	if err != nil {
		o.Fatal(err)
	}
	b, err := json.Marshal(in)
	if err != nil {
		o.Fatal(err)
	}
	s := o.at(user)
	a := s.do(s.request(method, "/api/v1"+path, string(b), "Authorization", "Bearer "+token, "Content-Type", "application/json"))
	if out != nil {
		if err := json.Unmarshal([]byte(a.body), out); err != nil {
			o.Fatalf("%s %s: %v: %.300s", method, path, err, a.body)
		}
	}
	return a.status, a.header
}

func (o *fullSite) rules(all ...apppolicy.Policy) {
	o.Helper()
	for _, p := range all {
		if _, err := o.app.Policy.Policies.SavePolicy(o.Context(), o.actor("boss"), p); err != nil {
			o.Fatal(err)
		}
	}
}

var fullSiteRules = []apppolicy.Policy{
	{Name: "free", Order: 1, Enabled: true, When: `role == "admin"`, Effect: apppolicy.EffectAllow},
	{Name: "most", Order: 10, Enabled: true, When: `nodes > 10`, Effect: apppolicy.EffectRefuse, Reason: "At most 10 nodes; you asked for ${nodes}."},
	{Name: "short", Order: 20, Enabled: true, When: `cost_per_hour >= 1`, Effect: apppolicy.EffectRewrite, LeaseCap: `duration("4h")`, Reason: "It is dear."},
	{Name: "eyes", Order: 30, Enabled: true, When: `nodes > 3`, Effect: apppolicy.EffectApprove, Reason: "More than 3 are many.", Approval: &apppolicy.Approval{Count: 1, Role: app.RoleApprover}},
}

// A request has the same result from every face: use case, REST API and page.
func TestPoliciesSayTheSameByEveryFace(t *testing.T) {
	const day = 24 * time.Hour
	type outcome struct {
		status cluster.RequestStatus
		why    string
		lease  time.Duration
		nodes  int
	}
	for i, c := range []struct {
		name  string
		user  string
		size  int
		lease time.Duration
		want  outcome
	}{
		{"small", "ada", 1, day, outcome{cluster.RequestAccepted, "", day, 1}},
		{"dear", "ada", 3, day, outcome{cluster.RequestAccepted, "", 4 * time.Hour, 3}},
		{"dear, and short", "ada", 3, time.Hour, outcome{cluster.RequestAccepted, "", time.Hour, 3}},
		{"many", "ada", 4, day, outcome{cluster.RequestWaiting, "", 4 * time.Hour, 4}},
		{"too many", "ada", 11, day, outcome{cluster.RequestRefused, "At most 10 nodes; you asked for 11.", day, 11}},
		{"of an approver", "bob", 5, day, outcome{cluster.RequestWaiting, "", 4 * time.Hour, 5}},
		{"of an admin", "boss", 11, day, outcome{cluster.RequestAccepted, "", day, 11}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, face := range []string{"use case", "api", "portal"} {
				o := newFullSite(t)
				o.rules(fullSiteRules...)
				r := cluster.CreateRequest{Name: fmt.Sprintf("web%d", i), Request: layout.Request{Template: "web", Size: c.size}, Lease: &c.lease}
				preview, err := o.app.Cluster.Creates.Preview(t.Context(), o.actor(c.user), r)
				if err != nil {
					t.Fatal(err)
				}
				switch face {
				case "use case":
					_, err := o.app.Cluster.Creates.Ask(t.Context(), o.actor(c.user), r)
					if (err != nil) != (c.want.status == cluster.RequestRefused) {
						t.Fatal(err)
					}
				case "api":
					var said map[string]any
					status, header := o.api(c.user, http.MethodPost, "/clusters", r, &said)
					want := map[cluster.RequestStatus]int{cluster.RequestAccepted: 201, cluster.RequestWaiting: 202, cluster.RequestRefused: 403}[c.want.status]
					if status != want || status == 403 && (said["detail"] != c.want.why || said["kind"] != "policy") || status == 202 && header.Get("Location") != "/api/v1/requests/1" {
						t.Fatalf("the API answers %d, %v, to be found at %s", status, said, header.Get("Location"))
					}
				case "portal":
					a := o.at(c.user).post("/clusters", url.Values{"template": {"web"}, "options_of": {"web"}, "name": {r.Name}, "size": {fmt.Sprint(c.size)},
						"services": {"web"}, "lease": {c.lease.String()}, "plan_hash": {preview.PlanHash}})
					switch c.want.status {
					case cluster.RequestRefused:
						a.reads(http.StatusForbidden, c.want.why)
					default:
						to := a.header.Get("Location")
						if a.status != http.StatusSeeOther || strings.HasPrefix(to, "/requests/") != (c.want.status == cluster.RequestWaiting || c.want.lease != c.lease) {
							t.Fatalf("the page answers %d to %s: %s", a.status, to, a.text())
						}
					}
				}
				q, err := o.app.Operation.Requests.Request(t.Context(), o.actor("boss"), 1)
				if err != nil {
					t.Fatalf("%s: %v", face, err)
				}
				got := outcome{q.Status, q.Message, q.Terms.Lease, q.Terms.Layout.Size()}
				if c.want.status == cluster.RequestRefused {
					got.lease = c.want.lease
				}
				if got != c.want || q.Requester != c.user || (q.Cluster != "") != (c.want.status == cluster.RequestAccepted) {
					t.Errorf("by the %s: %+v, want %+v", face, got, c.want)
				}
			}
		})
	}
}

func TestPolicyDecisionsAreShownBeforeRequesting(t *testing.T) {
	o := newFullSite(t)
	o.rules(fullSiteRules...)
	ask := func(size string) seen {
		return o.at("ada").post("/clusters/preview", url.Values{"template": {"web"}, "options_of": {"web"}, "name": {"x"}, "size": {size}, "services": {"web"}})
	}
	a := ask("11")
	a.reads(200, "Refused by policy", "At most 10 nodes; you asked for 11.")
	if !strings.Contains(a.body, "disabled") {
		t.Error("it can still be requested")
	}
	ask("4").reads(200, "Approval required", "1 approval from approvers", "More than 3 are many.", "Policy short: lease no expiry → 4 h", "Request approval")
	ask("1").lacks("Approval required", "policy")
}

func TestARequestIsDecidedOnInThePortal(t *testing.T) {
	o := newFullSite(t)
	o.rules(fullSiteRules...)
	ada, bob, cy := o.at("ada"), o.at("bob"), o.at("cy")
	ada.get("/requests").reads(200, "No requests are waiting for you", "No requests. Every cluster")
	wait := func(name string) string {
		a := ada.post("/clusters", ada.post("/clusters/preview", url.Values{"template": {"web"}, "options_of": {"web"}, "name": {name}, "size": {"6"}, "services": {"web"}}).fields())
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/requests/") {
			t.Fatalf("request: got %d: %s", a.status, a.text())
		}
		return a.header.Get("Location")
	}
	page := wait("web")
	a := ada.get(page)
	a.reads(200, "web", "waiting", "Requested by ada", "0 of 1 from approvers", "Policies", "More than 3 are many.", "lease no expiry → 4 h", "6 nodes",
		"Withdraw request")
	a.lacks("Your decision", "Emergency override")
	bob.get("/requests").reads(200, "1 request is waiting for you", "web")
	if n := bob.get("/clusters").text(); !strings.Contains(n, "Requests 1") {
		t.Errorf("the menu doesn't count the waiting request: %.200s", n)
	}
	o.at("vic").get(page).reads(404, "Request 1 doesn't exist.")

	// An error is shown beside the form, which keeps its input.
	form := bob.get(page)
	hash := form.fields().Get("plan_hash")
	if len(hash) != 64 {
		t.Fatalf("the form carries the hash %q", hash)
	}
	bob.post(page+"/review", url.Values{"act": {"deny"}, "plan_hash": {hash}}).reads(422, "ada needs to know why")
	bob.post(page+"/review", url.Values{"act": {"conditions"}, "plan_hash": {hash}, "reason": {"less will do"}, "size": {"many"}}).reads(422, "whole number", "less will do")
	bob.post(page+"/review", url.Values{"act": {"approve"}, "plan_hash": {"0123"}}).reads(409, "The plan has changed since you reviewed it.")
	ada.post(page+"/review", url.Values{"act": {"approve"}, "plan_hash": {hash}}).reads(403, "You can't approve your own request")

	// Conditions, accepted by the requester.
	if a := bob.post(page+"/review", url.Values{"act": {"conditions"}, "plan_hash": {hash}, "reason": {"less will do"}, "size": {"2"}, "lease": {"90m"}}); a.status != http.StatusSeeOther {
		t.Fatalf("offer: got %d: %s", a.status, a.text())
	}
	a = ada.get(page)
	a.reads(200, "offered", "bob approved with conditions", "2 instead of 6", "less will do", "Accept offer")
	ada.get("/requests").reads(200, "1 request is waiting for you")
	offered, err := o.app.Operation.Requests.Request(t.Context(), o.actor("ada"), 1)
	if err != nil {
		t.Fatal(err)
	}
	ada.post(page+"/confirm", url.Values{"act": {"confirm"}, "plan_hash": {hash}}).reads(409, "The plan has changed since you reviewed it.")
	if a := ada.post(page+"/confirm", url.Values{"act": {"confirm"}, "plan_hash": {offered.Offer.PlanHash}}); a.status != http.StatusSeeOther {
		t.Fatalf("confirm: got %d: %s", a.status, a.text())
	}
	ada.get(page).reads(200, "accepted", "View cluster", "bob approved with conditions")

	// Denied, withdrawn, and approved.
	page = wait("web2")
	cy.post(page+"/review", url.Values{"act": {"deny"}, "plan_hash": {hash}, "reason": {"too dear"}})
	ada.get(page).reads(200, "denied", "too dear")
	page = wait("web3")
	ada.post(page+"/withdraw", url.Values{"act": {"withdraw"}})
	cy.get(page).reads(200, "withdrawn")
	page = wait("web4")
	cy.post(page+"/review", url.Values{"act": {"approve"}, "plan_hash": {hash}})
	ada.get(page).reads(200, "accepted", "cy approved")
	ada.get("/requests/99").reads(404, "Request 99 doesn't exist")
	ada.get("/requests/x").reads(404)

	// Emergency override.
	page = wait("web5")
	boss := o.at("boss")
	boss.get(page).reads(200, "Emergency override")
	boss.post(page+"/break-glass", url.Values{"act": {"break_glass"}, "plan_hash": {hash}, "reason": {"help"}}).reads(422, "at least 10 characters")
	boss.post(page+"/break-glass", url.Values{"act": {"break_glass"}, "plan_hash": {hash}, "reason": {"the shop is down"}})
	ada.get(page).reads(200, "emergency override", "Started by emergency override", "the shop is down")
}

func TestPoliciesAreWrittenAndTriedInThePortal(t *testing.T) {
	o := newFullSite(t)
	o.rules(apppolicy.Policy{Name: "first", Order: 5, Enabled: true, When: "true", Effect: apppolicy.EffectAllow})
	boss := o.at("boss")
	boss.get("/admin").reads(200, "Policies")
	boss.get("/admin/policies").reads(200, "first", "allows and skips all policies below", "New policy", "Time zone")
	o.at("bob").get("/admin/policies").lacks("New policy")
	o.at("ada").get("/admin/policies").reads(403)
	boss.get("/admin/policies/new").reads(200, "Variables", "cost_per_hour")
	if _, err := o.app.Cluster.Creates.Ask(t.Context(), o.actor("ada"), cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 3}}); err != nil {
		t.Fatal(err)
	}
	in := url.Values{"name": {"small"}, "order": {"1"}, "when": {"nodes > 2 && node < 9"}, "effect": {"refuse"}, "reason": {"Not ${nodes}."}, "enabled": {"on"},
		"t_nodes": {"10"}, "t_cost": {"1"}, "t_lease": {"8h"}, "past": {"50"}}
	boss.post("/admin/policies", in).reads(422, `when, line 1, column 14: unknown name "node"`, "Did you mean nodes?", "nodes > 2 && node < 9")
	in.Set("when", "nodes > 2")
	boss.post("/admin/policies/try", in).reads(200, "Test result", "accept", "refuse: Not 10.", "change the decision for 1 of 1 recent request", "refuse: Not 3.")
	if a := boss.post("/admin/policies", in); a.status != http.StatusSeeOther || a.header.Get("Location") != "/admin/policies/small" {
		t.Fatalf("save: got %d: %s", a.status, a.text())
	}
	form := boss.get("/admin/policies/small").fields()
	form.Set("when", "nodes > 2") // what is in a textarea, the helper does not read
	form.Set("effect", "approve")
	form.Set("count", "2")
	form.Set("group", "finance")
	form.Set("remind", "4h")
	form.Set("high", "on")
	if a := boss.post("/admin/policies", form); a.status != http.StatusSeeOther {
		t.Fatalf("save: got %d: %s", a.status, a.text())
	}
	boss.post("/admin/policies", form).reads(409, "has changed since you opened it")
	boss.get("/admin/policies/small").reads(200, "Versions", "2 boss: approve")
	all, err := o.app.Policy.Policies.PolicyList(t.Context(), o.actor("boss"))
	if err != nil || len(all) != 2 || all[0].Approval == nil || all[0].Approval.RemindAfter != 4*time.Hour || !all[0].Approval.High {
		t.Fatalf("%+v, %v", all, err)
	}
	form.Set("count", "two")
	boss.post("/admin/policies", form).reads(422, "isn't a whole number")
	boss.post("/admin/policies/zone", url.Values{"time_zone": {"Mars"}}).reads(422, "Unknown time zone", "Europe/Berlin")
	boss.post("/admin/policies/zone", url.Values{"time_zone": {"Europe/Berlin"}})
	boss.post("/admin/policies/small/delete", nil)
	boss.get("/admin/policies").lacks("small")
}

// TestARequestsPageIsLive follows the page of a request while someone else approves it.
func TestARequestsPageIsLive(t *testing.T) {
	o := newFullSite(t)
	o.rules(fullSiteRules...)
	answer, err := o.app.Cluster.Creates.Ask(t.Context(), o.actor("ada"), cluster.CreateRequest{Name: "many", Request: layout.Request{Template: "web", Size: 4}})
	if err != nil || answer.Request.Status != cluster.RequestWaiting {
		t.Fatalf("asked: %+v, %v", answer.Request, err)
	}
	at := "/requests/" + fmt.Sprint(answer.Request.ID)
	s := o.at("ada")
	shown := s.get(at)
	for _, id := range []string{"request-head", "request-forms", "approvals", "request-ways", "request-facts"} {
		if !strings.Contains(shown.body, `id="`+id+`"`) {
			t.Errorf("the page has no part %s", id)
		}
	}
	if !strings.Contains(shown.body, static.URL("list.js")) || !strings.Contains(shown.body, "Withdraw") {
		t.Error("the page doesn't load the script that keeps it fresh, or has no way to withdraw")
	}
	r := s.follow("/live?page=" + url.QueryEscape(at))
	defer r.close()
	r.until("change", "0")
	if _, err := o.app.Operation.Requests.Review(t.Context(), o.actor("bob"), answer.Request.ID, appoperation.ReviewRequest{Verdict: cluster.VerdictApprove, PlanHash: answer.Request.Terms.PlanHash, Reason: "fine by bob"}); err != nil {
		t.Fatal(err)
	}
	e := r.until("change", "fine by bob")
	if !strings.Contains(e.data, "View cluster") || !strings.Contains(e.data, "request-ways") {
		t.Errorf("after the approval, the page receives %.2000s", e.data)
	}
	for path, want := range map[string]int{"/requests/999": http.StatusNotFound, "/requests/x": http.StatusNotFound, at + "/review": http.StatusNotFound} {
		if a := s.get("/live?page="+url.QueryEscape(path), "Accept", "text/event-stream"); a.status != want {
			t.Errorf("%s answers %d", path, a.status)
		}
	}
}
