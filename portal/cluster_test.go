package portal

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/portal/cluster"
)

func TestClusterList(t *testing.T) {
	s := signedIn(t, "ada")
	s.get("/clusters").reads(http.StatusOK, "No clusters yet", "Create your first cluster")

	lake := s.cluster(ada, "lake", "hadoop", 3)
	s.f.advance(lake, 5)
	done := s.cluster(ada, "shop", "web", 2)
	for s.f.advance(done, 9) {
	}
	a := s.get("/clusters")
	a.reads(http.StatusOK, "2 clusters: 1 active and 1 in progress. 0.60/h in total.",
		"lake creating 5 of 25 steps Template hadoop Nodes 3 Owner ada Cost / h 0.36 Lease expires in 24 h",
		"shop active haproxy, web Template web Nodes 2 Owner ada Cost / h 0.24 Lease no expiry")
	if !strings.Contains(a.body, `<noscript><meta http-equiv="refresh" content="5">`) || !strings.Contains(a.body, "/list.") {
		t.Error("a list in which something moves does not move by itself")
	}

	s.post("/clusters/"+lake+"/delete", nil)
	for s.f.advance(lake, 9) {
	}
	a = s.get("/clusters")
	a.lacks("lake")
	if strings.Contains(a.body, "refresh") {
		t.Error("a list in which nothing moves refreshes")
	}
	s.get("/clusters?deleted=true").reads(http.StatusOK, "lake deleted")
	a = s.get("/clusters?status=deleted")
	a.reads(http.StatusOK, "lake deleted")
	a.lacks("shop active")
}

