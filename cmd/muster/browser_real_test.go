//go:build real

package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/app"
	"muster/portal/portaltest"
)

// TestBrowserStory is a person's way through the whole of Muster: a real server, real machines, a real browser.
func TestBrowserStory(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery"
	p := newProcess(t, "MUSTER_ADMIN_PASSWORD="+password)
	b := portaltest.Open(t, p.client().Settings().URL)
	b.Scheme(false)

	b.Open("/")
	b.Until(`location.pathname=="/signin"`)
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "admin"), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/" && document.querySelector(".welcome")`)
	b.Shoot("story-1-home")

	b.Open("/clusters/new?template=web")
	b.Do(chromedp.SendKeys(chromedp.ID("name"), "shop"))
	b.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("size").select()`), chromedp.SendKeys(chromedp.ID("size"), "7"))
	b.Until(`document.querySelector("#preview .timeline") && document.querySelector("#preview").textContent.includes("7 nodes")`)
	b.Shoot("story-2-new")

	b.Do(chromedp.Click(chromedp.CSS("#preview .primary")))
	b.Until(`location.pathname.startsWith("/clusters/shop-")`)
	b.Shoot("story-3-creating")
	b.Until(`document.querySelector("#sentence").textContent.includes("Running as requested")`)
	b.Until(`document.querySelectorAll("#lines li").length > 15`)
	b.Shoot("story-4-active")

	list, err := p.client().Clusters.List(t.Context(), app.ClusterFilter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d clusters: %v", len(list), err)
	}
	v := p.await(list[0].ID)
	p.page(v)
	if text := b.Text("main"); !strings.Contains(text, v.Nodes[6].Hostname) || !strings.Contains(text, "ssh -i") {
		t.Errorf("the page does not tell how to reach the nodes: %s", text)
	}

	b.Open("/clusters")
	b.Until(`document.querySelector("main").textContent.includes("shop")`)
	b.Shoot("story-5-list")
	b.Open("/clusters/" + v.ID + "/delete")
	b.Shoot("story-6-delete")
	b.Do(chromedp.Click(chromedp.CSS(".danger")))
	b.Until(`document.querySelector("#sentence").textContent.includes("all machines were deleted")`)
	if v = p.await(v.ID); v.Status != app.ClusterDeleted {
		t.Errorf("cluster is %s: %s", v.Status, v.Message)
	}
	b.Shoot("story-7-deleted")
}
