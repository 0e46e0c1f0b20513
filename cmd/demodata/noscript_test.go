package demodata

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// plain is a browser without a script: it follows links and sends forms as they stand on the page.
type plain struct {
	t *testing.T
	*Visitor
	at   string
	body []byte
}

func (p *plain) open(address string) *plain {
	p.t.Helper()
	for range 5 {
		f, err := p.Get(p.t.Context(), address)
		if err != nil {
			p.t.Fatal(err)
		}
		if f.Status != http.StatusSeeOther {
			if p.at, p.body = address, f.Body; f.Status != http.StatusOK {
				p.t.Fatalf("%s answers %d: %s", address, f.Status, p.text())
			}
			return p
		}
		address = p.target(f.Body, address)
	}
	p.t.Fatalf("%s leads in a circle", address)
	return p
}

var link = regexp.MustCompile(`href="([^"]+)"`)

func (p *plain) target(body []byte, from string) string {
	m := link.FindSubmatch(body)
	if m == nil {
		p.t.Fatalf("%s leads nowhere: %s", from, body)
	}
	return strings.ReplaceAll(string(m[1]), "&amp;", "&")
}

var tag = regexp.MustCompile(`(?s)<(script|style|svg).*?</(script|style|svg)>|<[^>]*>`)

func (p *plain) text() string {
	return strings.Join(strings.Fields(tag.ReplaceAllString(string(p.body), " ")), " ")
}

func (p *plain) says(words ...string) {
	p.t.Helper()
	for _, w := range words {
		if !strings.Contains(p.text(), w) {
			p.t.Errorf("%s does not say %q: %.1500s", p.at, w, p.text())
		}
	}
}

// send sends the form of a button or path, with the fields filled in, and goes where that leads.
func (p *plain) send(what string, pairs ...string) {
	p.t.Helper()
	if status := p.try(what, pairs...); status != http.StatusOK && status != http.StatusCreated {
		p.t.Fatalf("%s on %s answers %d: %.1500s", what, p.at, status, p.text())
	}
}

func (p *plain) try(what string, pairs ...string) int {
	p.t.Helper()
	forms, err := Forms(p.at, p.body)
	if err != nil {
		p.t.Fatal(err)
	}
	f, err := Find(forms, what)
	if err == nil {
		f, err = f.Fill(pairs...)
	}
	if err == nil && !strings.HasPrefix(what, "/") {
		f, err = f.Press(what)
	}
	if err != nil {
		p.t.Fatalf("%s: %v", p.at, err)
	}
	status, to, body, err := p.Send(p.t.Context(), f)
	if err != nil {
		p.t.Fatal(err)
	}
	if status == http.StatusSeeOther {
		p.open(to)
		return http.StatusOK
	}
	p.at, p.body = f.Action, body
	return status
}

func (h *Instance) plain(t *testing.T, s *Site, user string) *plain {
	v, err := s.SignIn(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return &plain{t: t, Visitor: v}
}

// Everything that people come for goes without a script: links, forms as they stand on the pages, and where these lead.
func TestMainFlowsWorkWithoutJavaScript(t *testing.T) {
	h, site := served(t)
	dan, carla, bruno, hiro := h.plain(t, site, user), h.plain(t, site, approver), h.plain(t, site, Admin), h.plain(t, site, "hiro")
	w := &worker{h: h, id: workerOf("fra-1")}

	// Ask for what someone has to approve.
	dan.open("/clusters/new?template=web-shop")
	dan.send("Preview", "name", "plain", "size", "18")
	dan.says("18 nodes")
	dan.send("Request approval")
	request := dan.at
	if !strings.HasPrefix(request, "/requests/") {
		t.Fatalf("asking leads to %s: %.600s", request, dan.text())
	}
	// Someone else does.
	carla.open(request)
	carla.send("Approve")
	// It is made, and the page says how far it is, again and again.
	list := dan.open("/clusters")
	list.says("plain")
	m := regexp.MustCompile(`href="(/clusters/plain-[^"/?#]+)"`).FindSubmatch(dan.body)
	if m == nil {
		t.Fatalf("the list does not lead to the cluster: %.1500s", dan.text())
	}
	cluster := string(m[1])
	if err := w.work(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	dan.open(cluster)
	if !strings.Contains(string(dan.body), `http-equiv="refresh"`) {
		t.Error("the page of a cluster that is being made is not loaded again by itself")
	}
	if err := w.work(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	dan.open(cluster)
	dan.says("Running as requested")

	// Make it smaller.
	dan.open(cluster + "/change?kind=resize&size=17")
	dan.send("Preview", "size", "16")
	dan.send("Request approval")
	carla.open(dan.at)
	carla.send("Approve")
	if err := w.work(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	dan.open(cluster)
	dan.says("16 nodes")

	// Keep it longer.
	dan.send(cluster + "/lease")
	dan.says("plain")

	// Answer what a step asks.
	hiro.open("/manual-steps")
	forms, err := Forms(hiro.at, hiro.body)
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	for _, f := range forms {
		if strings.HasSuffix(f.Action, "/answers") {
			asked = true
			for _, field := range f.Fields {
				if field.Type == "text" && field.Value == "" {
					f = f.Set(field.Name, "ABCD-1234")
				}
			}
			if f, err = f.Press("Continue"); err != nil {
				t.Fatal(err)
			}
			if status, to, body, err := hiro.Send(t.Context(), f); err != nil || status != http.StatusSeeOther {
				t.Errorf("an answer gets %d %s: %v: %.600s", status, to, err, body)
			}
			break
		}
	}
	if !asked {
		t.Errorf("there is no form for an answer: %s", hiro.text())
	}

	// Administer the tenant.
	bruno.open("/admin/quotas")
	bruno.send("/admin/quotas", "name", "greta", "clusters", "3")
	bruno.says("greta")
	bruno.open("/admin/policies/new")
	bruno.send("/admin/policies", "name", "plain-rule", "when", "nodes > 100", "reason", "Too many.")
	bruno.says("plain-rule")
	bruno.open("/admin/users/new")
	bruno.send("/admin/users", "name", "piet", "full_name", "Piet Mulder")
	bruno.says("piet")
	bruno.open("/admin/webhooks")
	bruno.send("/admin/webhooks", "name", "plain-hook", "url", "https://hooks.example.com/")
	bruno.says("plain-hook")
	bruno.open("/admin/secrets")
	bruno.send("/admin/secrets", "name", "PLAIN", "value", "a secret")
	bruno.says("PLAIN")
	dan.open("/account/tokens/new")
	dan.send("/account/tokens/new", "label", "plain")
	dan.says("plain")

	// Give it back.
	dan.open(cluster + "/delete")
	dan.send(cluster + "/delete")
	if err := w.work(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	dan.open(cluster)
	dan.says("all machines were deleted")
	dan.open("/clusters")
	dan.send("/signout")
	if dan.at != "/signin" {
		t.Errorf("signing out leads to %s", dan.at)
	}
}
