//go:build real

package portal

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	appoperation "muster/app/operation"
	apppolicy "muster/app/policy"
	"muster/cmd/muster/wiring/faces"
	"muster/portal/portaltest"

	"github.com/chromedp/chromedp"
)

// TestRequestsInABrowser opens the pages of requests and policies on wide and narrow screens, light and dark: nothing is wider than the
// screen, and decisions work without a script.
func TestRequestsInABrowser(t *testing.T) {
	o := newFullSite(t)
	rules := append([]apppolicy.Policy{{Name: "emergency-and-a-rather-long-name", Order: 40, Enabled: true, When: `nodes > 4 && provider == "cloud" && !(groups.exists(g, g.startsWith("operations-and-more"))) && cost_per_hour > 1`,
		Effect: apppolicy.EffectApprove, Reason: "${nodes} nodes at ${cost_per_hour} an hour are a lot of money for a user without groups.",
		Approval: &apppolicy.Approval{Count: 2, Role: app.RoleAdmin, BreakGlass: "oncall"}}}, fullSiteRules...)
	o.rules(rules...)
	p := New(Config{UseCases: faces.Portal(o.app), Version: "1.0.0", Logger: quiet(), Now: o.clock.now})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	for i, size := range []int{6, 4, 2, 12} {
		lease := 48 * time.Hour
		_, err := o.app.Cluster.Creates.Ask(t.Context(), o.actor("ada"), cluster.CreateRequest{Name: fmt.Sprintf("shop-%d", i), Request: layout.Request{Template: "web", Size: size}, Lease: &lease})
		if err != nil && app.AsError(err).Reason != "policy" {
			t.Fatal(err)
		}
	}
	second, err := o.app.Operation.Requests.Request(t.Context(), o.actor("bob"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.app.Operation.Requests.Review(t.Context(), o.actor("bob"), 2, appoperation.ReviewRequest{Verdict: cluster.VerdictConditions, Reason: "Two will do for a test.", PlanHash: second.Terms.PlanHash,
		Conditions: appoperation.Conditions{Size: 2, Lease: 2 * time.Hour}}); err != nil {
		t.Fatal(err)
	}
	b := portaltest.Open(t, srv.URL)
	in := func(user string) {
		b.Open("/signin?next=%2Frequests")
		b.Do(chromedp.SendKeys(chromedp.ID("user"), user), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
		b.Until(`location.pathname=="/requests"`)
	}
	out := func() {
		b.Do(chromedp.Click(chromedp.CSS(".account-menu > summary")), chromedp.Click(chromedp.CSS(`form[action="/signout"] button`)))
		b.Until(`location.pathname=="/signin"`)
	}
	look := func(name, path string) {
		b.Open(path)
		b.Shoot(name)
	}
	in("ada")
	look("requests", "/requests")
	look("request-offered", "/requests/2")
	look("request-refused", "/requests/4")
	look("new-approval", "/clusters/new?template=web&options_of=web&size=6&services=web")
	out()
	in("boss")
	look("request-waiting", "/requests/1")
	look("policies", "/admin/policies")
	look("policy", "/admin/policies/eyes")
	out()
	in("bob")
	b.Open("/requests/1")
	b.Do(chromedp.SendKeys(chromedp.ID("reason"), "Go ahead."), chromedp.Click(chromedp.CSS(`#review button[value=approve]`)))
	b.Until(`document.querySelector("#approvals")&&document.querySelector("#approvals").textContent.includes("bob")`)
	if text := b.Text("#approvals"); !strings.Contains(text, "Go ahead.") {
		t.Errorf("the page says %q", text)
	}
}