func TestClusterNew(t *testing.T) {
	s := signedIn(t, "ada")
	a := s.get("/clusters/new")
	a.reads(http.StatusOK, "Hadoop", "One database", "Web with a load balancer", "exactly 1 node", "2 or more nodes", "Cost per hour 0.24", "All steps")
	in := a.fields()
	if in.Get("template") != "hadoop" || in.Get("size") != "2" || len(in["services"]) != 3 || in.Get("plan_hash") == "" {
		t.Errorf("the form begins with %v", in)
	}

	t.Run("a link fills the form", func(t *testing.T) {
		a := s.get("/clusters/new?template=web&size=4&name=shop")
		if in := a.fields(); in.Get("name") != "shop" || in.Get("template") != "web" || in.Get("size") != "4" {
			t.Errorf("the form holds %v", in)
		}
		a.reads(http.StatusOK, "4 machines on Sandbox", "1 node n1 · small · Ubuntu 24.04 HAProxy", "3 nodes n2–n4 · small · Ubuntu 24.04 Web server")
	})
	t.Run("a preview keeps the input", func(t *testing.T) {
		in := url.Values{"template": {"hadoop"}, "options_of": {"hadoop"}, "name": {"lake"}, "size": {"5"}, "services": {"namenode", "datanode"}, "hardware": {"large"}, "lease": {(4 * time.Hour).String()}}
		a := s.post("/clusters/preview", in)
		a.reads(http.StatusOK, "Cost for 4 h 2.40", "5 nodes 31 steps", "Muster runs exactly this plan", "n2 create, confirm, bootstrap")
		out := a.fields()
		for k := range in {
			if strings.Join(out[k], " ") != strings.Join(in[k], " ") && k != "services" {
				t.Errorf("%s was %q and is %q", k, in[k], out[k])
			}
		}
		if len(out["services"]) != 2 {
			t.Errorf("the services are %q", out["services"])
		}
		if d := a.find("options"); !strings.Contains(a.body, "<details class=\"more\" open>") || d == nil {
			t.Error("options that were changed are folded away")
		}
	})
	t.Run("another template has its own options", func(t *testing.T) {
		a := s.post("/clusters/preview", url.Values{"template": {"web"}, "options_of": {"hadoop"}, "size": {"3"}, "services": {"namenode"}, "hardware": {"large"}})
		if out := a.fields(); strings.Join(out["services"], " ") != "haproxy web" || out.Get("hardware") != "" {
			t.Errorf("the options are %v", out)
		}
	})
	for name, c := range map[string]struct {
		in    url.Values
		field string
		want  string
	}{
		"a size that the solver refuses": {url.Values{"template": {"hadoop"}, "size": {"60"}}, "size", "Choose 2–50 nodes (you entered 60)."},
		"a size that is no number":       {url.Values{"template": {"hadoop"}, "size": {"many"}}, "size", "The number of nodes must be a whole number of at least 1. Choose 2 to 50 nodes."},
		"no size":                        {url.Values{"template": {"hadoop"}, "size": {""}}, "size", "Enter the number of nodes. Choose 2 to 50 nodes."},
		"a template that is not":         {url.Values{"template": {"gone"}, "size": {"3"}}, "template", `Template "gone" doesn't exist. Choose a template below.`},
		"no service":                     {url.Values{"template": {"hadoop"}, "size": {"3"}, "options_of": {"hadoop"}}, "services", "No services selected. Select at least one service."},
		"a lease that is none":           {url.Values{"template": {"hadoop"}, "size": {"3"}, "options_of": {"hadoop"}, "services": {"datanode"}, "lease": {"soon"}}, "lease", "Invalid lease. Choose one from the list."},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.post("/clusters/preview", c.in)
			a.reads(http.StatusUnprocessableEntity, "No preview. Fix the errors in the form.")
			if got := a.at("err-" + c.field); got != c.want {
				t.Errorf("%s has the error %q, not %q", c.field, got, c.want)
			}
			if got := a.fields().Get("size"); got != c.in.Get("size") {
				t.Errorf("the size is %q now", got)
			}
		})
	}
	t.Run("every refusal of the solver has its field", func(t *testing.T) {
		defer func() { s.f.broken = nil }()
		for reason, field := range map[string]string{
			"no_hardware_types": "hardware", "no_image_types": "image", "missing_provider": "provider", "missing_dependency": "services",
			"no_solution": "size", "something_new": "form",
		} {
			c, _ := s.f.Catalog(t.Context(), ada)
			n := cluster.NewClusterForm(c, url.Values{"template": {"hadoop"}}, nil)
			s.f.broken = &app.Error{Code: app.ENoLayout, Reason: reason, Message: "It cannot be."}
			if err := n.Preview(t.Context(), s.f, ada); err != nil {
				t.Fatal(err)
			}
			s.f.broken = nil
			key := field
			if field == "form" {
				key = ""
			}
			if n.View.Errors[key].Message != "It cannot be." {
				t.Errorf("%s is at %v", reason, n.View.Errors)
			}
		}
	})
	t.Run("while typing, only what changed is sent", func(t *testing.T) {
		a := s.post("/clusters/preview", url.Values{"template": {"hadoop"}, "options_of": {"hadoop"}, "services": {"namenode", "datanode", "nodemanager"}, "size": {"60"}}, "HX-Request", "true")
		a.reads(http.StatusOK, "Choose 2–50 nodes (you entered 60).")
		if strings.Contains(a.body, "<html") || strings.Contains(a.body, `id="options"`) || !strings.HasPrefix(a.body, `<section id="preview"`) || !strings.Contains(a.body, `hx-swap-oob="true"`) {
			t.Errorf("the answer is %.300s", a.body)
		}
		a = s.post("/clusters/preview", url.Values{"template": {"web"}, "options_of": {"hadoop"}, "size": {"3"}}, "HX-Request", "true")
		if !strings.Contains(a.body, `id="options"`) {
			t.Error("the options of the other template are missing")
		}
	})
	t.Run("the size follows the template", func(t *testing.T) {
		three := *s.f.catalog.Templates["web"]
		three.Name, three.Constraints.Size = "three", template.SizeRange{Min: 3, Max: 7, OneOf: []int{3, 5, 7}}
		s.f.catalog.Templates["three"] = &three
		defer delete(s.f.catalog.Templates, "three")
		for _, c := range []struct{ from, typed, to, want string }{
			{"hadoop", "2", "three", "3"}, // the least of the one before
			{"hadoop", "4", "three", "3"}, // not allowed
			{"hadoop", "5", "three", "5"}, // typed, and allowed
			{"three", "3", "single", "1"}, //
			{"hadoop", "", "three", "3"},  //
			{"three", "4", "three", "4"},  // the template is the same: what's typed stays, and is refused
			{"hadoop", "60", "hadoop", "60"},
		} {
			in := url.Values{"template": {c.to}, "options_of": {c.from}, "size": {c.typed}}
			if got := s.post("/clusters/preview", in).fields().Get("size"); got != c.want {
				t.Errorf("%s nodes of %s become %q of %s, not %s", c.typed, c.from, got, c.to, c.want)
			}
			a := s.post("/clusters/preview", in, "HX-Request", "true")
			if swapped := strings.Contains(a.body, `id="size"`); swapped != (c.from != c.to) {
				t.Errorf("from %s to %s the field is swapped: %v", c.from, c.to, swapped)
			}
		}
		a := s.post("/clusters/preview", url.Values{"template": {"three"}, "options_of": {"three"}, "size": {"4"}, "services": {"haproxy", "web"}}, "HX-Request", "true")
		a.reads(http.StatusOK, "Choose 3, 5 or 7 nodes (you entered 4).")
	})
	t.Run("an empty catalog", func(t *testing.T) {
		old := s.f.catalog
		defer func() { s.f.catalog = old }()
		s.f.catalog = template.NewCatalog()
		s.get("/clusters/new").reads(http.StatusOK, "No templates yet")
		s.post("/clusters", url.Values{"name": {"x"}}).reads(http.StatusUnprocessableEntity, "No templates yet")
	})
}

