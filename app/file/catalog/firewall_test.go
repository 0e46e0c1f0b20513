package catalog

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

func TestFirewallsAreRead(t *testing.T) {
	anywhere := template.Anywhere()
	for text, want := range map[string]*template.Firewall{
		"":                               nil,
		"firewall: {}":                   {},
		"firewall: {open: []}":           {},
		"firewall: {open: [443]}":        {Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: anywhere}}},
		"firewall: {open: [icmp, '80']}": {Rules: []template.FirewallRule{{Protocol: "icmp", From: anywhere}, {Protocol: "tcp", Ports: "80", From: anywhere}}},
		"firewall: {open: [8000-8100 from anywhere]}": {Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "8000-8100", From: anywhere}}},
		"firewall: {open: ['udp 53 from 10.0.0.0/8, fd00::/8']}": {Rules: []template.FirewallRule{
			{Protocol: "udp", Ports: "53", From: []string{"10.0.0.0/8", "fd00::/8"}}}},
		"firewall: {open: [{ports: 22, from: [192.0.2.1/32]}]}": {Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "22", From: []string{"192.0.2.1/32"}}}},
	} {
		all := LintFS(Options{}, Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte("kind: template\nname: t\nstate: draft\n" + text + "\n")}}}).Catalog
		got := all.Templates["t"].Firewall
		if (got == nil) != (want == nil) || got != nil && (len(got.Rules) != len(want.Rules) || len(want.Rules) > 0 && !reflect.DeepEqual(got.Rules, want.Rules)) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
			continue
		}
		if got == nil {
			continue
		}
		if again := form.FirewallDocOf(got); !reflect.DeepEqual(again.Firewall().Rules, got.Rules) {
			t.Errorf("%s: written and read again it is %+v", text, again.Firewall())
		}
	}
}

func TestFirewallProblems(t *testing.T) {
	for entry, want := range map[string]string{
		"firewall: {open: [70000]}":                            "firewall.open[0]: Invalid port or range \"70000\".",
		"firewall: {open: [90-80]}":                            "Invalid port or range \"90-80\"",
		"firewall: {open: [http]}":                             `must be a port such as 443, text such as "udp 53 from 10.0.0.0/8"`,
		"firewall: {open: [{protocol: tpc, ports: 1}]}":        "Unsupported protocol \"tpc\"",
		"firewall: {open: [{ports: 443, from: [10.0.0.1/8]}]}": "10.0.0.1/8 has host bits set",
		"firewall: {open: [443 from 10.0.0]}":                  "Invalid address prefix \"10.0.0\"",
		"firewall: {open: [{protocol: icmp, ports: 3}]}":       "icmp has no ports",
		"firewall: {ports: [443]}":                             "unknown key firewall.ports",
		"firewall: [443]":                                      "firewall",
	} {
		if got := lint(Options{}, "a.yaml", "kind: template\nname: t\n"+entry+"\n"); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant %s", entry, got, want)
		}
	}
}
