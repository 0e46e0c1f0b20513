package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest"
)

// An admin locks a cluster and a node on a page; others read why, on each page of the cluster, and find nothing that they can't do.
func TestClustersAreLockedOnTheirPage(t *testing.T) {
	o := newFullSite(t)
	n := apptest.NewCluster(app.DefaultTenant, "web", 2, o.clock.now(), apptest.Chain(2))
	for i := range n.Nodes {
		n.Nodes[i].Node.Status = app.NodeReady
	}
	if _, err := o.store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	ada, boss := o.at("ada"), o.at("boss")
	ada.get("/clusters/web-1/manage").lacks("View locks")
	ada.get("/clusters/web-1/locks").reads(http.StatusForbidden)
	ada.get("/admin/locks").reads(http.StatusForbidden)
	ada.post("/clusters/web-1/lock", url.Values{"reason": {"why"}}).reads(http.StatusForbidden)
	boss.get("/clusters/web-1/manage").reads(200, "View locks")
	boss.get("/clusters/web-1/locks").reads(200, "Whole cluster", "Node n2", "Nothing is locked.")
	boss.post("/clusters/web-1/lock", url.Values{"node": {"n2"}, "reason": {strings.Repeat("x", 301)}}).reads(http.StatusUnprocessableEntity,
		"1 to 300 characters", "Node n2")
	boss.post("/clusters/web-1/lock", url.Values{"node": {"n3"}, "reason": {"why"}}).reads(http.StatusNotFound)
	for _, node := range []string{"n2", ""} {
		if a := boss.post("/clusters/web-1/lock", url.Values{"node": {node}, "reason": {"Odd <b>logins</b>"}}); a.status != http.StatusSeeOther {
			t.Fatalf("%d: %s", a.status, a.text())
		}
	}
	boss.get("/clusters/web-1/locks").reads(200, "Open connections of others end within 10 s.", "Unlock cluster", "Unlock n2", "Odd <b>logins</b>")
	boss.get("/admin/locks").reads(200, "web", "Whole cluster", "Node n2", "by boss since")
	for _, path := range []string{"", "/access", "/logs", "/manage", "/history"} {
		ada.get("/clusters/web-1"+path).reads(200, "Locked by boss since", "Odd <b>logins</b>", "Only admins can change it")
	}
	ada.get("/clusters/web-1/manage").lacks("Rename cluster")
	ada.get("/clusters/web-1/access").lacks("Download SSH key")
	ada.post("/clusters/web-1/rename", url.Values{"name": {"other"}}).reads(http.StatusForbidden, "is locked", "Ask an admin to unlock it")
	ada.post("/clusters/web-1/unlock", url.Values{}).reads(http.StatusForbidden)
	for _, node := range []string{"", "n2"} {
		if a := boss.post("/clusters/web-1/unlock", url.Values{"node": {node}}); a.status != http.StatusSeeOther {
			t.Fatalf("%d: %s", a.status, a.text())
		}
	}
	boss.get("/clusters/web-1/locks").reads(200, "Unlocked.", "Nothing is locked.")
	ada.get("/clusters/web-1").lacks("Locked by")
}
