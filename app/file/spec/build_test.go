package spec

import (
	"reflect"
	"strings"
	"testing"

	"muster/app"
	"muster/app/build"
)

func TestRulesRoundTrip(t *testing.T) {
	queue := 0
	rules := []build.Rule{
		{Name: "web", When: `event.event == "workflow_job" && "muster" in event.labels`, Do: build.ActionCreate, Template: "web", Size: 3, Cluster: "ci-${event.branch}",
			Parameters: map[string]any{"version": "${event.commit}", "replicas": 2.0, "on": true}, Lease: "2h", Queue: &queue, Key: "event.build",
			Callback: "${event.payload.callback_url}"},
		{Name: "done", When: `event.action == "closed"`, Do: build.ActionDelete, Key: `"pr" + string(event.pull_request)`},
	}
	text, err := BuildRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "- name: web\n  when: ") || strings.Contains(string(text), "{") && !strings.Contains(string(text), "${") {
		t.Errorf("written as\n%s", text)
	}
	for _, form := range []string{string(text), "rules:\n" + string(text)} {
		again, err := ReadBuildRules([]byte(form))
		if err != nil || !reflect.DeepEqual(again, rules) {
			t.Errorf("%v: %+v\n%s", err, again, form)
		}
	}
}

// Rules that came as JSON may hold characters that YAML does not let in.
func TestRulesWithOddCharactersAreWritten(t *testing.T) {
	for _, text := range []string{"\x7f", "\u0080", "\u0085", "\u009f", "\ufeff", "\ufffe", "\uffff", "\x00", "\r", "a\nb\n", " \ta ", "\u2028", "\U0001f600", "é", "- a: &b *c", "%x", "'\"\\"} {
		rules := []build.Rule{{Name: "web", When: text, Do: build.ActionNothing, Parameters: map[string]any{text: []any{text, 1.0, nil}}}}
		written, err := BuildRules(rules)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if again, err := ReadBuildRules(written); err != nil || !reflect.DeepEqual(again, rules) {
			t.Errorf("%q is written as %q and read as %+v, %v", text, written, again, err)
		}
	}
}

func TestInvalidRulesAreReported(t *testing.T) {
	for text, want := range map[string]string{
		"- name: a\n  wen: true\n": "Line 2: [0].wen: Unknown field", "a: 1": "must be a list", "- [": "Invalid YAML", "- name: [3]": "Line 1: [0].name: This must be text.", "- {1: 2}": "[0].1: Unknown field",
		"rules:\n- do: {}\n- size: x\n": "Line 3: rules[1].size: This must be a whole number.", "- name: a\n  name: b\n": "set twice, first on line 1",
		strings.Repeat("#", maxRules+1): "at most 128 KiB",
	} {
		if _, err := ReadBuildRules([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
	if rules, err := ReadBuildRules([]byte("# nothing yet\n")); err != nil || rules == nil || len(rules) != 0 {
		t.Errorf("an empty file: %v, %v", rules, err)
	}
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{"- name: a\n  when: \"true\"\n  do: nothing", "rules: []", "&a [*a]", "- !!binary x", "{}", "- name: [1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ReadBuildRules([]byte(text))
		if err != nil {
			if app.CodeOf(err) != app.EInvalid && app.CodeOf(err) != app.ETooLarge {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if _, err := BuildRules(rules); err != nil {
			t.Errorf("%q cannot be written: %v", text, err)
		}
	})
}
