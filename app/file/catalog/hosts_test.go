package catalog

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"muster/app/layout"
	"muster/app/template"
)

func TestHostsAreRead(t *testing.T) {
	got, err := ReadHosts("hosts.yaml", []byte(`
provider: rack
hosts:
  - {name: r1, hardware: slot, nodes: 2}
  - name: r2
    hardware: slot
    zone: b
    nodes: 4
    free: {cpu: 8, disk_gb: 0}
    has:
      - {cluster: billing, services: [batch, db], alone: true, apart: [lb]}
`))
	if err != nil {
		t.Fatal(err)
	}
	eight, none := 8.0, 0.0
	want := &layout.HostPool{Provider: "rack", Hosts: []layout.Host{
		{Name: "r1", Hardware: "slot", Nodes: 2},
		{Name: "r2", Hardware: "slot", Zone: "b", Nodes: 4, Free: layout.HostFree{CPU: &eight, DiskGB: &none},
			Has: []layout.HostedNode{{Cluster: "billing", Services: []string{"batch", "db"}, Alone: true, Apart: []string{"lb"}}}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestHostsSayWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "h.yaml: error: the file is empty"},
		{"no list", "provider: rack\n", "h.yaml:1:1: error: hosts is required"},
		{"broken", "hosts: [\n", "h.yaml"},
		{"two documents", "hosts: []\n---\nhosts: []\n", "more than one document"},
		{"a key unknown", "hosts:\n  - {name: a, hardware: s, nodes: 1, slots: 2}\n", `h.yaml:2:38: error: unknown key hosts[0].slots`},
		{"no number of nodes", "hosts:\n  - {name: a, hardware: s}\n", "hosts[0].nodes is required"},
		{"less than none", "hosts:\n  - {name: a, hardware: s, nodes: -1}\n", "a number of at least 0"},
		{"a text for a number", "hosts:\n  - {name: a, hardware: s, nodes: \"2\"}\n", "must be a whole number"},
		{"less than nothing free", "hosts:\n  - {name: a, hardware: s, nodes: 1, free: {cpu: -2}}\n", "hosts[0].free.cpu must be a number of at least 0 (found -2)"},
		{"a name twice", "hosts:\n  - {name: a, hardware: s, nodes: 1}\n  - {name: a, hardware: s, nodes: 1}\n", "h.yaml:3:12: error: hosts[1].name is a, as is that of hosts[0]"},
		{"an empty service", "hosts:\n  - {name: a, hardware: s, nodes: 1, has: [{cluster: c, services: [\"\"]}]}\n", "hosts[0].has[0].services[0] is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadHosts("h.yaml", []byte(test.text))
			if got != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %q", got, err, test.want)
			}
		})
	}
}

const ruled = `kind: template
name: t
defaults:
  services:
    - a
    - b
  hardware: h
constraints:
  services:
    a:
      min: 2
      max: 3
    b: {hardware: [h]}
  cant_coexist:
    - [a, b]
  ratios:
    - one a per 2 b
  hosts:
    alone: [a]
    apart:
      - {service: b, from: [a]}
    separate:
      - b
    max_nodes: 2
`

const stated = `---
kind: service
name: a
needs:
  cpu: 1
---
{kind: service, name: b}
---
{kind: hardware, name: h, providers: {p: {flavor: f}}}
---
{kind: provider, name: p, type: x}
`

func TestEntriesKnowTheLinesOfTheirParts(t *testing.T) {
	c, err := loadFS(Options{}, Source{Name: "in", FS: fstest.MapFS{"t.yaml": {Data: []byte(ruled + stated)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("rules", func(t *testing.T) {
		want := &template.HostRule{Alone: []string{"a"}, Apart: []template.HostApart{{Service: "b", From: []string{"a"}}}, Separate: []string{"b"}, MaxNodes: 2}
		if got := c.Templates["t"].Constraints.Hosts; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v", got)
		}
	})
	of := c.Templates["t"].About
	for path, want := range map[string]string{
		"constraints.services.a.min":    "in/t.yaml:11",
		"constraints.services.a.max":    "in/t.yaml:12",
		"constraints.services.b":        "in/t.yaml:13",
		"constraints.cant_coexist[0]":   "in/t.yaml:15",
		"constraints.ratios[0]":         "in/t.yaml:17",
		"constraints.hosts.alone[0]":    "in/t.yaml:19",
		"constraints.hosts.apart[0]":    "in/t.yaml:21",
		"constraints.hosts.separate[0]": "in/t.yaml:23",
		"constraints.hosts.max_nodes":   "in/t.yaml:24",
		"defaults.services.b":           "in/t.yaml:6",
		"defaults.hardware":             "in/t.yaml:7",
		"constraints.must_coexist[0]":   "in/t.yaml:1",
	} {
		if got := of.At(path).String(); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got := of.At("constraints.services.b.min", "constraints.services.b").Line; got != 13 {
		t.Errorf("got line %d", got)
	}
	if got := c.Services["a"].At("needs").Line; got != 28 {
		t.Errorf("needs: got line %d", got)
	}
}

func TestRulesForHostsAreChecked(t *testing.T) {
	text := strings.NewReplacer("alone: [a]", "alone: [a, a]", "      - b\n    max_nodes: 2", "      - bb\n    max_nodes: 0").Replace(ruled)
	_, err := loadFS(Options{}, Source{Name: "in", FS: fstest.MapFS{"t.yaml": {Data: []byte(text + stated)}}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`constraints.hosts.alone names "a" twice`,
		`constraints.hosts.separate[0] refers to service "bb", which isn't in the catalog; did you mean "b"?`,
		`constraints.hosts.max_nodes must be a number of at least 1 (found 0)`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

func TestApartFromNothingIsAnError(t *testing.T) {
	text := strings.Replace(ruled, "from: [a]", "from: []", 1)
	_, err := loadFS(Options{}, Source{Name: "in", FS: fstest.MapFS{"t.yaml": {Data: []byte(text + stated)}}})
	if want := `in/t.yaml:21:9: error: template "t": constraints.hosts.apart[0] has no effect on "b": from is empty`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
