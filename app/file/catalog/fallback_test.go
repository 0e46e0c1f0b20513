package catalog

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

const fallbackTypes = `
---
kind: provider
name: cloud
type: fake
---
kind: hardware
name: small
providers: {cloud: {flavor: s, cpu: 2, memory_gb: 4}}
---
kind: hardware
name: medium
providers: {cloud: {flavor: m, cpu: 4, memory_gb: 4}}
---
kind: hardware
name: odd
providers: {cloud: {flavor: o, cpu: 4, memory_gb: 2}}
`

func TestFallbackHardwareIsReadAndMerged(t *testing.T) {
	text := "kind: template\nname: base\nstate: draft\nfallback_hardware: {small: [medium]}\n---\nkind: template\nname: t\nstate: draft\nextends: base\nfallback_hardware: {medium: [large], small: [large, medium]}\n"
	c := LintFS(Options{}, Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte(text)}}}).Catalog
	if got, want := c.Templates["t"].FallbackHardware, map[string][]string{"small": {"large", "medium"}, "medium": {"large"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := c.Templates["base"].FallbackHardware, map[string][]string{"small": {"medium"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("the one that it extends has %v, want %v", got, want)
	}
}

func TestFallbackHardwareProblems(t *testing.T) {
	for entry, want := range map[string]string{
		"fallback_hardware: {small: [medium]}":                     "",
		"fallback_hardware: {small: [odd]}":                        "fallback_hardware.small[0] is smaller than small at provider cloud: 2 GiB of memory instead of 4; use hardware of the same size or larger",
		"fallback_hardware: {small: [small]}":                      "fallback_hardware.small[0] is the hardware it replaces; remove it",
		"fallback_hardware: {small: [medium, medium]}":             "fallback_hardware.small lists \"medium\" twice; remove one",
		"fallback_hardware: {small: [mediun]}":                     "did you mean \"medium\"?",
		"fallback_hardware: {smal: [medium]}":                      "did you mean \"small\"?",
		"fallback_hardware: [medium]":                              "fallback_hardware",
		"fallback_hardware: {small: [a,b,c,d,e,f,g,h,i,j,medium]}": "lists 11 hardware types; at most 10 are allowed",
	} {
		got := lint(Options{}, "a.yaml", "kind: template\nname: t\nstate: draft\ndefaults: {provider: cloud}\n"+entry+"\n"+fallbackTypes)
		if !strings.Contains(got, want) || want == "" && strings.Contains(got, "fallback_hardware") {
			t.Errorf("%s: got\n%s\nwant %s", entry, got, want)
		}
	}
}