func TestClusterCreate(t *testing.T) {
	s := signedIn(t, "ada")
	in := s.get("/clusters/new?template=hadoop&size=3&name=lake").fields()
	a := s.post("/clusters", in)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/c01" {
		t.Fatalf("a creation answers %d %s: %s", a.status, a.header.Get("Location"), a.text())
	}
	if r := s.f.asked[0]; r.PlanHash != in.Get("plan_hash") || r.Name != "lake" || r.Size != 3 || r.Services != nil || r.Lease != nil || r.Hardware != "" {
		t.Errorf("the request was %+v", r)
	}

	t.Run("a name that is taken", func(t *testing.T) {
		a := s.post("/clusters", in)
		a.reads(http.StatusConflict, "There is a cluster lake already. Choose another name.", "Muster runs exactly this plan")
		if got := a.at("err-name"); !strings.HasPrefix(got, "There is a cluster lake already.") {
			t.Errorf("the name has the error %q", got)
		}
	})
	t.Run("a plan that is another one now", func(t *testing.T) {
		in := s.get("/clusters/new?template=web&size=3&name=shop").fields()
		seen := in.Get("plan_hash")
		in.Set("size", "4")
		a := s.post("/clusters", in)
		a.reads(http.StatusConflict, "The form or the catalog has changed since your preview", "so nothing was created", "4 machines on Sandbox")
		out := a.fields()
		if out.Get("plan_hash") == seen || out.Get("name") != "shop" || out.Get("size") != "4" {
			t.Errorf("the form holds %v", out)
		}
		if a = s.post("/clusters", out); a.status != http.StatusSeeOther {
			t.Errorf("the new plan, approved, answers %d", a.status)
		}
	})
	t.Run("without a look at the plan", func(t *testing.T) {
		before := len(s.f.asked)
		a := s.post("/clusters", url.Values{"template": {"hadoop"}, "size": {"3"}, "name": {"blind"}})
		a.reads(http.StatusUnprocessableEntity, "Review the plan first", "Cost per hour")
		if len(s.f.asked) != before {
			t.Error("a cluster was created without a preview")
		}
	})
	t.Run("without a name", func(t *testing.T) {
		in := s.get("/clusters/new?template=hadoop&size=4").fields()
		a := s.post("/clusters", in)
		a.reads(http.StatusUnprocessableEntity, "The cluster needs a name. Small letters and digits.", "Cost per hour")
	})
	t.Run("by a viewer", func(t *testing.T) {
		s.signIn("vera")
		s.get("/clusters").lacks("New cluster")
		in := s.get("/clusters/new?template=hadoop&size=3&name=other").fields()
		s.post("/clusters", in).reads(http.StatusForbidden, "You may look, but not create.")
	})
}

