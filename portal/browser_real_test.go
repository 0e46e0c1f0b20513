//go:build real

package portal

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/portal/portaltest"
)

// TestBrowser is a person's story: sign in, look at a plan while typing, create, watch, see it fail and be resumed.
func TestBrowser(t *testing.T) {
	f := newFake(time.Now)
	p := New(Config{UseCases: useCases(f), Version: "1.0.0", SandboxNote: "This is a sandbox: machines are namespaces on this host.", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := portaltest.Open(t, srv.URL)
	logged := chromedp.Events(b.Ctx, cdplog.EntryAdded)
	thrown := chromedp.Events(b.Ctx, runtime.ExceptionThrown)
	if _, err := chromedp.Call(b.Ctx, cdplog.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	trouble := make(chan string, 100)
	listen, deaf := context.WithCancel(b.Ctx)
	defer deaf()
	go func() {
		for e, err := range logged {
			if err != nil || listen.Err() != nil {
				return
			}
			// A sign-in that is refused, a preview that is refused and a stream that ends are part of the story.
			if e.Entry != nil && e.Entry.Level == "error" && e.Entry.Source != "network" {
				trouble <- e.Entry.Text
			}
		}
	}()
	go func() {
		for e, err := range thrown {
			if err != nil || listen.Err() != nil {
				return
			}
			trouble <- e.ExceptionDetails.Text
		}
	}()
	b.Scheme(false)

	// Sign in, with a mistake first.
	b.Open("/clusters/new?template=hadoop")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), "wrong"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`document.querySelector("#err-password").textContent.includes("do not fit")`)
	b.Shoot("signin-refused")
	b.Open("/signin")
	b.Shoot("signin")
	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/clusters"`)
	b.Shoot("clusters-empty")

	// A preview that follows the typing.
	b.Open("/clusters/new")
	b.Do(chromedp.Click(chromedp.CSS(`input[value=hadoop]`)))
	b.Until(`document.querySelector("#preview .timeline")`)
	b.Do(chromedp.SendKeys(chromedp.ID("name"), "lake"))
	b.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("size").select()`), chromedp.SendKeys(chromedp.ID("size"), "60"))
	b.Until(`document.querySelector("#err-size").textContent.includes("you entered 60")`)
	if v := b.Text("#preview"); !strings.Contains(v, "No preview") {
		t.Errorf("the preview of a size that cannot be says %q", v)
	}
	b.Shoot("new-refused")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("size").select()`), chromedp.SendKeys(chromedp.ID("size"), "5"))
	b.Until(`document.querySelector("#preview .figures")&&document.querySelector("#err-size").textContent==""`)
	if focused, _ := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`document.activeElement.id`)); focused != "size" {
		t.Errorf("the focus went to %q while typing", focused)
	}
	b.Do(chromedp.Click(chromedp.CSS("#options summary")))
	b.Shoot("new")

	// Create and watch.
	b.Do(chromedp.Click(chromedp.CSS("#preview .primary")))
	b.Until(`location.pathname=="/clusters/c01"`)
	b.Until(`document.querySelector("#sentence").textContent.includes("0 of")`)
	f.advance("c01", 17)
	b.Until(`document.querySelector("#sentence").textContent.includes("17 of")`)
	b.Until(`document.querySelectorAll("#plan td .m-succeeded").length==17`)
	b.Until(`document.querySelectorAll("#lines li").length>30`)
	b.Until(`document.querySelector("#lines").scrollTop>0`)
	b.Shoot("cluster-running")

	// Pause and resume; open the pages for waiting steps, the queue and cancel.
	b.Do(chromedp.Click(chromedp.ID("pause")))
	b.Until(`document.querySelector("#sentence").textContent.includes("Paused after 17")&&document.querySelector("#resume")`)
	b.Shoot("cluster-paused")
	b.Open("/clusters/c01/waiting")
	b.Shoot("cluster-waiting")
	b.Open("/clusters/c01/cancel")
	b.Shoot("cluster-cancel")
	b.Open("/clusters/c01")
	b.Do(chromedp.Click(chromedp.ID("resume")))
	b.Until(`document.querySelector("#pause")`)
	f.advance("c01", 0)
	b.Until(`document.querySelectorAll("#plan td .m-succeeded").length==17`)

	// A hidden page closes its stream; f sees it go.
	b.Do(chromedp.Evaluate[chromedp.Void](`Object.defineProperty(document,"hidden",{value:true,configurable:true});document.dispatchEvent(new Event("visibilitychange"))`))
	eventually(t, func() bool { return f.watching(app.ClusterTopic("c01")) == 0 })
	f.advance("c01", 3)
	b.Do(chromedp.Evaluate[chromedp.Void](`delete document.hidden;document.dispatchEvent(new Event("visibilitychange"))`))
	b.Until(`document.querySelector("#sentence").textContent.includes("20 of")`)

	// Fail, and resume.
	f.failStep("c01", "n3.datanode.start", "The script ended with 1.", "Starting datanode", "java.net.BindException: Address already in use", "datanode is not running")
	b.Until(`document.querySelector(".failure")&&document.querySelector(".failure").textContent.includes("BindException")`)
	b.Shoot("cluster-failed")
	b.Open("/clusters/c01/roll-back")
	b.Shoot("cluster-roll-back")
	b.Open("/clusters/c01")
	b.Do(chromedp.Click(chromedp.ID("resume")))
	b.Until(`document.querySelector("#now progress")`)
	for f.advance("c01", 8) {
	}
	b.Until(`document.querySelector("#sentence").textContent.includes("Running as requested")`)
	b.Shoot("cluster-active")

	// Many clusters, and a big one.
	for i, r := range []cluster.CreateRequest{
		{Name: "shop-staging", Request: layout.Request{Template: "web", Size: 4}},
		{Name: "orders-db", Request: layout.Request{Template: "single", Size: 1}},
		{Name: "nightly-batch", Request: layout.Request{Template: "hadoop", Size: 50}},
	} {
		v, err := f.CreateCluster(b.Ctx, app.Actor{Tenant: "default", User: []string{"ada", "root", "ada"}[i], Role: app.RoleUser}, r)
		if err != nil {
			t.Fatal(err)
		}
		f.advance(v.ID, []int{9, 3, 240}[i])
	}
	f.failStep("c03", "n1.postgres.install", "The script ended with 100.")
	b.Open("/clusters")
	b.Shoot("clusters")
	b.Open("/clusters/c04")
	b.Shoot("cluster-big")
	b.Open("/clusters/c01?node=n2#log")
	b.Shoot("cluster-filtered")
	b.Open("/clusters/c01/delete")
	b.Shoot("delete")
	b.Do(chromedp.Click(chromedp.CSS(".danger")))
	b.Until(`location.pathname=="/clusters/c01"&&document.querySelector("h1").textContent.includes("deleting")`)
	f.advance("c01", 2)
	b.Until(`document.querySelector("#sentence").textContent.includes("2 of 5")`)
	for f.advance("c01", 9) {
	}
	b.Until(`document.querySelector("#sentence").textContent.includes("all machines were deleted")`)
	b.Shoot("cluster-deleted")
	b.Open("/clusters/new?template=hadoop&size=40")
	b.Shoot("new-big")
	b.Open("/clusters/nothing")
	b.Shoot("missing")
	select {
	case s := <-trouble:
		t.Errorf("the browser complains: %s", s)
	default:
	}
}
