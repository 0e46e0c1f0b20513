package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
)

// A cluster is shared on its page, and seen by those it is shared with, as far as they may.
func TestAClusterIsSharedOnItsPage(t *testing.T) {
	o := newFullSite(t)
	n := apptest.NewCluster(app.DefaultTenant, "web", 1, o.clock.now(), apptest.Chain(1))
	n.Nodes[0].Node.Status = app.NodeReady
	if _, err := o.store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	ada, cy := o.at("ada"), o.at("cy")
	ada.get("/clusters").reads(200, "web", "Private")
	cy.get("/clusters").lacks("web-1")
	cy.get("/clusters/web-1").reads(404, "doesn't exist")
	ada.get("/clusters/web-1").reads(200, "Share")
	ada.get("/clusters/web-1/sharing").reads(200, "Share cluster", "Visibility", "Person or group", "8 hours")
	share := func(want int, form url.Values, says ...string) {
		t.Helper()
		a := ada.post("/clusters/web-1/sharing", form)
		if a.status != want {
			t.Errorf("%v is answered %d: %s", form, a.status, a.text())
		}
		for _, s := range says {
			if !strings.Contains(a.text(), s) {
				t.Errorf("%v is not answered with %q: %s", form, s, a.text())
			}
		}
	}
	share(http.StatusUnprocessableEntity, url.Values{"who": {"nemo"}, "access": {"reader"}}, "doesn't exist")
	share(http.StatusUnprocessableEntity, url.Values{"who": {"group:nemo"}, "access": {"reader"}}, "doesn't exist")
	share(http.StatusUnprocessableEntity, url.Values{"visibility": {"world"}}, "Unknown visibility")
	share(http.StatusSeeOther, url.Values{"who": {"cy"}, "access": {"reader"}})
	ada.get("/clusters/web-1/sharing").reads(200, "cy reader Change Remove")
	page := cy.get("/clusters/web-1")
	page.reads(200, "web", "Private")
	page.lacks("Delete", "Restart")
	page.lacks("/clusters/web-1/sharing")
	cy.get("/clusters/web-1/sharing").reads(403)
	if a := cy.post("/clusters/web-1/sharing", url.Values{"visibility": {"tenant"}}); a.status != http.StatusForbidden {
		t.Errorf("a reader sets who sees it: %d", a.status)
	}
	share(http.StatusSeeOther, url.Values{"who": {"cy"}, "access": {"user"}})
	cy.get("/clusters/web-1/access").reads(200, "muster cluster ssh web")
	cy.get("/clusters/web-1/access").lacks("Download SSH key")
	share(http.StatusSeeOther, url.Values{"remove": {"cy"}})
	cy.get("/clusters/web-1").reads(404, "doesn't exist")
	share(http.StatusSeeOther, url.Values{"visibility": {"tenant"}})
	cy.get("/clusters").reads(200, "web")
	cy.get("/clusters").lacks("Private")

	// People who remove themselves, or transfer a private cluster, are redirected to a page they can see.
	share(http.StatusSeeOther, url.Values{"who": {"cy"}, "access": {"co-owner"}, "visibility": {"private"}})
	if a := cy.post("/clusters/web-1/sharing", url.Values{"remove": {"cy"}}); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters" {
		t.Errorf("who removes itself is led to %s with %d", a.header.Get("Location"), a.status)
	}
	if a := ada.post("/clusters/web-1/transfer", url.Values{"to": {"cy"}}); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters" {
		t.Errorf("a transfer redirects to %s with %d", a.header.Get("Location"), a.status)
	}

	// An admin sets what new clusters are.
	boss := o.at("boss")
	boss.get("/admin/sharing").reads(200, "New clusters", "Default visibility")
	if a := boss.post("/admin/sharing", url.Values{"visibility": {"tenant"}}); a.status != http.StatusSeeOther {
		t.Errorf("the default is set: %d %s", a.status, a.text())
	}
	if v, err := o.app.Cluster.Sharing.DefaultVisibility(t.Context(), o.actor("ada")); v != app.VisibleTenant || err != nil {
		t.Errorf("the default is %q, %v", v, err)
	}
	ada.get("/admin/sharing").reads(403)
	ada.get("/clusters/new").reads(200, "Visibility", "Tenant default")
}

// A share can have an end, on the page and in the REST API. From then on, an invitation is worth nothing, whether or not it was removed.
func TestAnExpiredInvitationIsRefused(t *testing.T) {
	o := newFullSite(t)
	n := apptest.NewCluster(app.DefaultTenant, "web", 1, o.clock.now(), apptest.Chain(1))
	n.Nodes[0].Node.Status = app.NodeReady
	if _, err := o.store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	ada, cy := o.at("ada"), o.at("cy")
	for name, form := range map[string]url.Values{
		"no time":      {"end": {"date"}},
		"another form": {"end": {"date"}, "until": {"tomorrow"}},
		"no zone":      {"end": {"date"}, "until": {"2031-01-02T18:00"}, "zone": {"Nowhere"}},
		"past":         {"end": {"date"}, "until": {"2001-01-02T18:00"}},
		"far away":     {"end": {"date"}, "until": {"2299-01-02T18:00"}},
		"too long":     {"end": {"500d"}},
	} {
		form.Set("who", "cy")
		form.Set("access", "user")
		if a := ada.post("/clusters/web-1/sharing", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.text(), "Share cluster") {
			t.Errorf("%s is answered %d: %s", name, a.status, a.text())
		}
	}
	if a := ada.post("/clusters/web-1/sharing", url.Values{"who": {"cy"}, "access": {"co-owner"}, "end": {"8h"}}); a.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	until := app.Moment(o.clock.now().Add(8 * time.Hour))
	ada.get("/clusters/web-1/sharing").reads(200, "cy co-owner until "+until)
	ada.get("/clusters/web-1/sharing?who=cy").reads(200, "cy co-owner until "+until)
	cy.get("/clusters/web-1").reads(200, "Your access ends on "+until)
	// What would outlast it is refused: to share for longer, to transfer, and the SSH key.
	cy.post("/clusters/web-1/sharing", url.Values{"who": {"cy"}, "access": {"co-owner"}}).reads(http.StatusForbidden,
		"Your access to cluster \"web\" ends on "+until)
	cy.post("/clusters/web-1/sharing", url.Values{"who": {"cy"}, "access": {"co-owner"}, "end": {"1d"}}).reads(http.StatusForbidden)
	cy.post("/clusters/web-1/sharing", url.Values{"visibility": {"tenant"}}).reads(http.StatusForbidden)
	cy.post("/clusters/web-1/transfer", url.Values{"to": {"cy"}}).reads(http.StatusForbidden)
	cy.get("/clusters/web-1/access").lacks("Download SSH key")

	o.clock.pass(8 * time.Hour)
	for _, path := range []string{"", "/plan", "/logs", "/access", "/sharing", "/nodes/n1/terminal"} {
		cy.get("/clusters/web-1"+path).reads(404, "doesn't exist")
	}
	cy.get("/clusters").lacks("web-1")
	ada.get("/clusters/web-1/sharing").lacks("co-owner until")
}
