package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
)

func TestClusterListIsNarrowed(t *testing.T) {
	s := signedIn(t, "ada")
	for i := range 60 {
		s.cluster(ada, fmt.Sprintf("c%02d", i), "web", 2)
	}
	s.cluster(root, "his", "hadoop", 3)

	a := s.get("/clusters")
	a.reads(http.StatusOK, "61 clusters: 61 in progress.", "All 61", "his creating", "c11 creating", "Next page")
	a.lacks("c10 creating")
	next := ""
	for d := range a.find("under").Descendants() {
		if attr(d, "rel") == "next" {
			next = attr(d, "href")
		}
	}
	if next == "" {
		t.Fatal("there is no link to more")
	}
	a = s.get(next)
	a.reads(http.StatusOK, "c10 creating", "c00 creating", "First page")
	a.lacks("c11 creating")

	a = s.get("/clusters?owner=me&template=hadoop")
	a.reads(http.StatusOK, "No clusters match.", "No clusters match", "Show all clusters")
	a = s.get("/clusters?owner=root&sort=name")
	a.reads(http.StatusOK, "his creating", "1 cluster: 1 in progress.")
	a.lacks("c01 creating")
	if !strings.Contains(a.body, `/clusters?owner=root&amp;sort=name&amp;status=failed`) {
		t.Error("a state forgets the rest of the filter")
	}
	a = s.get("/clusters?q=c5&status=active")
	a.reads(http.StatusOK, "No clusters match", "In progress 10")

	a = s.get("/clusters?sort=zz&q=c5")
	a.reads(http.StatusUnprocessableEntity, "Clusters cannot be sorted by that.")
	if in := a.fields(); !slices.Contains(in["q"], "c5") {
		t.Errorf("what was typed is gone: %v", in)
	}

	csv := s.get("/clusters?format=csv&q=c5")
	if lines := strings.Split(strings.TrimSpace(csv.body), "\n"); len(lines) != 11 || !strings.HasPrefix(lines[0], "id,name,owner") || !strings.Contains(lines[1], ",c59,ada,web,") {
		t.Errorf("the file is %.300s", csv.body)
	}
	if ct := csv.header.Get("Content-Type"); !strings.HasPrefix(ct, "text/csv") {
		t.Errorf("the file is %s", ct)
	}
}

func TestClustersAreDeletedTogether(t *testing.T) {
	s := signedIn(t, "ada")
	one, two, his := s.cluster(ada, "one", "web", 2), s.cluster(ada, "two", "web", 3), s.cluster(root, "his", "web", 2)
	if a := s.get("/clusters"); strings.Contains(a.body, "Select his") || !strings.Contains(a.body, "Select one") {
		t.Error("what can be ticked is not what may be deleted")
	}
	if a := s.get("/clusters/bulk?action=delete"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters" {
		t.Errorf("a list of nothing answers %d", a.status)
	}
	a := s.get("/clusters/bulk?action=delete&id=" + one + "&id=" + two + "&id=" + his + "&id=none&id=" + one)
	a.reads(http.StatusOK, "Delete 2 clusters?", "5 machines and all data on them will be deleted.", "Can't be done", "Only its owner and admins can do this.")
	if got := a.fields()["id"]; len(got) != 2 {
		t.Errorf("the form has %v", got)
	}
	a = s.post("/clusters/bulk", url.Values{"action": {"delete"}, "id": {one, two, his}})
	a.reads(http.StatusOK, "Delete clusters: 2 done and 1 refused", "Being deleted.", "his")
	for id, want := range map[string]app.OperationKind{one: app.OperationDelete, two: app.OperationDelete, his: app.OperationCreate} {
		if v, err := s.f.Cluster(t.Context(), ada, id); err != nil || v.Operations[0].Kind != want {
			t.Errorf("%s: %v, %v", id, v.Operations[0].Kind, err)
		}
	}
	s.get("/clusters/bulk?action=delete&id="+one).reads(http.StatusOK, "Nothing to delete", "Already being deleted.")
	s.post("/clusters/bulk", url.Values{"action": {"delete"}}).reads(http.StatusUnprocessableEntity, "No clusters are selected.")
}

// The confirmation has each lease's new end, so that posting it again extends nothing twice.
func TestLeasesAreExtendedTogether(t *testing.T) {
	s := signedIn(t, "ada")
	one, two, his := s.cluster(ada, "one", "web", 2), s.cluster(ada, "two", "web", 3), s.cluster(root, "his", "web", 2)
	for _, id := range []string{one, two} {
		s.f.find(id).ExpiresAt = time.Now().Add(time.Hour)
	}
	s.get("/clusters?select=all").reads(http.StatusOK, "Select all shown", "Extend leases", "Put to sleep", "Wake", "Delete clusters")
	if body := s.get("/clusters?select=all").body; strings.Count(body, " checked") != 2 {
		t.Error("not all that can be selected are selected")
	}
	query := "/clusters/bulk?action=extend&id=" + one + "&id=" + two + "&id=" + his
	s.get(query+"&by=soon").reads(http.StatusUnprocessableEntity, "Invalid duration", "Extend 2 leases by 8 h?")
	a := s.get(query + "&by=4h")
	a.reads(http.StatusOK, "Extend 2 leases by 4 h?", "Lease will end", "Can't be done")
	form := url.Values{"action": {"extend"}, "id": {one, two}}
	for _, id := range form["id"] {
		form["until:"+id] = a.fields()["until:"+id]
	}
	s.post("/clusters/bulk", form).reads(http.StatusOK, "Extend leases: 2 done")
	s.post("/clusters/bulk", form).reads(http.StatusOK, "Extend leases: 2 unchanged", "The lease already ends")
	form.Set("until:"+one, "someday")
	s.post("/clusters/bulk", form).reads(http.StatusUnprocessableEntity, "Invalid time.")
}

func TestLiveClusters(t *testing.T) {
	s := signedIn(t, "ada")
	one := s.cluster(ada, "one", "web", 2)
	two := s.cluster(ada, "two", "web", 2)
	r := s.follow("/live?page=" + url.QueryEscape("/clusters?owner=me"))
	c := changes(t, r.until("change", "two"))
	if len(c.Lists) != 1 || strings.Join(c.Lists[0].Order, " ") != "r-"+two+" r-"+one || len(c.Lists[0].Rows) != 2 {
		t.Fatalf("it begins with %+v", c.Lists)
	}
	s.f.advance(one, 2)
	c = changes(t, r.until("change", "2 of"))
	if len(c.Lists) != 1 || len(c.Lists[0].Rows) != 1 || c.Lists[0].Rows["r-"+one] == "" || len(c.Parts) != 0 {
		t.Errorf("a change of one row sends %+v", c)
	}
	three := s.cluster(ada, "three", "web", 2)
	c = changes(t, r.until("change", "three"))
	if len(c.Lists) != 1 || c.Lists[0].Order[0] != "r-"+three || len(c.Lists[0].Rows) != 1 {
		t.Errorf("a new cluster sends %+v", c.Lists)
	}
}
