package catalog

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"muster/app/label"
)

// Labels are merged key by key, and what one template requires, those that extend it require, too.
func TestLabelsAreReadAndMerged(t *testing.T) {
	text := "kind: template\nname: base\nstate: draft\nlabels: {defaults: {stage: dev, team: web}, required: {cost-centre: Ask your team lead.}}\n---\n" +
		"kind: template\nname: t\nstate: draft\nextends: base\nlabels: {defaults: {stage: live}, required: {owner-mail: ''}}\n"
	c := LintFS(Options{}, Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte(text)}}}).Catalog
	want := &label.Rules{Defaults: label.Labels{"stage": "live", "team": "web"}, Required: map[string]string{"cost-centre": "Ask your team lead.",
		"owner-mail": ""}}
	if got := c.Templates["t"].Labels; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := c.Templates["base"].Labels; len(got.Required) != 1 || got.Defaults["stage"] != "dev" {
		t.Errorf("the one that it extends has %+v", got)
	}
}

func TestLabelProblems(t *testing.T) {
	for entry, want := range map[string]string{
		"labels: {defaults: {Team: web}}":           "Invalid label key \"Team\"",
		"labels: {defaults: {team: 'a, b'}}":        "Invalid value of label \"team\"",
		"labels: {required: {muster-tenant: ''}}":   "Label key \"muster-tenant\" is reserved",
		"labels: {required: [cost-centre]}":         "labels.required",
		"labels: {needed: {team: ''}}":              "unknown key labels.needed",
		"labels: yes":                               "labels",
		"labels: {required: {team: Ask your boss}}": "",
	} {
		if got := lint(Options{}, "a.yaml", "kind: template\nname: t\nstate: draft\n"+entry+"\n"); !strings.Contains(got, want) || want == "" &&
			strings.Contains(got, "labels") {
			t.Errorf("%s: got\n%s\nwant %s", entry, got, want)
		}
	}
}