func TestClusterShow(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.clock.pass(50 * time.Second)
	s.f.advance(id, 9)
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "lake creating", "Creating: 9 of 25 steps done, about", "to create, requested by ada", "n1 ready n1-c01.muster.example namenode medium debian12 m-n1 10.0.0.10",
		"ssh -i muster-c01.pem -p 2222 root@10.0.0.10", "none yet", "waiting 1", "running 2", "succeeded 9", "n1.namenode.start Setting up namenode", "Recent activity View all creation running, 9 of 25 steps")
	if live := a.find("live"); attr(live, "data-live") != "/clusters/c01/live?operation=1&plan=matrix" || attr(live, "data-after") == "0" {
		t.Errorf("the live part is %v", live.Attr)
	}
	if !strings.Contains(a.body, `<noscript><meta http-equiv="refresh"`) {
		t.Error("without JavaScript the page doesn't refresh")
	}
	cell := a.find("c0")
	if attr(cell, "class") != "m m-succeeded" || attr(cell, "title") != "create n1: succeeded" || attr(cell, "href") != "/clusters/c01?step=n1.create#log" {
		t.Errorf("the cell of the first step is %v", cell.Attr)
	}

	t.Run("the log of one node", func(t *testing.T) {
		a := s.get("/clusters/" + id + "?node=n2")
		if log := a.at("lines"); strings.Contains(log, "n1.") || !strings.Contains(log, "n2.create") {
			t.Errorf("the log of n2 reads %q", log)
		}
		if live := attr(a.find("live"), "data-live"); !strings.Contains(live, "node=n2") {
			t.Errorf("the stream of the log of n2 is %s", live)
		}
	})
	t.Run("the log of one step", func(t *testing.T) {
		if log := s.get("/clusters/" + id + "?step=n1.create").at("lines"); strings.Count(log, "n1.create") != 2 || strings.Contains(log, "confirm") {
			t.Errorf("the log of n1.create reads %q", log)
		}
	})
	t.Run("failed", func(t *testing.T) {
		s.f.failStep(id, "n2.datanode.start", "The script ended with 1.", "line one", "<b>Address already in use</b>")
		a := s.get("/clusters/" + id)
		a.reads(http.StatusOK, "failed", "Creation failed after 9 of 25 steps.", "Start datanode on n2 : The script ended with 1. Last log lines line one <b>Address already in use</b>", "Resume operation", "Delete cluster")
		s.post("/clusters/"+id+"/resume", nil)
		s.get("/clusters/"+id).reads(http.StatusOK, "Creating")
		s.post("/clusters/"+id+"/resume", nil).reads(http.StatusConflict, "Creation is running.", "See what it allows.")
	})
	for s.f.advance(id, 50) {
	}
	a = s.get("/clusters/" + id)
	a.reads(http.StatusOK, "Running as requested. The lease expires in 24 h.", "Status page 10.0.0.11:8080")
	if strings.Contains(a.body, "javascript:") || attr(a.find("live"), "data-live") == "" {
		t.Error("the page of a cluster at rest is not as it should be")
	}

	t.Run("the key", func(t *testing.T) {
		a := s.get("/clusters/" + id + "/key")
		if a.header.Get("Content-Disposition") != `attachment; filename="muster-c01.pem"` || !strings.HasPrefix(a.body, "-----BEGIN OPENSSH") {
			t.Errorf("the key comes as %v: %s", a.header, a.body)
		}
	})
	t.Run("seen by a viewer", func(t *testing.T) {
		s.signIn("vera")
		a := s.get("/clusters/" + id)
		a.lacks("Delete", "Resume", "ssh -i", "Download SSH key")
		s.get("/clusters/"+id+"/key").reads(http.StatusForbidden, "Only the owner may have the key.")
		s.post("/clusters/"+id+"/delete", nil).reads(http.StatusForbidden, "Not allowed", "You may look, but not delete.")
		s.signIn("ada")
	})
	t.Run("delete, after a question", func(t *testing.T) {
		s.get("/clusters/"+id+"/delete").reads(http.StatusOK, "Delete lake?", "This deletes 3 machines and all data on them.", "Cancel")
		if a := s.post("/clusters/"+id+"/delete", nil); a.status != http.StatusSeeOther {
			t.Fatalf("deletion answers %d", a.status)
		}
		a := s.get("/clusters/" + id)
		a.reads(http.StatusOK, "deleting", "Deleting: 0 of 3 steps done", "View all deletion running", "creation succeeded")
		if a.find("delete") != nil {
			t.Error("a cluster that is being deleted can be deleted once more")
		}
		if a = s.get("/clusters/" + id + "/delete"); a.status != http.StatusSeeOther {
			t.Errorf("the question is asked again: %d", a.status)
		}
	})
}

func TestErrorPages(t *testing.T) {
	s := signedIn(t, "ada")
	s.get("/nowhere").reads(http.StatusNotFound, "Not found", "This address doesn't exist.", "View clusters")
	s.get("/clusters/none").reads(http.StatusNotFound, "There is no cluster none.")
	s.do(s.request("PUT", "/clusters", "")).reads(http.StatusMethodNotAllowed, "This address doesn't support this method.")
	s.f.broken = errors.New("disk is full at /var/secret")
	a := s.get("/clusters")
	a.reads(http.StatusInternalServerError, "Something went wrong", "Muster hit an unexpected error. It has been logged.", "Include this request ID")
	a.lacks("secret")
	s.f.broken = &app.Error{Code: app.EForbidden, Message: "Not for you."}
	s.get("/clusters").reads(http.StatusForbidden, "Not allowed", "Not for you.")
	s.f.broken = &app.Error{Code: app.ERateLimit, Message: "Slow down.", RetryAfter: 1500 * time.Millisecond}
	if a = s.get("/clusters"); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "2" {
		t.Errorf("too often is answered %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	s.f.broken = nil
	visit(t).get("/nowhere").reads(http.StatusNotFound, "Sign in")
}
