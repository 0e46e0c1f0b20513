package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/cmd/muster/cli"
)

// TestExitCodes keeps the promise that scripts of others rely on.
func TestExitCodes(t *testing.T) {
	home(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good/all.yaml": "kind: provider\nname: here\ntype: fake\n---\nkind: hardware\nname: small\nproviders: {here: {flavor: s}}\n---\n" +
			"kind: image\nname: host\nproviders: {here: {image: h}}\n---\nkind: service\nname: web\n---\n" +
			"kind: template\nname: web\ndefaults: {services: [web], provider: here}\nconstraints: {size: {max: 3}}\n",
		"bad/all.yaml": "kind: service\nnam: web\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	for _, tt := range []struct {
		line string
		code int
	}{
		{"version", cli.ExitDone},
		{"--help", cli.ExitDone},
		{"solve --help", cli.ExitDone},
		{"solve --catalog " + good + " --template web --size 3", cli.ExitDone},
		{"plan --catalog " + good + " --template web --size 3", cli.ExitDone},
		{"catalog lint " + good, cli.ExitDone},
		{"catalog lint " + bad, cli.ExitFailed},
		{"solve --catalog " + bad + " --template web --size 3", cli.ExitFailed},
		{"cluster list --server http://127.0.0.1:1", cli.ExitFailed},
		{"cluster list", cli.ExitFailed},
		{"bogus", cli.ExitUsage},
		{"solve bogus", cli.ExitUsage},
		{"solve --bogus", cli.ExitUsage},
		{"solve --catalog " + good, cli.ExitUsage},
		{"solve --catalog " + dir + "/none --template web --size 3", cli.ExitUsage},
		{"solve --catalog " + good + " --template web --size x", cli.ExitUsage},
		{"cluster delete web", cli.ExitUsage},
		{"solve --catalog " + good + " --template web --size 4", cli.ExitNoLayout},
		{"solve --catalog " + good + " --template web --size -1", cli.ExitNoLayout},
		{"solve --catalog " + good + " --template none --size 1", cli.ExitNoLayout},
		{"solve --catalog " + good + " --template web --size 1 --provider none", cli.ExitNoLayout},
		{"plan --catalog " + good + " --template web --size 1 --services none", cli.ExitNoLayout},
	} {
		var out, errOut bytes.Buffer
		code := run(context.Background(), strings.Fields(tt.line), strings.NewReader(""), &out, &errOut)
		if code != tt.code {
			t.Errorf("muster %s: exit %d, want %d\n%s%s", tt.line, code, tt.code, &out, &errOut)
		}
		if (code == cli.ExitDone) != (errOut.Len() == 0) && !strings.HasPrefix(tt.line, "catalog lint") {
			t.Errorf("muster %s: stderr is %q", tt.line, &errOut)
		}
	}
}

func TestUnknownColoursAreWrongUsage(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"version", "--color", "sometimes"}, nil, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "auto, always, never") {
		t.Errorf("%d: %s", code, stderr.String())
	}
}
