//go:build real

package portal

import (
	"context"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/app"
	"muster/app/execution"
	"muster/app/lease"
	"muster/portal/portaltest"
)

// TestBrowserHome looks at the home of someone new, of someone with much, and of an admin.
func TestBrowserHome(t *testing.T) {
	h := newFakeHome(newFake(time.Now))
	p := New(Config{UseCases: useCases(h.fake, h), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	b.Scheme(false)
	enter := func(user string) {
		b.Open("/signin")
		b.Do(chromedp.SendKeys(chromedp.ID("user"), user), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
		b.Until(`location.pathname=="/" && document.querySelector("h1").textContent.includes("` + user + `")`)
	}
	enter("ada")
	b.Shoot("home-new")
	if err := h.furnish(); err != nil {
		t.Fatal(err)
	}
	b.Open("/")
	b.Shoot("home")
	b.Do(chromedp.Click(chromedp.CSS(`#home-leases .button`)))
	b.Until(`location.pathname=="/clusters/c01" && location.hash=="#lease"`)
	b.Open("/")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("form[action='/signout']").submit()`))
	b.Until(`location.pathname=="/signin"`)
	enter("root")
	b.Until(`document.querySelector("#home-cost-tenant svg")`)
	b.Shoot("home-admin")
}

// leased has leases with half a year left, so that clocks may be set in between.
type leased struct{ *fakeHome }

func (leased) LeaseOutlook(_ context.Context, _ app.Actor, cluster string) (lease.Outlook, error) {
	return lease.Outlook{Cluster: cluster, Name: "lake", Owner: "ada", Access: app.AccessOwner, Until: time.Now().Add(182 * 24 * time.Hour)}, nil
}

func (leased) ManualSteps(context.Context, app.Actor, execution.ManualStepQuery) ([]execution.ManualStep, error) {
	return nil, nil
}

// TestBrowserTimes reads a cluster in two time zones: times on hover and in the log are in the reader's, and those that arrive later too.
func TestBrowserTimes(t *testing.T) {
	h := newFakeHome(newFake(time.Now))
	if err := h.furnish(); err != nil {
		t.Fatal(err)
	}
	p := New(Config{UseCases: useCases(h.fake, leased{h}), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	b.Open("/signin")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/"`)
	for zone, sign := range map[string]string{"Asia/Kolkata": "GMT+5:30", "America/Phoenix": "GMT-7", "UTC": "UTC"} {
		b.Zone(zone)
		b.Open("/")
		b.Until(`document.querySelector("time[title]") && [...document.querySelectorAll("time[title]")].every((x) => x.title.endsWith(" ` + sign + `"))`)
		// As an update would put it there.
		b.Do(chromedp.Evaluate[chromedp.Void](`(() => { const x = document.createElement("p"); x.id = "later";
			x.innerHTML = '<time datetime="2026-01-02T20:00:00Z">2 Jan 2026 20:00:00 UTC</time><time datetime="2026-01-02T20:00:00Z">20:00:00</time>'; document.body.append(x); })()`))
		want := map[string]string{"Asia/Kolkata": "3 Jan 2026 01:30:00 GMT+5:3001:30:00", "America/Phoenix": "2 Jan 2026 13:00:00 GMT-713:00:00", "UTC": "2 Jan 2026 20:00:00 UTC20:00:00"}[zone]
		b.Until(`document.querySelector("#later").textContent == "` + want + `"`)
		// A form takes its time in the same zone, and says so; a card that arrives later does too.
		b.Open("/clusters/c01")
		field := `(([f, l, z, m, zone]) => l.textContent == zone && (z.value || "UTC") == zone &&
			new Date(new Date(m + "Z") - ` + map[string]string{"Asia/Kolkata": "-330", "America/Phoenix": "420", "UTC": "0"}[zone] + ` * 60000).toISOString().slice(0, 16) == f.value)
			([document.querySelector("#until"), document.querySelector("label[for=until] [data-zone]"), document.querySelector("#until").form.elements.zone, began, Intl.DateTimeFormat().resolvedOptions().timeZone])` // some zones have two names
		b.Until(`document.querySelector("#lease-end time")`)
		b.Do(chromedp.Evaluate[chromedp.Void](`window.began = document.querySelector("#lease-end time").dateTime.slice(0, 16)`))
		b.Until(field)
		b.Do(chromedp.Evaluate[chromedp.Void](`fetch(location.href).then((r) => r.text()).then((html) => {
			const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("#lease");
			document.querySelector("#lease").replaceWith(document.importNode(fresh, true)); window.came = true; })`))
		b.Until(`window.came && ` + field)
		b.Until(`/ ` + regexp.QuoteMeta(sign) + `$/.test(document.querySelector("#lease-end time").textContent)`)
	}
}
