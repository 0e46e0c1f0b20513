//go:build real

package portal

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/portal/portaltest"

	"github.com/chromedp/chromedp"
)

// openBrowser opens a browser on a portal of the fake, signed in.
func openBrowser(t *testing.T, user string) (*fake, *Portal, *portaltest.Browser) {
	f := newFake(time.Now)
	p := New(Config{UseCases: useCases(f), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	b.Scheme(false)
	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), user), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname!="/signin"`)
	return f, p, b
}

func (f *fake) lake(t *testing.T, name string) string {
	t.Helper()
	s := &testSite{t: t, f: f}
	return s.cluster(ada, name, "hadoop", 3)
}

// TestBrowserFrame goes through the frame of all pages: the bar, the menu of a phone, the keyboard, and a page that moves by itself.
func TestBrowserFrame(t *testing.T) {
	f, _, b := openBrowser(t, "root")

	b.Open("/queue")
	b.Until(`document.querySelector("#list").textContent.includes("No operations in progress or queued")`)
	id := f.lake(t, "lake")
	f.advance(id, 3)
	b.Until(`document.querySelector("#list").textContent.includes("3 of 25")`)
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".box").focus()`))
	f.advance(id, 2)
	b.Until(`document.querySelector("#list").textContent.includes("5 of 25")`)
	b.Until(`document.activeElement.matches(".box")`) // what had the focus has it still
	b.Shoot("queue")

	// A phone has all in one menu, which works without a script.
	b.Size(390, 844)
	b.Until(`getComputedStyle(document.querySelector(".nav")).display=="none" && getComputedStyle(document.querySelector(".side-nav")).display=="none"`)
	b.Do(chromedp.Click(chromedp.CSS(".account-menu > summary")))
	b.Until(`document.querySelector(".account-menu .narrow a[href='/clusters']").offsetHeight > 30`)
	b.Shoot("menu")
	b.Size(390, 844)
	b.Do(chromedp.Click(chromedp.CSS(".account-menu .narrow a[href='/admin']")))
	b.Until(`location.pathname=="/admin"`)
	b.Size(1280, 900)
	b.Shoot("admin")

	// By keyboard: the first thing is the way to the content.
	b.Open("/clusters")
	b.Keys("\t")
	b.Until(`document.activeElement.className=="skip"`)
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".account-menu > summary").focus()`))
	b.Keys("\r")
	b.Until(`document.querySelector(".account-menu").open`)
	b.Shoot("menu-wide")
	b.Keys("\u001b")
	b.Until(`!document.querySelector(".account-menu").open && document.activeElement.tagName=="SUMMARY"`)
	if nav := b.Text(".nav"); !strings.Contains(nav, "Home Clusters") || !strings.Contains(nav, "Admin") {
		t.Errorf("the bar is %q", nav)
	}
}

// TestBrowserOvernight leaves a page open: the sign-in ends, the server is another one, no one looks.
func TestBrowserOvernight(t *testing.T) {
	f, p, b := openBrowser(t, "root")
	p.live.attend = 100 * time.Millisecond
	b.Open("/queue")
	b.Until(`document.querySelector("#list").textContent.includes("No operations in progress or queued")`)
	b.Do(chromedp.Evaluate[chromedp.Void](`document.body.dataset.version="0.9"; window.dispatchEvent(new Event("online"))`))
	b.Until(`!document.querySelector("#news").hidden && document.querySelector("#news").textContent.includes("Muster was updated")`)
	b.Shoot("updated")
	f.mu.Lock()
	f.signIns[0] = ""
	f.mu.Unlock()
	b.Until(`location.pathname=="/signin" && location.search.includes("queue")`)
}
