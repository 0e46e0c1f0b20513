package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

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
	ada.get("/clusters/web-1/manage").reads(200, "Sharing", "Visibility", "Person or group")
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
	ada.get("/clusters/web-1/manage").reads(200, "cy reader Remove")
	page := cy.get("/clusters/web-1")
	page.reads(200, "web", "Private")
	page.lacks("Delete", "Restart")
	cy.get("/clusters/web-1/manage").lacks("Person or group")
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
