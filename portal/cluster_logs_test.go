package portal

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/portal/cluster"
)

func TestClusterLogs(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	for s.f.advance(id, 50) {
	}
	s.f.mu.Lock()
	for i := range 700 {
		s.f.say(id, app.Step{Operation: 1, ID: "n1.web.start", Node: "n1", Attempt: 1}, family.StreamOut, fmt.Sprintf("line %d <of> many", i))
	}
	s.f.mu.Unlock()
	path := "/clusters/" + id + "/logs"
	a := s.get(path)
	a.reads(http.StatusOK, "Logs lake", "line 699 <of> many", "Latest lines. New ones appear automatically.", "Earlier", "Download log")
	if n := strings.Count(a.body, "<li "); n < cluster.LogLines || attr(a.find("live"), "data-live") == "" {
		t.Errorf("%d lines are shown, live at %q", n, attr(a.find("live"), "data-live"))
	}
	earlier := s.get(attr(a.find("earlier"), "href"))
	earlier.reads(http.StatusOK, "line 399 <of> many", "Later")
	earlier.lacks("line 400 <of>")
	s.get(attr(earlier.find("later"), "href")).reads(http.StatusOK, "line 400 <of> many")

	found := s.get(path + "?q=LINE+12%20")
	found.reads(http.StatusOK, "line 12 <of> many")
	found.lacks("line 13 ")
	s.get(path+"?q=nowhere").reads(http.StatusOK, "No log lines match.")
	s.get(path + "?node=n2&stream=stderr").lacks("n1.web.start")

	link := attr(first(found.find("lines"), "a"), "href")
	around := s.get(strings.Split(link, "#")[0])
	around.reads(http.StatusOK, "Lines around line", "line 12 <of> many", "line 11 <of> many", "line 13 <of> many")
	if !strings.Contains(around.body, `class="l-out meant"`) {
		t.Error("the line that is meant is not marked")
	}
	s.get(path+"?line=999999").reads(http.StatusOK, "doesn't exist or has been deleted")
	for query, want := range map[string]string{"line=x": `Line "x" is invalid.`, "operation=-1": `Operation "-1" is invalid.`, "stream=loud": `Stream "loud" doesn't exist.`, "before=0": `Line "0" is invalid.`} {
		s.get(path+"?"+query).reads(http.StatusUnprocessableEntity, want)
	}
	all := s.get(path + "/download?operation=1")
	if strings.Count(all.body, "\n") < 700 || !strings.Contains(all.header.Get("Content-Disposition"), `muster-c01-1.log`) || !strings.Contains(all.body, "n1.web.start stdout | line 0 <of> many") {
		t.Errorf("the download has %d lines, as %v", strings.Count(all.body, "\n"), all.header)
	}
	s.get("/clusters/none/logs").reads(http.StatusNotFound)

	// What comes is shown, narrowed as the page is.
	r := s.follow(attr(s.get(path+"?q=needle").find("live"), "data-live") + "&after=0")
	s.f.mu.Lock()
	s.f.say(id, app.Step{Operation: 1, ID: "n2.web.start", Node: "n2"}, family.StreamOut, "hay")
	s.f.say(id, app.Step{Operation: 1, ID: "n2.web.start", Node: "n2"}, family.StreamOut, "a Needle")
	s.f.mu.Unlock()
	if e := r.until("log", "a Needle"); strings.Contains(e.data, "hay") {
		t.Errorf("the page receives %s", e.data)
	}
}

func TestAPILogsAreSearched(t *testing.T) {
	s := visit(t)
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.f.advance(id, 5)
	l := as[cluster.LogList](s.call("GET", "/clusters/"+id+"/logs?q=BEGINS&limit=2", ""), 200)
	if len(l.Lines) != 2 || l.Next != l.Lines[1].Seq {
		t.Fatalf("two are %+v", l)
	}
	more := as[cluster.LogList](s.call("GET", fmt.Sprintf("/clusters/%s/logs?q=begins&after=%d", id, l.Next), ""), 200)
	if len(more.Lines) != 3 || more.Next != 0 || more.Lines[0].Seq <= l.Next {
		t.Errorf("the rest is %+v", more)
	}
	if b := as[cluster.LogList](s.call("GET", fmt.Sprintf("/clusters/%s/logs?before=%d&stream=muster", id, l.Next), ""), 200); len(b.Lines) != 1 {
		t.Errorf("before that is %+v", b)
	}
	if a := s.call("GET", "/clusters/"+id+"/logs?stream=loud", ""); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a stream that there is not answers %d", a.status)
	}
}
