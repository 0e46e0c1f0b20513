//go:build real

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/cmd/muster/cli"
)

// TestRealShellcheckInLint: what shellcheck calls an error is reported at the line of the file, and the examples have none.
func TestRealShellcheckInLint(t *testing.T) {
	if code, r := shellcheckFindings(t, "../../examples/catalog"); code != cli.ExitDone || r.Errors > 0 {
		t.Errorf("the examples: exit %d, %+v", code, r.Problems)
	}
	dir := t.TempDir()
	text := "kind: service\nname: s\nactions:\n  install: echo\n  start: |\n    set -e\n    if [ \"$1\" -lt 1 ] ; then exit 1; fi\n    [ $1 == 1 -a ]\n  stop: |\n    #!/usr/bin/env bash\n    x=(a b)\n    echo ${x[@]\n" +
		"    echo \"$@\"x[0]\n---\nkind: service\nname: u\nactions:\n  start: |\n    #!/bin/bash\n    set -e\n    for f in \"$@\"; do echo \"${f}\"; done\n    if [ 1 -eq ]; then echo; fi\n"
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, r := shellcheckFindings(t, dir)
	found := false
	for _, p := range r.Problems {
		t.Logf("%d:%d %s %s %s", p.Line, p.Column, p.Severity, p.Message, p.Hint)
		found = found || p.Line == 8 && strings.Contains(p.Message, "SC") && strings.Contains(p.Hint, "shellcheck.net/wiki/SC")
	}
	if code != cli.ExitFailed || !found {
		t.Errorf("exit %d; nothing of shellcheck's at line 8", code)
	}
}
