package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/label"
)

// Labels are shown, found, changed and exported on the pages of clusters, and over REST.
func TestLabelsOnPages(t *testing.T) {
	o := newFullSite(t)
	for name, labels := range map[string]label.Labels{"web": {"team": "shop", "cost-centre": "4711"}, "db": nil} {
		n := apptest.NewCluster(app.DefaultTenant, name, 1, o.clock.now(), apptest.Chain(1))
		n.Nodes[0].Node.Status = app.NodeReady
		n.Cluster.Labels = labels
		if labels != nil {
			n.Cluster.Description = "Shop of the spring sale"
		}
		if _, err := o.store.CreateCluster(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	ada := o.at("ada")
	ada.get("/clusters").reads(200, "Shop of the spring sale", "cost-centre=4711", "team=shop", "Select db")
	ada.get("/clusters?label=team%3Dshop").reads(200, "Select web")
	ada.get("/clusters?label=team%3Dshop").lacks("Select db")
	ada.get("/clusters?label=team%2Ccost-centre%3D4711").reads(200, "Select web")
	ada.get("/clusters?label=team%3Dnone").reads(200, "No clusters match")
	ada.get("/clusters?label=Team").reads(422, "Invalid label key", "Use key=value")
	ada.get("/clusters?format=csv").reads(200, "description,labels", "Shop of the spring sale,cost-centre=4711;team=shop")
	ada.get("/clusters/web-1").reads(200, "Shop of the spring sale", "cost-centre=4711")
	ada.get("/clusters/web-1/manage").reads(200, "Description and labels", "Save labels")

	change := func(want int, labels, description string) {
		t.Helper()
		if a := ada.post("/clusters/web-1/labels", url.Values{"labels": {labels}, "description": {description}}); a.status != want {
			t.Errorf("%q is answered %d: %s", labels, a.status, a.text())
		}
	}
	change(http.StatusSeeOther, "team = data\r\n\r\nstage=live", "Two\r\nlines")
	c, err := o.store.Cluster(t.Context(), app.DefaultTenant, "web-1")
	if err != nil || len(c.Labels) != 2 || c.Labels["team"] != "data" || c.Labels["stage"] != "live" || c.Description != "Two\nlines" {
		t.Errorf("changed to %v, %q, %v", c.Labels, c.Description, err)
	}
	change(http.StatusUnprocessableEntity, "team", "")
	change(http.StatusUnprocessableEntity, "muster-node=n9", "")

	// The form for a new cluster starts with what the template says, and asks for what it requires at the field.
	o.catalog.Templates["web"].Labels = &label.Rules{Defaults: label.Labels{"stage": "dev"}, Required: map[string]string{"cost-centre": "Ask your team lead."}}
	page := ada.get("/clusters/new?template=web&size=1")
	page.reads(200, "requires the label cost-centre", "Add cost-centre=VALUE. Ask your team lead.", "Required: cost-centre")
	if !strings.Contains(page.body, "cost-centre=\nstage=dev</textarea>") {
		t.Error("the form doesn't start with the template's labels")
	}
	in := page.fields()
	in.Set("name", "lab")
	in.Set("labels", "cost-centre=815\r\nstage=dev")
	in.Set("description", "For tests")
	previewed := ada.post("/clusters/preview", in)
	previewed.reads(200, "Create cluster")
	hash := previewed.fields().Get("plan_hash")
	in.Set("plan_hash", hash)
	if a := ada.post("/clusters", in); a.status != http.StatusSeeOther {
		t.Fatalf("it's not created: %d %s", a.status, a.text())
	}
	ada.get("/clusters?label=cost-centre%3D815").reads(200, "lab", "For tests", "stage=dev")
	in.Set("labels", "Team=a")
	ada.post("/clusters/preview", in).reads(422, "Invalid label key")
	ada.get("/usage?by=label:team").reads(200, "label stage", "label team")
	ada.get("/usage?by=label:T").reads(422, "Invalid label")
}
