package catalog

import (
	"strings"
	"testing"
)

// A template whose services need volumes is warned of providers that make none.
func TestVolumesAtProvidersWithout(t *testing.T) {
	const entries = `
kind: provider
name: disks
type: cloud
---
kind: provider
name: plain
type: metal
---
kind: hardware
name: small
providers: {disks: {flavor: s}, plain: {flavor: s}}
---
kind: image
name: base
providers: {disks: {image: b}, plain: {image: b}}
---
kind: service
name: db
volumes:
  - {name: data, size_gb: 10, mount: /srv/data}
actions: {install: "true"}
---
kind: service
name: web
actions: {install: "true"}
---
kind: template
name: t
`
	o := Options{MakesVolumes: func(typ string) bool { return typ == "cloud" }}
	for text, want := range map[string]string{
		"defaults: {provider: disks, services: [db]}":                              "",
		"defaults: {provider: plain, services: [web]}":                             "",
		"defaults: {provider: plain, services: [web, db]}":                         `service "db" needs volumes, and provider "plain", of type metal, makes none`,
		"defaults: {provider: disks, services: [db]}\nplaces: [{provider: plain}]": `service "db" needs volumes, and provider "plain", of type metal, makes none`,
	} {
		got := lint(o, "a.yaml", entries+text+"\n")
		if want == "" && strings.Contains(got, "volumes") || !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant %q", text, got, want)
		}
	}
}
