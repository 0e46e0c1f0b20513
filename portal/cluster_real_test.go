//go:build real

package portal

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/portal/portaltest"
)

// TestBrowserCluster is the story of one cluster's pages: watch its plan as a graph, look for a line, follow a link to it, take an
// inventory along, and leave the page open until someone else asks for something.
func TestBrowserCluster(t *testing.T) {
	f := newFake(time.Now)
	p := New(Config{UseCases: useCases(f), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	v, err := f.CreateCluster(t.Context(), ada, cluster.CreateRequest{Name: "lake", Request: layout.Request{Template: "hadoop", Size: 5}})
	if err != nil {
		t.Fatal(err)
	}
	home := "/clusters/" + v.ID
	f.advance(v.ID, 9)
	b := portaltest.Open(t, srv.URL)
	b.Scheme(false)
	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname!="/signin"`)
	script := func(js string) { b.Do(chromedp.Evaluate[chromedp.Void](js)) }

	// The graph moves without being loaded again.
	b.Open(home + "/plan")
	script(`window.same = true`)
	b.Until(`document.querySelectorAll(".graph .g-succeeded").length==9`)
	eventually(t, func() bool { return f.watching(app.ClusterTopic(v.ID)) == 1 })
	f.advance(v.ID, 6)
	b.Until(`window.same && document.querySelectorAll(".graph .g-succeeded").length==15`)
	b.Until(`document.querySelector('[data-count=succeeded]').textContent=="15"`)
	b.Shoot("cluster-graph")
	b.Open(home + "/plan?plan=timeline")
	script(`window.same = true`)
	b.Until(`document.querySelectorAll(".gantt .gn-done").length==15 && document.querySelector(".gantt .gnow")`)
	f.advance(v.ID, 2)
	b.Until(`window.same && document.querySelectorAll(".gantt .gn-done").length==17`)
	b.Shoot("cluster-timeline")

	// Look for a line, go to it for good, and see what comes.
	b.Open(home + "/logs?q=bootstrap+begins")
	b.Until(`document.querySelectorAll("#lines li").length>=1`)
	if text := b.Text("#lines"); strings.Contains(text, "install") {
		t.Errorf("the search for bootstrap finds %.200s", text)
	}
	b.Do(chromedp.Click(chromedp.CSS("#lines li a")))
	b.Until(`document.querySelector(".meant") && location.hash.startsWith("#L")`)
	b.Shoot("cluster-log-line")
	b.Open(home + "/logs")
	eventually(t, func() bool { return f.watching(app.ClusterTopic(v.ID)) == 1 })
	f.advance(v.ID, 1)
	b.Until(`document.querySelector("#lines").lastElementChild.textContent.includes("(1.4.2-1)")`)
	b.Shoot("cluster-logs")
	b.Open(home + "/access?format=ansible")
	if text := b.Text("#inventory-text"); !strings.Contains(text, "[muster_lake]") {
		t.Errorf("the inventory reads %.200s", text)
	}
	b.Shoot("cluster-access")

	// Hidden and shown again, a page catches up.
	for f.advance(v.ID, 20) {
	}
	b.Open(home)
	eventually(t, func() bool { return f.watching(app.ClusterTopic(v.ID)) == 1 })
	b.Shoot("cluster-rest")
	script(`Object.defineProperty(document,"hidden",{value:true,configurable:true});document.dispatchEvent(new Event("visibilitychange"))`)
	eventually(t, func() bool { return f.watching(app.ClusterTopic(v.ID)) == 0 })
	f.failStepAfter(v.ID)
	script(`delete document.hidden;document.dispatchEvent(new Event("visibilitychange"))`)
	b.Until(`document.querySelector("#sentence").textContent.includes("failed")`)
	eventually(t, func() bool { return f.watching(app.ClusterTopic(v.ID)) == 1 })

	// What is half typed stays while someone else does something, and what they do is seen soon.
	script(`document.body.insertAdjacentHTML("beforeend", '<button id="elsewhere">elsewhere</button>');
		const part = document.querySelector("#more");
		part.insertAdjacentHTML("beforeend", '<form action="/x"><input id="typed" name="typed"></form>');
		document.querySelector("#typed").focus({preventScroll: true}); window.same = true`)
	b.Do(chromedp.SendKeys(chromedp.ID("typed"), "half"))
	begun := time.Now()
	if _, err := f.DeleteCluster(t.Context(), root, v.ID); err != nil {
		t.Fatal(err)
	}
	b.Until(`window.same && document.querySelector("#plan").textContent.includes("to delete, requested by root")`)
	if took := time.Since(begun); took > 10*time.Second { // it looks again even when nothing happened
		t.Errorf("a page at rest learns of a new operation after %v", took)
	}
	b.Until(`document.querySelector("#typed") && document.querySelector("#typed").value=="half" && !document.querySelector("#more").textContent.includes("delete")`)
	script(`document.querySelector("#elsewhere").focus()`)
	b.Until(`document.querySelector("#more").textContent.includes("deletion")`)
	b.Open(home + "/history")
	b.Shoot("cluster-history")
}
