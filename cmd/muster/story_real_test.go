//go:build real

package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"muster/app"
	"muster/app/identity"
	"muster/app/policy"
	"muster/portal/portaltest"
)

// story is a real server with real machines, and the people who come to it with browsers of their own.
type story struct {
	*process
}

const storyPassword = "correct horse battery"

func newStory(t *testing.T) *story {
	t.Helper()
	return &story{newProcess(t, "MUSTER_ADMIN_PASSWORD="+storyPassword)}
}

// comes makes a user and lets them sign in, with the password that they were given once and one of their own.
func (s *story) comes(b *portaltest.Browser, name string, role app.Role) {
	s.t.Helper()
	const own = "staple battery horse"
	made, err := s.client().Users.Create(s.t.Context(), identity.NewUser{Name: name, Role: role})
	if err != nil {
		s.t.Fatal(err)
	}
	b.Scheme(false)
	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), name), chromedp.SendKeys(chromedp.ID("password"), made.Password), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname=="/account/password" && document.getElementById("again")`)
	b.Do(chromedp.SendKeys(chromedp.ID("old"), made.Password), chromedp.SendKeys(chromedp.ID("new"), own), chromedp.SendKeys(chromedp.ID("again"), own), chromedp.Submit(chromedp.ID("again")))
	b.Until(`location.pathname!="/account/password" && document.querySelector("main")`)
}

// asksFrom has a policy that clusters of more nodes than that need someone's approval.
func (s *story) asksFrom(nodes string) {
	s.t.Helper()
	if _, err := s.client().Policies.Save(s.t.Context(), policy.Policy{Name: "four-eyes", Order: 1, Enabled: true, When: `kind == "create" && nodes > ` + nodes,
		Effect: policy.EffectApprove, Reason: "More than " + nodes + " nodes are reviewed by someone else.", Approval: &policy.Approval{Count: 1, Role: app.RoleApprover}}); err != nil {
		s.t.Fatal(err)
	}
}

func js(s string) string {
	b, _ := json.Marshal(s) // of a string it never fails
	return string(b)
}

// TestBrowserNewClusterStory fills in the form for a new cluster: the preview follows the typing, what cannot be says why not and what
// would work, errors are beside their field with nothing lost, and a link shows someone else the same form.
func TestBrowserNewClusterStory(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.asksFrom("6")
	b := portaltest.OpenFor(t, s.client().Settings().URL, 15*time.Minute)
	s.comes(b, "ada", app.RoleUser)
	preview := func(words ...string) {
		t.Helper()
		for _, w := range words {
			b.Until(`document.querySelector("#preview").textContent.replace(/\s+/g, " ").includes(` + js(w) + `)`)
		}
	}

	// The preview is there at once, and follows.
	b.Open("/clusters/new?template=web")
	b.Until(`window.htmx`)
	preview("3 nodes", "0.03")
	b.Type("name", "shop")
	b.Type("size", "5")
	preview("5 nodes", "0.05", "Layout 5 machines", "Estimated time")
	if n := b.Eval(`String(document.querySelectorAll("#preview .graph-plan .gb").length)`); n == "0" {
		t.Error("the plan is no picture")
	}
	b.Type("size", "7")
	preview("7 nodes", "0.07", "Approval required", "reviewed by someone else")
	b.Until(`document.querySelector("#preview .primary").textContent.includes("Request approval")`)
	b.Shoot("story-new-asks")

	// Too few: why not, and what would work.
	b.Type("size", "2")
	preview("What would work")
	if text := b.Text("#err-size"); !strings.Contains(text, "Choose 3–50 nodes (you entered 2)") {
		t.Errorf("beside the field is %q", text)
	}
	b.Shoot("story-new-why-not")
	b.Do(chromedp.Click(chromedp.CSS(`#preview .fixes a`)))
	b.Until(`document.getElementById("size").value=="3" && document.getElementById("name").value=="shop"`)
	preview("3 nodes")

	// What a service needs is left out.
	b.Open("/clusters/new?template=web&name=shop&size=4&services=lb&services=store")
	preview("What would work")
	b.Shoot("story-new-conflict")
	b.Do(chromedp.Click(chromedp.CSS(`#preview .fixes a`)))
	b.Until(`location.search.includes("options_of") && document.querySelector("#preview .primary")`)
	if name := b.Value("name"); name != "shop" {
		t.Errorf("the fix has lost the name: %q", name)
	}

	// Errors are beside their field; all input is kept, even after the form was sent.
	b.Open("/clusters/new?template=web")
	b.Until(`window.htmx && document.querySelector("#preview .primary")`)
	b.Type("name", "My Shop!")
	b.Until(`document.getElementById("err-name").textContent.trim()!="" && document.getElementById("name").getAttribute("aria-invalid")=="true"`)
	b.Type("size", "several")
	b.Until(`document.getElementById("err-size").textContent.includes("whole number") && document.getElementById("size").getAttribute("aria-invalid")=="true"`)
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#options details").open = true`))
	b.Do(chromedp.SetValue(chromedp.ID("hardware"), "medium"))
	b.Type("min_available", "lots")
	b.Until(`document.getElementById("err-min_available").textContent.trim()!=""`)
	if got := b.Focused(); got != "min_available" {
		t.Errorf("the focus went to %q while typing", got)
	}
	b.Do(chromedp.Click(chromedp.CSS(`#new button[formaction]`)))
	b.Until(`document.querySelector("#summary h2") && document.activeElement.id=="summary"`)
	for id, want := range map[string]string{"name": "My Shop!", "size": "several", "hardware": "medium", "min_available": "lots"} {
		if got := b.Value(id); got != want {
			t.Errorf("%s is %q after the form was sent, it was %q", id, got, want)
		}
	}
	b.Shoot("story-new-wrong")
	b.Do(chromedp.Click(chromedp.CSS(`#summary a[href="#size"]`)))
	b.Type("size", "4")
	b.Type("name", "shop-2")
	b.Type("min_available", "3")
	b.Until(`!document.querySelector("#new [aria-invalid=true]") && document.querySelector("#preview .primary")`)
	preview("4 nodes")

	// Someone else opens the link, and has the same before them.
	b.Until(`document.getElementById("share-link").href.includes("size=4") && document.getElementById("share-link").href.includes("name=shop-2")`)
	link := b.Eval(`(a => a.pathname + a.search)(document.getElementById("share-link"))`)
	words := b.Text("#preview .figures")
	other := b.Another()
	s.comes(other, "bob", app.RoleUser)
	other.Open(link)
	other.Until(`document.querySelector("#preview .primary")`)
	for id, want := range map[string]string{"name": "shop-2", "size": "4", "hardware": "medium", "min_available": "3"} {
		if got := other.Value(id); got != want {
			t.Errorf("the link has %q as %s, it was %q", got, id, want)
		}
	}
	if got := other.Text("#preview .figures"); got != words {
		t.Errorf("the link's preview says %q, want %q", got, words)
	}
	if list, err := s.client().Clusters.List(t.Context(), app.ClusterFilter{}); err != nil || len(list) != 0 {
		t.Errorf("looking has made something: %+v, %v", list, err)
	}
}

