package catalog

import (
	"strings"
	"testing"
	"testing/fstest"

	"muster/app/template"
)

func TestPartialResultsAreRead(t *testing.T) {
	for text, want := range map[string]*template.PartialResults{
		"":                                    nil,
		"partial_results: {}":                 {},
		"partial_results: {min_available: 3}": {MinAvailable: "3"},
		"partial_results: {min_available: 60%, backfill: off}":        {MinAvailable: "60%", NoBackfill: true},
		"partial_results: {min_available: '7', backfill: true}":       {MinAvailable: "7"},
		"partial_results: {min_available: \"100%\", backfill: false}": {MinAvailable: "100%", NoBackfill: true},
	} {
		c := LintFS(Options{}, Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte("kind: template\nname: t\nstate: draft\n" + text + "\n")}}}).Catalog
		switch got := c.Templates["t"].PartialResults; {
		case (got == nil) != (want == nil), got != nil && *got != *want:
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestPartialResultsProblems(t *testing.T) {
	for entry, want := range map[string]string{
		"partial_results: {min_available: 0}":                                "partial_results.min_available must be a number of nodes, or a share from 1% to 100% (found 0)",
		"partial_results: {min_available: 101%}":                             "must be a number of nodes, or a share from 1% to 100%",
		"partial_results: {min_available: few}":                              "must be a number of nodes, or a share from 1% to 100%",
		"partial_results: {backfill: later}":                                 "must be on or off",
		"partial_results: {minavailable: 3}":                                 "unknown key partial_results.minavailable; did you mean \"min_available\"?",
		"partial_results: yes":                                               "partial_results",
		"partial_results: {min_available: 9}\nconstraints: {size: {max: 5}}": "partial_results.min_available is 9, but clusters have at most 5 nodes",
	} {
		if got := lint(Options{}, "a.yaml", "kind: template\nname: t\n"+entry+"\n"); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant %s", entry, got, want)
		}
	}
}
