package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/portal/cluster"
)

// A link has all values that differ from the template, and fills in the form.
func TestAFormIsSharedAsALink(t *testing.T) {
	s := signedIn(t, "ada")
	parametered(s.f)
	in := s.get("/clusters/new?template=web&size=3").fields()
	for key, value := range map[string]string{"name": "shop", "set-title": "Shop & more", "set-port": "8080", "size": "5", "hardware": "large"} {
		in.Set(key, value)
	}
	in.Del("set-tls")
	in["services"] = []string{"haproxy", "web", "postgres"}
	a := s.post("/clusters/preview", in)
	link := attr(a.find("share-link"), "href")
	u, err := url.Parse(link)
	if err != nil || u.Path != "/clusters/new" {
		t.Fatalf("the link is %q: %v", link, err)
	}
	if q := u.Query(); q.Has("set-mode") || q.Has("plan_hash") || q.Get("set-tls") != "false" {
		t.Errorf("the link carries %v", q)
	}
	opened := s.get(link)
	back := opened.fields()
	for _, key := range []string{"name", "set-title", "set-port", "set-tls", "set-mode", "size", "hardware", "template"} {
		if back.Get(key) != in.Get(key) {
			t.Errorf("%s is %q where the link is opened, and was %q", key, back.Get(key), in.Get(key))
		}
	}
	if !cluster.SameNames(back["services"], in["services"]) {
		t.Errorf("the services are %v", back["services"])
	}
	opened.reads(http.StatusOK, "5 nodes", "custom; default 80")
	part := s.post("/clusters/preview", in, "HX-Request", "true")
	if n := part.find("share-link"); n == nil || attr(n, "href") != link {
		t.Error("the link does not follow what is typed")
	}
}

// What a link says and there is not, is shown and complained about; nothing else of it is lost.
func TestALinkIsChecked(t *testing.T) {
	s := signedIn(t, "ada")
	parametered(s.f)
	a := s.get("/clusters/new?template=web&size=x&name=shop&set-port=99999&set-nosuch=1&lease=soon&hardware=huge&services=web&services=wbe&prefer=prettiest")
	a.reads(http.StatusOK, `The link sets parameter "nosuch", which this template doesn't have.`, "is more than 65535", "The number of nodes must be a whole number", "Invalid lease.", "Unknown placement.", "wbe (not available)", "huge (not available)")
	in := a.fields()
	if in.Get("size") != "x" || in.Get("name") != "shop" || in.Get("set-port") != "99999" || in.Get("lease") != "soon" || in.Get("hardware") != "huge" || in.Get("prefer") != "prettiest" {
		t.Errorf("what the link said is lost: %v", in)
	}
	if a := s.get("/clusters/new?template=hadoop&size=3&lease=4h").fields(); !strings.HasPrefix(a.Get("lease"), "4h") {
		t.Errorf("the lease is %q", a.Get("lease"))
	}
}

// Who sends a form with mistakes finds them listed above it, each with a link to its field.
func TestMistakesAreListedAboveTheForm(t *testing.T) {
	s := signedIn(t, "ada")
	parametered(s.f)
	in := s.get("/clusters/new?template=web&size=3").fields()
	in.Set("size", "many")
	in.Set("plan_hash", "x")
	a := s.post("/clusters", in)
	a.reads(http.StatusUnprocessableEntity, "2 fields to fix Nodes : The number of nodes must be a whole number", "title : title")
	for _, field := range []string{"size", "set-title"} {
		if a.find(field) == nil {
			t.Errorf("the link to %s leads nowhere", field)
		}
	}
	part := s.post("/clusters/preview", in, "HX-Request", "true")
	if n := part.find("summary"); n == nil || words(n) != "" {
		t.Error("the list stays during corrections")
	}
}
