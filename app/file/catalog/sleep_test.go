package catalog

import (
	"strings"
	"testing"
)

// A template that puts idle clusters to sleep is warned of providers whose machines can't sleep.
func TestIdleSleepAtProvidersWithout(t *testing.T) {
	const entries = `
kind: provider
name: vms
type: cloud
---
kind: provider
name: plain
type: metal
---
kind: hardware
name: small
providers: {vms: {flavor: s}, plain: {flavor: s}}
---
kind: image
name: base
providers: {vms: {image: b}, plain: {image: b}}
---
kind: service
name: web
actions: {install: "true"}
---
kind: template
name: t
`
	const want = `idle clusters are put to sleep, but machines of provider "plain", of type metal, can't sleep`
	const on = "defaults: {services: [web], provider: "
	o := Options{Sleeps: func(typ string) bool { return typ == "cloud" }}
	for text, warnings := range map[string]int{
		on + "vms}\nidle: {if: {no_ssh: true}, after: 2h, then: sleep}":                                0,
		on + "plain}\nidle: {if: {no_ssh: true}, after: 2h, then: delete}":                             0,
		on + "plain}\nidle: {if: {no_ssh: true}, after: 2h, then: warn}":                               0,
		on + "plain}\nidle: {then: nothing}":                                                           0,
		on + "plain}":                                                                                  0,
		on + "plain}\nidle: {if: {no_ssh: true}, after: 2h, then: sleep}":                              1,
		on + "plain}\nidle: {if: {no_ssh: true}, after: 2h}":                                           1,
		on + "vms}\nplaces: [{provider: plain}]\nidle: {if: {no_ssh: true}, after: 2h, then: sleep}":   1,
		on + "plain}\nplaces: [{provider: plain}]\nidle: {if: {no_ssh: true}, after: 2h, then: sleep}": 1,
	} {
		if got := lint(o, "a.yaml", entries+text+"\n"); strings.Count(got, want) != warnings {
			t.Errorf("%s:\n%s\nwant %d warnings", text, got, warnings)
		}
	}
}
