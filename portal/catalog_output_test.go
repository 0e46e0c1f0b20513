package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app/template"
)

const shopYAML = `# Ours.
kind: template
name: greet
defaults: {services: [hello], provider: sandbox, hardware: small, image: host}
constraints: {size: {min: 1, max: 5}}
outputs:
  # Where it is.
  - {name: host, value: "%ip.service.hello[0]%", description: Address} # first node
  - name: site
    type: url
    env: SITE_URL
    value: "http://%host.service.hello[0]%/"
  # Its certificate.
  - name: ca
    type: file
    file: ca.crt
    mode: "0644"
    value: |
      # head
      %fact.hello.ca%
actions:
  - name: backup
    label: Back up
    on: [service=hello]
    parameters:
      - {name: keep, type: integer, default: 7}
    run: |
      /opt/backup.sh
    who: owner
    approval: true
    timeout: 2h
    batch: 1
labels: {defaults: {team: web}} # no field
`

// rowsIn posts the editor of greet with a text and changes to what its form then says.
func rowsIn(t *testing.T, s *testSite, text string, changes map[string]string) seen {
	t.Helper()
	const page = "/admin/catalog/template/greet/edit"
	in := s.get(page).all()
	in.Set("text", text)
	in.Set("do", "read")
	in = s.post(page, in).all()
	in.Set("do", "check")
	for name, value := range changes {
		in.Set(name, value)
	}
	return s.post(page, in)
}

// What the form shows of outputs and actions is what the text says, and goes back into it without touching anything else.
func TestOutputsAndActionsHaveFields(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	a := rowsIn(t, s, shopYAML, nil)
	if text := a.says("text"); strings.TrimPrefix(text, "\n") != shopYAML {
		t.Fatalf("a form that no one changed makes it\n%s", text)
	}
	in := a.all()
	for name, want := range map[string]string{
		"outputs/0/name": "host", "outputs/0/type": "", "outputs/0/value": "%ip.service.hello[0]%", "outputs/0/description": "Address",
		"outputs/1/type": "url", "outputs/1/env": "SITE_URL", "outputs/2/file": "ca.crt", "outputs/2/mode": "0644", "outputs/2/value": "# head\n%fact.hello.ca%\n",
		"actions/0/name": "backup", "actions/0/label": "Back up", "actions/0/on": "service=hello", "actions/0/run": "/opt/backup.sh\n", "actions/0/who": "owner",
		"actions/0/approval": "true", "actions/0/timeout": "2h", "actions/0/batch": "1",
	} {
		if got := in.Get("f/" + name); got != want || !in.Has("f/"+name) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"outputs/0/file", "outputs/1/mode", "outputs/2/env"} {
		if in.Has("f/" + name) {
			t.Errorf("%s has a field, though outputs of its type have none", name)
		}
	}
	a.reads(http.StatusOK, "${config:hello.KEY}", "%fact.hello.NAME%", "Only in YAML:", "actions[0].parameters", "labels")
	for name, c := range map[string]struct {
		field, value string
		old, now     string // in the text
	}{
		"a value in flow style":    {"outputs/0/value", "%host.service.hello[0]%", "%ip.service.hello[0]%", "%host.service.hello[0]%"},
		"a value of several lines": {"outputs/2/value", "# top\r\n%fact.hello.ca%\r\n", "# head", "# top"},
		"a type":                   {"outputs/1/type", "secret", "type: url", "type: secret"},
		"the default type":         {"outputs/1/type", "", "    type: url\n", ""},
		"a type that had none":     {"outputs/0/type", "url", "name: host, value", "name: host, type: url, value"},
		"a mode stays text":        {"outputs/2/mode", "0600", `"0644"`, `"0600"`},
		"no variable":              {"outputs/1/env", " ", "    env: SITE_URL\n", ""},
		"a new description": {"outputs/2/description", "For clients: trust it", "%fact.hello.ca%\n",
			"%fact.hello.ca%\n    description: 'For clients: trust it'\n"},
		"a script": {"actions/0/run", "/opt/backup.sh --all\r\nid", "/opt/backup.sh", "/opt/backup.sh --all\n      id"},
		"nodes":    {"actions/0/on", "service=hello, zone=a", "[service=hello]", "[service=hello, zone=a]"},
		"who":      {"actions/0/who", "admin", "who: owner", "who: admin"},
		"a batch":  {"actions/0/batch", "2", "batch: 1", "batch: 2"},
	} {
		t.Run(name, func(t *testing.T) {
			a := rowsIn(t, s, shopYAML, map[string]string{"f/" + c.field: c.value})
			if text := strings.TrimPrefix(a.says("text"), "\n"); text != strings.Replace(shopYAML, c.old, c.now, 1) {
				t.Errorf("the text is\n%s", text)
			}
		})
	}
}

