package portal

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"muster/app"
)

// first returns the first element of a kind below another one.
func first(n *html.Node, tag string) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == tag {
			return d
		}
	}
	return nil
}

func TestPlanPictures(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 5)
	s.f.advance(id, 10)
	path := "/clusters/" + id
	for _, at := range []string{path, path + "/operations/1"} {
		g := s.get(at + "?plan=graph")
		g.reads(http.StatusOK, "Graph Timeline Steps by node", "critical path", "Show as table", "start namenode")
		if g.find("g0") == nil || g.find("g0is") == nil || strings.Contains(g.body, "style=") {
			t.Errorf("%s shows no graph, or one that the security policy forbids", at)
		}
		timeline := s.get(at + "?plan=timeline")
		timeline.reads(http.StatusOK, "n5", "failed attempt", "bootstrap")
		if !strings.Contains(timeline.body, "create: took") || !strings.Contains(timeline.body, "expected to take") {
			t.Errorf("%s has bars without names", at)
		}
		s.get(at+"?plan=matrix").reads(http.StatusOK, "machine namenode datanode", "n5")
	}
	s.get(path+"/plan").reads(http.StatusOK, "Operation 1: creation lake", "Creating: 10 of", "Requested by ada")
	s.get(path+"/operations/7").reads(http.StatusNotFound, "doesn't have an operation 7")
	s.get(path + "/operations/x").reads(http.StatusNotFound)

	r := s.follow(path + "/live?view=operation&operation=1&plan=graph")
	r.until("part", "10 of")
	r.until("shapes", `"g0":["succeeded"`)
	for s.f.advance(id, 50) {
	}
	r.until("part", "Creation succeeded")
	r.until("end", "")

	// An operation of the past keeps its page.
	s.post(path+"/delete", nil)
	s.get(path+"/operations/1").reads(http.StatusOK, "Creation succeeded", "View log")
	s.get(path+"/operations/2").reads(http.StatusOK, "Deleting")
	s.get(path+"/history").reads(http.StatusOK, "deletion running", "creation succeeded")
	for _, tab := range []string{"", "/plan", "/logs", "/access", "/history"} {
		if a := s.get(path + tab); strings.Count(a.body, `aria-current`) < 1 || !strings.Contains(a.body, `aria-label="Cluster"`) {
			t.Errorf("%s has no tabs", tab)
		}
	}
}

func TestBigPlanStaysSmall(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 50)
	s.f.advance(id, 100)
	for _, query := range []string{"", "?plan=graph", "?plan=timeline"} {
		a := s.get("/clusters/" + id + query)
		a.reads(http.StatusOK)
		t.Logf("%q: %d bytes", query, len(a.body))
		if most := 300_000; len(a.body) > most {
			t.Errorf("the page %q has %d bytes", query, len(a.body))
		}
	}
	// Updates grow with the change, not with the cluster.
	live := s.get("/clusters/" + id + "?plan=graph").find("live")
	r := s.follow(attr(live, "data-live") + "&after=" + attr(live, "data-after"))
	r.until("steps", "")
	r.until("part", `id="nodes"`)
	s.f.advance(id, 1)
	sent := 0
	for {
		e, ok := r.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		sent += len(e.data)
		if e.name == "log" {
			break
		}
	}
	t.Logf("one more step of %d costs %d bytes", 50*8, sent)
	if sent > 12_000 {
		t.Errorf("one more step sends %d bytes", sent)
	}
}

func TestAccessPage(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	for s.f.advance(id, 50) {
	}
	path := "/clusters/" + id
	a := s.get(path + "/access")
	a.reads(http.StatusOK, "Access lake", "ssh -i muster-c01.pem -p 2222 root@10.0.0.10", "Host n1-c01.muster.example n1.lake", "Download SSH key", "muster cluster certificate lake")
	s.get(path+"/access?format=ansible").reads(http.StatusOK, "[namenode]", "ansible_host=10.0.0.10")
	s.get(path+"/access?key=a+b").reads(http.StatusUnprocessableEntity, "The name of the key file has characters")
	file := s.get(path + "/inventory?format=hosts")
	if file.status != http.StatusOK || !strings.Contains(file.body, "10.0.0.12\tn3-c01.muster.example") || !strings.Contains(file.header.Get("Content-Disposition"), "muster-c01.hosts") {
		t.Errorf("the file is %d %v %s", file.status, file.header, file.body)
	}
	s.get(path+"/inventory?format=xml").reads(http.StatusUnprocessableEntity, `Unknown inventory format "xml".`)
	api := s.call("GET", path+"/inventory?format=ansible-yaml&key=~/lake.pem", "")
	if api.status != http.StatusOK || !strings.Contains(api.body, `ansible_ssh_private_key_file: "~/lake.pem"`) {
		t.Errorf("over REST it is %d %s", api.status, api.body)
	}
	if a := s.call("GET", path+"/inventory?format=xml", ""); a.status != http.StatusUnprocessableEntity {
		t.Errorf("over REST a form that there is not answers %d", a.status)
	}
	s.signIn("vera")
	s.get(path+"/access").lacks("Download SSH key", "cluster certificate")
}

// TestRestingPageLearnsOfMore leaves a page open on a cluster at rest; someone else asks for something.
func TestRestingPageLearnsOfMore(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	for s.f.advance(id, 50) {
	}
	a := s.get("/clusters/" + id)
	live := a.find("live")
	r := s.follow(attr(live, "data-live") + "&after=" + attr(live, "data-after") + "&have=" + attr(live, "data-have"))
	eventually(t, func() bool { return s.f.watching(app.ClusterTopic(id)) == 1 })
	if _, err := s.f.DeleteCluster(t.Context(), app.Actor{Tenant: "default", User: "root", Role: app.RoleAdmin}, id); err != nil {
		t.Fatal(err)
	}
	for {
		e, ok := r.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if e.name == "part" && strings.Contains(e.data, "to delete, requested by root") {
			break
		}
		if e.name == "part" && strings.Contains(e.data, "Running as requested") {
			t.Fatalf("the page is sent what it has: %s", e.data)
		}
	}
}