// TestBrowserTwoPeopleStory is about two people with browsers of their own, at the same time: one asks, the other approves on a condition,
// which the first sees without loading the page again, takes, and watches; then she extends, resizes and deletes, and gets a receipt.
func TestBrowserTwoPeopleStory(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.asksFrom("4")
	ada := portaltest.OpenFor(t, s.client().Settings().URL, 15*time.Minute)
	bob := ada.Another()
	s.comes(ada, "ada", app.RoleUser)
	s.comes(bob, "bob", app.RoleApprover)
	bob.Open("/requests")
	bob.Until(`(window.same = true) && document.querySelector("#waits").textContent.includes("No requests are waiting for you.")`)

	ada.Open("/clusters/new?template=web&name=shop&size=6&visibility=tenant")
	ada.Until(`window.htmx && document.querySelector("#preview .primary").textContent.includes("Request approval")`)
	ada.Do(chromedp.Click(chromedp.CSS(`#preview .primary`)))
	ada.Until(`location.pathname.startsWith("/requests/")`)
	asked := ada.Eval(`location.pathname`)
	ada.Open("/requests")
	ada.Until(`(window.same = true) && document.querySelector("#requests .row")`)

	bob.Until(`window.same && document.querySelector("#inbox") && document.querySelector("#inbox").textContent.includes("shop")`)
	bob.Do(chromedp.Click(chromedp.CSS(`#inbox a[href="` + asked + `"]`)))
	bob.Until(`location.pathname==` + js(asked) + ` && document.getElementById("review")`)
	bob.Type("reason", "Three will do for a test.")
	bob.Do(chromedp.Click(chromedp.CSS(`#review summary`)))
	bob.Type("size", "3")
	bob.Shoot("story-two-review")
	bob.Do(chromedp.Click(chromedp.CSS(`#review button[value=conditions]`)))

	ada.Until(`window.same && document.querySelector("#requests").textContent.includes("bob")`)
	ada.Open(asked)
	ada.Until(`document.querySelector("#offer") && document.querySelector("#offer").textContent.includes("Three will do for a test.")`)
	ada.Shoot("story-two-offer")
	ada.Do(chromedp.Click(chromedp.CSS(`#offer button.primary`)))
	ada.Until(`document.querySelector('a.primary[href^="/clusters/shop-"]') || location.pathname.startsWith("/clusters/shop-")`)
	list, err := s.client().Clusters.List(t.Context(), app.ClusterFilter{})
	if err != nil || len(list) != 1 || list[0].Size != 3 {
		t.Fatalf("%+v: %v", list, err)
	}
	home := "/clusters/" + list[0].ID

	// She watches it until it is ready, and so does he, on the list.
	ada.Open(home)
	ada.Do(chromedp.Evaluate[chromedp.Void](`window.same = true`))
	bob.Open("/clusters")
	bob.Do(chromedp.Evaluate[chromedp.Void](`window.same = true`))
	ada.Until(`window.same && document.querySelector("#sentence").textContent.includes("Running as requested")`)
	bob.Until(`window.same && document.querySelector("main").textContent.includes("active")`)

	// She extends it: the end is later than it was.
	before := ada.Text("#lease-end")
	ada.Do(chromedp.Click(chromedp.ID("extend")))
	ada.Until(`location.pathname==` + js(home) + ` && document.querySelector("#lease-end") && document.querySelector("#lease-end").textContent.replace(/\s+/g, " ").trim()!=` + js(before))

	// One node more, seen before it is done.
	ada.Open(home + "/change?kind=resize&size=4")
	ada.Until(`document.querySelector("#preview .primary")`)
	if text := ada.Text("#preview"); !strings.Contains(text, "n4") {
		t.Errorf("the preview of a resize says %q", text)
	}
	ada.Shoot("story-two-resize")
	ada.Do(chromedp.Click(chromedp.CSS(`#preview .primary`)))
	ada.Until(`location.pathname!=` + js(home+"/change") + ` && document.querySelector("h1")`)
	if v := s.stands(list[0].ID); len(v.Nodes) != 4 {
		t.Errorf("%d nodes after the resize, want 4", len(v.Nodes))
	}

	// And away with it.
	ada.Open(home + "/delete")
	ada.Do(chromedp.Click(chromedp.CSS(`.danger`)))
	ada.Until(`location.pathname==` + js(home) + ` && document.querySelector("#sentence").textContent.includes("all machines were deleted")`)
	s.await(list[0].ID)
	ada.Open(home + "/receipt")
	if text := ada.Text("main"); !strings.Contains(text, "n4") || !strings.Contains(text, "shop") {
		t.Errorf("the receipt says %q", text)
	}
	ada.Shoot("story-two-receipt")
}