// Rows of outputs and actions are added and removed without a script, with everything else in its place.
func TestOutputsAreAddedAndRemoved(t *testing.T) {
	s, f := newCatalogSite(t, "root")
	const page = "/admin/catalog/template/greet/edit"
	a := s.get(page)
	a.reads(http.StatusOK, "Add output", "Add action")
	a.lacks("${secret:generated/NAME}")
	press := func(do string, changes map[string]string) seen {
		t.Helper()
		in := a.all()
		for name, value := range changes {
			in.Set(name, value)
		}
		in.Set("do", do)
		a = s.post(page, in)
		return a
	}
	press("add:f/outputs/0/name", nil).reads(http.StatusOK, "Output 1", "Remove Output 1", "a generated password", "2 errors")
	press("add:f/outputs/1/name", map[string]string{"f/outputs/0/name": "site", "f/outputs/0/type": "file", "f/outputs/0/value": "%fact.hello.ca%"})
	press("add:f/actions/0/name", map[string]string{"f/outputs/0/file": "ca.crt", "f/outputs/1/name": "host", "f/outputs/1/value": "%ip.service.hello[0]%"})
	press("check", map[string]string{"f/actions/0/name": "hello", "f/actions/0/run": "echo hello\nid"}).
		reads(http.StatusOK, "No problems found.", "Remove site", "Remove host")
	const want = "outputs:\n  - name: site\n    type: file\n    value: '%fact.hello.ca%'\n    file: ca.crt\n  - name: host\n    value: '%ip.service.hello[0]%'\n" +
		"actions:\n  - name: hello\n    run: |\n      echo hello\n      id\n"
	if text := a.says("text"); !strings.Contains(text, want) {
		t.Fatalf("the text is\n%s", text)
	}
	if text := a.body; strings.Contains(text, "Move up: site") || strings.Contains(text, "Move down: host") || strings.Contains(text, ": hello\"") {
		t.Error("a row can move out of its list")
	}
	press("down:f/outputs/0", map[string]string{"f/outputs/0/description": "A certificate"}).reads(http.StatusOK, "Move up", "Move down")
	if text := a.says("text"); !strings.Contains(text, "outputs:\n  - name: host\n") || a.all().Get("f/outputs/1/description") != "A certificate" {
		t.Fatalf("the text is\n%s", text)
	}
	for _, nowhere := range []string{"down:f/outputs/1", "up:f/outputs/0", "up:f/outputs/9", "up:f/links/1"} {
		s.post(page, withDo(a.all(), nowhere)).reads(http.StatusUnprocessableEntity, "The text has no such path.")
	}
	for _, no := range []string{"up:f/label", "up:f/label/1", "up:", "down:f/outputs/x"} {
		if got := s.post(page, withDo(a.all(), no)); got.status != http.StatusOK || got.says("text") != a.says("text") {
			t.Errorf("%s answers %d and\n%s", no, got.status, got.says("text"))
		}
	}
	if press("up:f/outputs/1", nil); !strings.Contains(a.body, `value="down:f/outputs/0" aria-label="Move down: site"`) {
		t.Error("the site can't move down again")
	}
	press("remove:f/outputs/0", nil).lacks("Remove site")
	if text := a.says("text"); strings.Contains(text, "ca.crt") || !strings.Contains(text, "outputs:\n  - name: host\n") {
		t.Fatalf("the text is\n%s", text)
	}
	press("review", nil).reads(http.StatusOK, "Save greet")
	press("save", nil)
	k := template.CatalogKey{Kind: "template", Name: "greet"}
	if v := f.own[k]; a.status != http.StatusSeeOther || len(v) != 1 || len(f.fake.catalog.Templates["greet"].Outputs) != 1 {
		t.Fatalf("%d, %+v", a.status, v)
	}
	s.get("/admin/catalog/template/greet").reads(http.StatusOK, "Outputs", "%ip.service.hello[0]%", "Actions", "2 lines")
	a = s.get(page)
	press("remove:f/outputs/0", nil)
	press("remove:f/actions/0", nil)
	if text := a.says("text"); strings.Contains(text, "outputs") || strings.Contains(text, "actions") {
		t.Errorf("the text is\n%s", text)
	}
}

