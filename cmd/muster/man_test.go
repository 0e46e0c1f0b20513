package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"muster/cmd/muster/cli"
)

var writeReference = flag.Bool("write-reference", false, "regenerate docs/cli-reference.md")

const referenceFile = "../../docs/cli-reference.md"

// reference is one document of all commands that are shown.
func reference(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("# Commands\n\n<!-- Made by: make generate -->\n\n" +
		"Every command and flag. [cli.md](cli.md) says how to work with them; `muster man DIR` writes the same as man pages.\n")
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || strings.HasPrefix(cmd.CommandPath(), "muster completion ") {
			return
		}
		var one bytes.Buffer
		if err := doc.GenMarkdownCustom(cmd, &one, func(string) string { return "" }); err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(one.String(), "### SEE ALSO")
		text, _, _ = strings.Cut(text, "### Options inherited from parent commands")
		text = strings.NewReplacer("\n### Synopsis\n\n", "\n", "\n### Examples\n", "\nFor example:\n", "\n### Options\n", "\nFlags:\n").Replace(text)
		home, err := os.UserHomeDir()
		if err == nil && strings.Contains(text, home+"/") {
			t.Errorf("%s speaks of %s", cmd.CommandPath(), home)
		}
		b.WriteString("\n" + strings.TrimSpace(text) + "\n")
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(documented(rootCommand(&cli.Context{})))
	return b.String()
}

func TestReferenceIsWrittenDown(t *testing.T) {
	want := reference(t)
	if *writeReference {
		if err := os.WriteFile(referenceFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(is) != want {
		t.Error("docs/cli-reference.md doesn't match the commands: run make generate, or only\n" +
			"go test ./cmd/muster -run TestReferenceIsWrittenDown -write-reference")
	}
}

func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	var out bytes.Buffer
	root := rootCommand(&cli.Context{Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard})
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), " man pages in "+dir) {
		t.Errorf("it says %q", out.String())
	}
	for name, says := range map[string]string{"muster.1": "Turn a template and a size into a running cluster", "muster-cluster-create.1": `\fB--lease\fP`, "muster-cluster.1": "muster-cluster-create(1)"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(b), says) {
			t.Errorf("%s does not say %q: %v", name, says, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "muster-worker.1")); err == nil {
		t.Error("a command that is not shown has a page")
	}
}