// TestBrowserKeyboardStory does all of it without a mouse: Tab leads everywhere, and one sees where one is.
func TestBrowserKeyboardStory(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	b := portaltest.OpenFor(t, s.client().Settings().URL, 15*time.Minute)
	b.Scheme(false)
	const enter, escape, space = "\r", "\u001b", " "

	b.Open("/signin?next=%2Fclusters")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	b.Tab("#user")
	b.Keys("admin")
	b.Tab("#password")
	b.Keys(storyPassword)
	b.Keys(enter)
	b.Until(`location.pathname=="/clusters" && document.querySelector("h1")`)

	// The first thing is the way past the bar; what comes after it is the content.
	b.Tab(".skip")
	b.Keys(enter)
	b.Until(`location.hash=="#main" || document.activeElement.tagName=="MAIN"`)
	b.Tab(`main a[href^="/clusters/new"]`)
	b.Keys(enter)
	b.Until(`location.pathname=="/clusters/new" && window.htmx && document.querySelector("#preview .primary")`)

	// A search finds a template among many, Enter chooses it and sends nothing yet, Tab leads on, Enter asks.
	b.Tab(`details.picks > summary`)
	b.Keys(enter)
	b.Tab(`#pick-q`)
	b.Keys("balancer")
	b.Keys(enter)
	b.Until(`document.querySelector("input[name=template]:checked").value=="web" && document.activeElement.value=="web"`)
	b.Tab("#name")
	b.Keys("keys")
	b.Tab("#size")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`))
	b.Keys("3")
	b.Until(`document.querySelector("#preview").textContent.includes("3 nodes") && document.querySelector("#preview .primary")`)
	b.Tab("#preview .primary")
	b.Keys(enter)
	b.Until(`location.pathname.startsWith("/clusters/keys-") && document.querySelector("#sentence")`)
	home := b.Eval(`location.pathname`)
	b.Until(`document.querySelector("#sentence").textContent.includes("Running as requested")`)

	// Each tab of the page, by Tab and Enter.
	for _, tab := range []string{"plan", "logs", "history", "access"} {
		b.Tab(`main .tabs a[href^="` + home + `/` + tab + `"]`)
		b.Keys(enter)
		b.Until(`location.pathname==` + js(home+"/"+tab) + ` && document.querySelector("h1")`)
	}
	b.Open(home)
	b.Tab("#extend")
	b.Keys(space)
	b.Until(`document.querySelector("#lease-end")`)

	// The menu opens by Enter and closes by Escape, and the focus is where it was.
	b.Open(home)
	b.Tab(".account-menu > summary")
	b.Keys(enter)
	b.Until(`document.querySelector(".account-menu").open`)
	b.Keys(escape)
	b.Until(`!document.querySelector(".account-menu").open && document.activeElement.matches(".account-menu > summary")`)

	// What cannot be undone is asked for first; "Keep it" comes before it.
	b.Tab(`main a[href="` + home + `/delete"]`)
	b.Keys(enter)
	b.Until(`location.pathname==` + js(home+"/delete") + ` && document.querySelector(".danger")`)
	b.Tab(`.ask a[href="` + home + `"]`)
	b.Tab(`.ask .danger`)
	b.Keys(space)
	b.Until(`location.pathname==` + js(home) + ` && document.querySelector("#sentence").textContent.includes("all machines were deleted")`)
}