// withDo is a form sent by a button.
func withDo(in url.Values, do string) url.Values {
	in.Set("do", do)
	return in
}

func TestProblemsOfOutputsAreAtTheirFields(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	for name, c := range map[string]struct{ field, value, at, want string }{
		"name":                   {"outputs/0/name", "Host", "outputs/0/name", "invalid output name"},
		"no name":                {"outputs/0/name", "", "outputs/0/name", "is required"},
		"twice":                  {"outputs/1/name", "host", "outputs/1/name", "defined twice"},
		"no value":               {"outputs/1/value", "", "outputs/1/value", "is required"},
		"a node's macro":         {"outputs/0/value", "%ip.self%", "outputs/0/value", "belongs to no node"},
		"a reference":            {"outputs/0/value", "${env:HOME}", "outputs/0/value", "unknown reference"},
		"the tenant's secret":    {"outputs/0/value", "${secret:TOKEN}", "outputs/0/value", "never shown"},
		"a service":              {"outputs/0/value", "%ip.service.helo[0]%", "outputs/0/value", "hello"},
		"a secret as text":       {"outputs/1/value", "${secret:generated/a}", "outputs/1/type", "type: secret"},
		"type":                   {"outputs/1/type", "link", "outputs/1/type", "unknown type"},
		"a file's mode for text": {"outputs/2/type", "", "outputs/2/type", "only a file has"},
		"file name":              {"outputs/2/file", "../ca", "outputs/2/file", "invalid file name"},
		"mode":                   {"outputs/2/mode", "rw", "outputs/2/mode", "invalid mode"},
		"variable":               {"outputs/1/env", "PATH", "outputs/1/env", "changes how programs run"},
		"action's name":          {"actions/0/name", "Back up", "actions/0/name", "name"},
		"action's script":        {"actions/0/run", "", "actions/0/run", "is required"},
		"action's nodes":         {"actions/0/on", "service=helo", "actions/0/on", "hello"},
		"action's timeout":       {"actions/0/timeout", "soon", "actions/0/timeout", "soon"},
		"action's batch":         {"actions/0/batch", "few", "actions/0/batch", "whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			a := rowsIn(t, s, shopYAML, map[string]string{"f/" + c.field: c.value})
			if got := a.at("err-f-" + strings.ReplaceAll(c.at, "/", "-")); !strings.Contains(got, c.want) {
				t.Errorf("beside %s is %q; problems: %s", c.at, got, a.at("problems"))
			}
		})
	}
}

