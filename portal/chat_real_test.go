//go:build real

package portal

import (
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/portal/portaltest"
)

// TestSlackPageInABrowser opens the page for Slack on wide and narrow screens, and sets the channel for approvals.
func TestSlackPageInABrowser(t *testing.T) {
	s, f := chatAt(t, "root")
	srv := httptest.NewServer(s.p)
	t.Cleanup(srv.Close)
	b := portaltest.Open(t, srv.URL)
	b.Open("/signin")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname!="/signin"`)
	b.Open("/admin/slack")
	b.Until(`document.querySelector("h1")`)
	b.Shoot("slack")
	b.Do(chromedp.SendKeys(chromedp.ID("channel-id"), "general"), chromedp.Submit(chromedp.ID("channel-id")))
	b.Until(`document.body.textContent.includes("not the id of a channel")`)
	b.Shoot("slack-refused")
	b.Open("/admin/slack")
	b.Do(chromedp.Submit(chromedp.ID("approvals-channel")))
	b.Until(`document.querySelector("#done")`)
	if len(f.asked) != 1 {
		t.Errorf("asked for: %v", f.asked)
	}
}
