package catalog

import (
	"strings"
	"testing"

	"muster/app/template"
)

// TestScriptErrorsHaveTheirPosition: a fault is at its line of the file, whichever part of an entry is a script.
func TestScriptErrorsHaveTheirPosition(t *testing.T) {
	o := families()
	o.CheckAction = nil
	o.CheckScript = func(script string) *template.ScriptFault {
		for i, l := range strings.Split(script, "\n") {
			if at := strings.Index(l, "BAD"); at >= 0 {
				return &template.ScriptFault{Line: i + 1, Column: at + 1, Message: "it is bad", Warning: strings.Contains(l, "PERHAPS")}
			}
		}
		return nil
	}
	for _, c := range []struct{ name, text, want string }{
		{"a script by itself", "kind: service\nname: s\nactions:\n  start: |\n    echo\n\n    if BAD\n",
			`c/a.yaml:7:8: error: service "s": actions.start.fields.script: script line 3, column 4: it is bad`},
		{"a field of an action", "kind: service\nname: s\nactions:\n  stop:\n    automator: shell\n    fields:\n      script: |-\n          echo\n            BAD\n      args: x\n",
			`c/a.yaml:9:13: error: service "s": actions.stop.fields.script: script line 2, column 3: it is bad`},
		{"on one line", "kind: service\nname: s\nactions:\n  start: {automator: shell, fields: {script: \"echo\\nBAD\"}}\n",
			`c/a.yaml:4:46: error: service "s": actions.start.fields.script: script line 2, column 1: it is bad`},
		{"only a warning", "kind: service\nname: s\nactions:\n  start: |\n    PERHAPS BAD\n", "warning"},
		{"a second document", "kind: service\nname: r\n---\nkind: service\nname: s\nactions:\n  start: |\n    BAD\n", "c/a.yaml:8:5: error"},
		{"another automator", "kind: service\nname: s\nactions:\n  start: {automator: other, fields: {script: BAD}}\n", ""},
		{"a health check", "kind: service\nname: s\nhealth:\n  command: test BAD\n", `c/a.yaml:4:12: error: service "s": health.command: script line 1, column 6`},
		{"a hook", "kind: service\nname: s\n---\nkind: template\nname: t\ndefaults: {services: [s]}\nhooks:\n  - {name: a, when: after, run: BAD}\n",
			`error: template "t": hooks[0].run: script line 1, column 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lint(o, "a.yaml", c.text)
			var said []string
			for l := range strings.SplitSeq(got, "\n") {
				if strings.Contains(l, "it is bad") {
					said = append(said, l)
				}
			}
			if c.want == "" && len(said) > 0 || c.want != "" && (len(said) != 1 || !strings.Contains(said[0], c.want)) {
				t.Errorf("got %q, want %q; all: %s", said, c.want, got)
			}
		})
	}
	coopr := lint(o, "services/s.json", `{"name": "s", "provisioner": {"actions": {"start": {"type": "shell", "fields": {"script": "BAD"}}}}}`)
	if !strings.Contains(coopr, "warning") || !strings.Contains(coopr, "it is bad") {
		t.Errorf("of Coopr's: %q", coopr)
	}
}

func TestMacrosAreCoveredForShells(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"test %num.service.web% = 3":           "test xxxxxxxxxxxxxxxxx = 3",
		"a %map(host.service.x,'$:80 (')% b":   "a " + strings.Repeat("x", 30) + " b",
		"nc %ip.self% %config.lb.port% || x%%": "nc xxxxxxxxx xxxxxxxxxxxxxxxx || x%%",
		"%no% %macro%":                         "%no% %macro%",
		"100%":                                 "100%",
	} {
		if got := template.CoverMacros(text); got != want || len(got) != len(text) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
