//go:build real

package portal

import (
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/portal/portaltest"
)

// TestHookPagesInABrowser opens the pages of webhooks and notifications on wide and narrow screens, and changes a hook.
func TestHookPagesInABrowser(t *testing.T) {
	s, f := hooksAt(t, "root")
	srv := httptest.NewServer(s.p)
	t.Cleanup(srv.Close)
	b := portaltest.Open(t, srv.URL)
	b.Open("/signin")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname!="/signin"`)
	for name, path := range map[string]string{"hooks": "/admin/webhooks", "hook": "/admin/webhooks/chat", "hook-stopped": "/admin/webhooks/old", "hook-delivery": "/admin/webhooks/chat/deliveries/100",
		"hook-delete": "/admin/webhooks/chat/delete", "notices": "/notifications/history"} {
		b.Open(path)
		b.Until(`document.querySelector("h1")`)
		b.Shoot(name)
	}
	b.Open("/admin/webhooks")
	b.Do(chromedp.SendKeys(chromedp.ID("name"), "ops"), chromedp.SendKeys(chromedp.ID("url"), "http://ops.example.com"), chromedp.Submit(chromedp.ID("name")))
	b.Until(`document.querySelector("#err-url").textContent.includes("https")`)
	b.Shoot("hooks-refused")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("url").value=""`), chromedp.SendKeys(chromedp.ID("url"), "https://ops.example.com"), chromedp.Submit(chromedp.ID("name")))
	b.Until(`document.querySelector("#secret-text")`)
	b.Shoot("hook-secret")
	if len(f.hooks) != 3 {
		t.Errorf("%d hooks", len(f.hooks))
	}
	// A pending delivery is followed until it ends.
	b.Open("/admin/webhooks/old")
	b.Do(chromedp.Click(chromedp.CSS(`form[action$="/test"] button`)))
	b.Until(`location.hash=="#list" && document.querySelector("#list").textContent.includes("waiting")`)
	f.arrives("old")
	b.Until(`document.querySelector("#list").textContent.includes("delivered")`)
}