// A choice that decides which fields there are brings them at once where the page has a script.
func TestTypesBringTheirFields(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	const page = "/admin/catalog/template/greet/edit"
	in := rowsIn(t, s, shopYAML+"parameters:\n  - {name: size, type: text}\n", nil).all()
	in.Set("from", "fields")
	in.Set("f/outputs/0/type", "file")
	a := s.post(page, in, "HX-Request", "true")
	if a.find("f-outputs-0-mode") == nil || a.find("f-outputs-0-env") != nil {
		t.Error("an output that became a file has no mode, or still a variable")
	}
	in.Set("f/outputs/0/type", "")
	in.Set("f/parameters/0/type", "choice")
	if a = s.post(page, in, "HX-Request", "true"); a.find("f-parameters-0-options") == nil {
		t.Error("a parameter that became a choice has no options")
	}
}

// What the page has not shown, and rows that the YAML has changed since, are left alone.
func TestRowsThatChangedAreLeftAlone(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	const page = "/admin/catalog/template/greet/edit"
	send := func(text string, change func(in url.Values)) seen {
		in := rowsIn(t, s, text, nil).all()
		change(in)
		return s.post(page, in)
	}
	textOf := func(a seen) string { return strings.TrimPrefix(a.says("text"), "\n") }
	two := strings.Replace(shopYAML, "# Ours.", "# Two.", 1)
	a := send(two, func(in url.Values) { in.Del("f/actions/0/approval"); in.Set("f/actions/0/label", "Save") })
	if got := textOf(a); got != strings.Replace(two, "Back up", "Save", 1) {
		t.Errorf("without the box of an approval it is\n%s", got)
	}
	a = send(two, func(in url.Values) { in.Set("f/actions/0/approval", "false") })
	if got := textOf(a); got != strings.Replace(two, "    approval: true\n", "", 1) {
		t.Errorf("with the box cleared it is\n%s", got)
	}
	// A row that's emptied takes nothing of the others along.
	a = send(two, func(in url.Values) {
		for _, name := range []string{"name", "value", "description"} {
			in.Set("f/outputs/0/"+name, "")
		}
		in.Set("f/outputs/1/description", "The site")
	})
	if got := textOf(a); strings.Contains(got, "Address") || strings.Count(got, "name: ") != strings.Count(two, "name: ")-1 ||
		!strings.Contains(got, "- name: site\n    type: url\n    env: SITE_URL\n    value: \"http://%host.service.hello[0]%/\"\n    description: The site\n") {
		t.Errorf("after a row was emptied it is\n%s", got)
	}
	// The YAML has another row on top since the buttons were shown.
	more := strings.Replace(two, "outputs:\n", "outputs:\n  - {name: first, value: a}\n", 1)
	for _, do := range []string{"remove:f/outputs/0", "down:f/outputs/0", "up:f/outputs/1"} {
		a = send(two, func(in url.Values) { in.Set("text", more); in.Set("do", do) })
		if a.reads(http.StatusUnprocessableEntity, "The rows of outputs were changed in the YAML"); textOf(a) != more {
			t.Errorf("%s made it\n%s", do, textOf(a))
		}
	}
	longer := strings.Replace(two, "actions:\n", "  - {name: last, value: z}\nactions:\n", 1)
	a = send(two, func(in url.Values) { in.Set("text", longer); in.Set("do", "add:f/outputs/3/name") })
	if got := textOf(a); !strings.Contains(got, "name: last") || !strings.Contains(got, "- name: \"\"\n") {
		t.Errorf("a row more makes it\n%s", got)
	}
	// Browsers would join the lines of an input.
	help := strings.Replace(two, "outputs:\n", "parameters:\n  - name: size\n    type: integer\n    help: |\n      One.\n      Two.\noutputs:\n", 1)
	if got := textOf(send(help, func(in url.Values) { in.Set("f/actions/0/label", "Save") })); got != strings.Replace(help, "Back up", "Save", 1) {
		t.Errorf("with help of two lines it is\n%s", got)
	}
}
