package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/template"
	"muster/app/webhook"
	"muster/cmd/muster/catalog"
	"muster/cmd/muster/cli"
)

const brokenScript = `kind: service
name: broken
actions:
  start: |
    set -e
    if [ -f /etc/motd ]; then
      cat /etc/motd
`

// TestScriptsThatTheirShellCannotReadAreRefused wherever one is handed in: in files, as a tenant's own, and as a hook of operations; and by the line
// that is wrong.
func TestScriptsThatTheirShellCannotReadAreRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte(brokenScript), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	code := run(context.Background(), []string{"catalog", "lint", dir}, strings.NewReader(""), &out, &errOut)
	if code != cli.ExitFailed || !strings.Contains(out.String(), file+":6:5: error: service \"broken\": actions.start.fields.script: script line 2, column 1: `if") {
		t.Errorf("lint: exit %d: %s%s", code, &out, &errOut)
	}

	m := newMatrix(t)
	admin := tenantAdmin(here)
	r := m.apply(admin, yamlOf(brokenScript))
	if r.Saved || len(r.Problems) != 1 || r.Problems[0].Line != 6 || r.Problems[0].Column != 5 || r.Problems[0].Field != "actions.start.fields.script" ||
		!strings.Contains(r.Problems[0].Message, "script line 2, column 1") {
		t.Errorf("apply: %+v", r)
	}
	if r = m.apply(admin, yamlOf(strings.Replace(brokenScript, "/etc/motd\n", "/etc/motd\n    fi\n", 1))); !r.Saved {
		t.Errorf("what is right is refused: %+v", r.Problems)
	}
	_, err := m.server.Services.Webhook.SaveHook(admin.In(t.Context()), admin, webhook.EndpointRequest{Name: "warm", When: template.HookAfter, Script: "case $1 in\n"})
	if e := app.AsError(err); app.CodeOf(err) != app.EInvalid || e.Field != "script" || !strings.Contains(e.Message, "line 1, column 1: `case`") {
		t.Errorf("a hook: %v", err)
	}
}

// TestLintNeedsShellcheckForShellcheck: without the program, it says how one gets it.
func TestLintNeedsShellcheckForShellcheck(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, errOut bytes.Buffer
	if code := run(context.Background(), []string{"catalog", "lint", "--shellcheck", "../../examples/catalog"}, strings.NewReader(""), &out, &errOut); code == cli.ExitDone ||
		!strings.Contains(errOut.String(), "apt install shellcheck") {
		t.Errorf("exit %d: %s%s", code, &out, &errOut)
	}
}

// shellcheckFindings are the problems of lint --shellcheck.
func shellcheckFindings(t *testing.T, dirs ...string) (code int, r catalog.ReportJSON) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(context.Background(), append([]string{"catalog", "lint", "--shellcheck", "--format", "json"}, dirs...), strings.NewReader(""), &out, &errOut)
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("exit %d: %v: %s%s", code, err, &out, &errOut)
	}
	return code, r
}
