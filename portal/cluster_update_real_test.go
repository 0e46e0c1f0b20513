//go:build real

package portal

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/policy"
	"muster/portal/portaltest"
)

// TestBrowserChange changes a running cluster as a person would: preview, apply, watch.
func TestBrowserChange(t *testing.T) {
	f := newFake(time.Now)
	w := &fakeUpdates{fake: f}
	p := New(Config{UseCases: useCases(f, w), Version: "1.0.0", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	v, err := f.CreateCluster(t.Context(), ada, cluster.CreateRequest{Name: "lake", Request: layout.Request{Template: "hadoop", Size: 3}})
	if err != nil {
		t.Fatal(err)
	}
	rest := func() {
		for f.advance(v.ID, 100) {
		}
	}
	rest()
	b := portaltest.Open(t, srv.URL)
	b.Scheme(false)
	at := "/clusters/" + v.ID
	b.Open("/signin?next=" + at)
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="` + at + `" && document.querySelector("#change .stepper")`)
	w.newer, w.unhealthy = true, []string{"n2"}
	b.Open(at)
	b.Do(chromedp.Click(chromedp.CSS(".menu summary")))
	b.Shoot("change-panel")
	w.newer, w.unhealthy = false, nil

	parametered(f)
	f.mu.Lock()
	f.catalog.Templates["hadoop"].Parameters = f.catalog.Templates["web"].Parameters
	f.find(v.ID).Parameters = map[string]any{"port": 8080, "title": "Lake", "tls": true, "mode": "safe", "keep": "7d"}
	f.mu.Unlock()
	b.Open(at + "/change?kind=reconfigure")
	b.Do(chromedp.SetValue(chromedp.ID("set-port"), "70000"), chromedp.Submit(chromedp.ID("set-port")))
	b.Until(`document.querySelector("#err-set-port strong")!=null&&document.querySelector("#set-port").value=="70000"`)
	b.Shoot("change-parameters")

	// The plus counts up without leaving the page, and Enter previews its value.
	b.Open(at)
	b.Do(chromedp.Click(chromedp.CSS(`#change [data-step="1"]`)), chromedp.Click(chromedp.CSS(`#change [data-step="1"]`)))
	b.Until(`document.querySelector("#change input[name=size]").value=="5"&&location.pathname=="` + at + `"`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#change input[name=size]"), "\r"))
	b.Until(`location.pathname=="` + at + `/change"&&document.querySelector("#what").textContent=="Grow from 3 to 5 nodes"`)
	b.Shoot("change-grow")
	b.Do(chromedp.Click(chromedp.ID("do")))
	b.Until(`location.pathname=="` + at + `"&&document.querySelector("#sentence").textContent.includes("Growing from 3 to 5 nodes")`)
	f.advance(v.ID, 4)
	b.Until(`document.querySelector("#sentence").textContent.includes("4 of")`)
	b.Shoot("change-growing")
	rest()
	b.Until(`document.querySelector("#sentence").textContent.includes("Running as requested")&&document.querySelector("#change .stepper")`)

	for name, query := range map[string]string{
		"shrink": "kind=resize&size=2", "resize-refused": "kind=resize&size=77", "add": "kind=add_services&services=haproxy", "restart": "kind=restart",
		"remove": "kind=remove_services&services=nodemanager", "repair-nothing": "kind=repair", "repair": "kind=repair&nodes=n2&nodes=n3", "start-form": "kind=start&services=datanode",
	} {
		b.Open(at + "/change?" + query)
		b.Shoot("change-" + name)
	}
	w.newer = true
	b.Open(at + "/change?kind=upgrade")
	b.Shoot("change-upgrade")
	w.refuses = &policy.Decision{Outcome: policy.OutcomeApprove, Needs: []policy.RequiredApproval{{Approval: policy.Approval{Count: 1, Role: app.RoleApprover}, Reason: "It touches every node."}}}
	b.Open(at + "/change?kind=stop")
	b.Shoot("change-stop-approval")
	w.refuses = nil

	// The configuration is edited as a whole, and only what differs is sent.
	b.Open(at + "/change?kind=reconfigure")
	b.Until(`document.querySelector("#config").value.includes("replication")`)
	b.Do(chromedp.Evaluate[chromedp.Void](`const c=document.getElementById("config");c.value=c.value.replace("\"replication\": 3","\"replication\": 2")`))
	b.Do(chromedp.Submit(chromedp.ID("config")))
	b.Until(`document.querySelector("#changes")`)
	b.Shoot("change-configuration")
	b.Do(chromedp.Click(chromedp.ID("do")))
	b.Until(`location.pathname=="` + at + `"&&document.querySelector("#sentence").textContent.includes("Reconfiguring")`)
	rest()
	b.Until(`document.querySelector("#sentence").textContent.includes("Running as requested")`)
}
