//go:build real

package portal

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/portal/portaltest"
)

// TestBrowserExplanation asks for what cannot be, reads why, and takes the first way out.
func TestBrowserExplanation(t *testing.T) {
	f := newFake(time.Now)
	p := New(Config{UseCases: useCases(f, explaining{Creates: f}), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	b.Scheme(false)
	b.Open("/signin")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "root"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname!="/signin"`)
	b.Open("/clusters/new?template=hadoop&size=4")
	b.Do(chromedp.SendKeys(chromedp.ID("name"), "lake"))
	b.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("size").select()`), chromedp.SendKeys(chromedp.ID("size"), "7"))
	b.Until(`document.querySelector("#preview .fixes a")`)
	b.Shoot("new-explained")
	b.Do(chromedp.Click(chromedp.CSS("#preview .fixes a")))
	b.Until(`document.querySelector("#size").value=="8"&&document.querySelector("#name").value=="lake"&&document.querySelector("#preview .timeline")`)
	b.Shoot("new-fixed")
	b.Open("/clusters/new?template=web&options_of=web&size=3&services=wbe&services=haproxi")
	b.Until(`document.querySelector("#preview .reasons")`)
	b.Shoot("new-wrong")
}
