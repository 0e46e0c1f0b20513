package catalog

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"muster/app"
	"muster/app/template"
)

func TestHooksOfTemplates(t *testing.T) {
	c, err := Load(Options{Env: env(map[string]string{"CLOUD_TOKEN": "sesame"})}, "testdata/good")
	if err != nil {
		t.Fatal(err)
	}
	want := []template.OperationHook{
		{Name: "ask", When: template.HookBefore, Operations: []app.OperationKind{app.OperationCreate, app.OperationResize}, SendTo: "cmdb", Timeout: 2 * time.Minute,
			OnTimeout: template.HookContinue},
		{Name: "warm", When: template.HookAfter, Script: "curl -fs http://localhost/", Services: []string{"proxy"}, Timeout: time.Minute},
	}
	if got := c.Templates["hooked"].Hooks; !reflect.DeepEqual(got, want) {
		t.Errorf("the hooks are %+v", got)
	}
}

// TestWrongHooks: what a hook cannot do is said where it is written.
func TestWrongHooks(t *testing.T) {
	for _, c := range []struct{ name, hook, place, says string }{
		{"a time that there is not", "{name: a, when: during, run: x}", "when", "Unknown value \"during\" for when"},
		{"neither script nor call", "{name: a, when: before}", "run", "exactly one of"},
		{"both", "{name: a, when: before, run: x, send_to: y}", "run", "exactly one of"},
		{"a script after a failure", "{name: a, when: failure, run: x}", "when", "not when it fails"},
		{"a script before a deletion", "{name: a, when: before, run: x, operations: [delete]}", "operations", "must be deleted anyway"},
		{"a script of an accepted partial result, which has the scripts of the operation it continues", "{name: a, when: after, run: x, operations: [create, accept_partial]}", "operations", "after creation or the resize"},
		{"an operation that there is not", "{name: a, when: before, run: x, operations: [destroy]}", "operations", "Unknown operation kind"},
		{"a name in capitals", "{name: A, when: before, run: x}", "name", "lowercase letters"},
		{"nodes for a call", "{name: a, when: after, send_to: y, services: [base]}", "services", "apply only to scripts"},
		{"a choice that there is not", "{name: a, when: before, send_to: y, on_timeout: perhaps}", "on_timeout", "Unknown value \"perhaps\""},
		{"a choice where nothing waits", "{name: a, when: after, send_to: y, on_timeout: veto}", "on_timeout", "only to webhooks called before"},
		{"a time-out of days", "{name: a, when: before, send_to: y, timeout: 2d}", "timeout", "24 h"},
		{"a service that there is not", "{name: a, when: after, run: x, services: [nobody]}", "services", "nobody"},
		{"the same name twice", "{name: a, when: after, run: x}, {name: a, when: before, run: y}", "name", "two hooks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := LintFS(families(), Source{Name: "c", FS: fstest.MapFS{"t.yaml": {Data: []byte("kind: service\nname: base\n---\nkind: template\nname: t\n" +
				"defaults: {services: [base]}\nhooks: [" + c.hook + "]\n")}}}).Problems
			for _, p := range problems {
				if text := p.String(); strings.Contains(text, c.says) && strings.Contains(text, "hooks") && strings.Contains(text, c.place) {
					return
				}
			}
			t.Errorf("the problems are %v", problems)
		})
	}
}
