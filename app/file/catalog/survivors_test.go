package catalog

import (
	"strings"
	"testing"
	"testing/fstest"

	"muster/app/template"
)

func TestSurvivorsAreRead(t *testing.T) {
	for text, want := range map[string]*template.Survivors{
		"":                         nil,
		"survivors: {}":            {},
		"survivors: {at_least: 3}": {AtLeast: "3"},
		"survivors: {at_least: 60%, top_up: off}":        {AtLeast: "60%", NoTopUp: true},
		"survivors: {at_least: '7', top_up: true}":       {AtLeast: "7"},
		"survivors: {at_least: \"100%\", top_up: false}": {AtLeast: "100%", NoTopUp: true},
	} {
		c := LintFS(Options{}, Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte("kind: template\nname: t\nstate: draft\n" + text + "\n")}}}).Catalog
		switch got := c.Templates["t"].Survivors; {
		case (got == nil) != (want == nil), got != nil && *got != *want:
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestSurvivorsProblems(t *testing.T) {
	for entry, want := range map[string]string{
		"survivors: {at_least: 0}":                                "survivors.at_least: found the number 0, expected a number of nodes, or a share from 1% to 100%",
		"survivors: {at_least: 101%}":                             "expected a number of nodes, or a share from 1% to 100%",
		"survivors: {at_least: few}":                              "expected a number of nodes, or a share from 1% to 100%",
		"survivors: {top_up: later}":                              "expected on or off",
		"survivors: {atleast: 3}":                                 "unknown key survivors.atleast; did you mean \"at_least\"?",
		"survivors: yes":                                          "survivors",
		"survivors: {at_least: 9}\nconstraints: {size: {max: 5}}": "survivors.at_least is 9, but clusters have at most 5 nodes",
	} {
		if got := lint(Options{}, "a.yaml", "kind: template\nname: t\n"+entry+"\n"); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant %s", entry, got, want)
		}
	}
}
