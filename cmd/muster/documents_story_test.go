//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"muster/cmd/muster/cli"
)

// mode makes the sandbox's machines folders, which anyone can have.
const mode = "kind: provider\nname: sandbox\ntype: sandbox\nsettings: {mode: process}\n"

// A pageStory is a page whose commands lead from one to the next: all of them are run in their order by a server that was just set up, except
// those that begin with words of skip.
type pageStory struct {
	page    string
	catalog string            // "": the examples
	given   []string          // commands whose effect the page takes for granted
	files   map[string]string // that the reader has
	skip    map[string]string // and why
}

var pageStories = []pageStory{
	{page: "README.md", given: []string{"user create ci --role robot"}, skip: map[string]string{
		"cluster": "other pages have stories of clusters", "serve": "is what runs", "provisioner": "needs a server with TLS"}},
	{page: "docs/money.md",
		given: []string{"group save data", "user create ada", "quota set user/ada --clusters 1", "cluster create web --template web --size 3 --wait"},
		skip:  map[string]string{"cluster extend web --until": "has a date", "cluster extend web --forever": "needs a template whose leases have no limit"}},
	{page: "docs/outputs.md", given: []string{"cluster create shop --template tiny --size 1 --wait"}, skip: map[string]string{
		"cluster outputs db": "needs PostgreSQL, as in TestRealTemplatePostgreSQL", "cluster outputs kube": "needs Kubernetes",
		"cluster kubeconfig": "needs Kubernetes", "cluster config-ssh": "changes one's SSH configuration, as in outputs.txtar"}},
	{page: "docs/people.md"},
	{page: "docs/secrets.md", files: map[string]string{"password.txt": "hush"}, given: []string{"cluster create shop --template tiny --size 1 --wait"},
		skip: map[string]string{"cluster outputs cache": "needs a cluster of Redis, as in TestRealTemplateRedis", "cluster certificate": "needs a key"}},
	{page: "docs/sharing.md", given: []string{"user create ana", "group save ops"}},
	{page: "docs/start/builds.md", skip: map[string]string{"build rules try": "needs a delivery, as in builds.txtar"}},
	{page: "docs/start/catalog.md", catalog: "hello", files: map[string]string{
		"mine.yaml": "kind: service\nname: mine\nactions: {start: echo started}\n---\nkind: template\nname: mine\ndefaults: {services: [mine], provider: sandbox}\n"},
		skip: map[string]string{"serve": "is what runs"}},
	{page: "docs/start/cluster.md", skip: map[string]string{"login": "waits for someone to confirm it"}},
	{page: "docs/start/operator.md", skip: map[string]string{"demo": "is run by make test-real", "serve": "is what runs",
		"catalog lint /etc": "is on the operator's host", "doctor --catalog /etc": "is on the operator's host", "provider": "needs an account at AWS"}},
	{page: "docs/start/tenant-admin.md", files: map[string]string{"password.txt": "hush", "url.txt": "https://hooks.example.com/services/1"},
		skip: map[string]string{"login": "waits for someone to confirm it", "webhook test": "needs a receiver"}},
}

// The commands of a page do what it says, one after the other.
func TestStoriesInDocuments(t *testing.T) {
	for _, s := range pageStories {
		t.Run(s.page, s.tell)
	}
}

func (s pageStory) tell(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(repository, s.page))
	if err != nil {
		t.Fatal(err)
	}
	blocks, _, _ := readBlocks(s.page, string(b))
	c := &documentCheck{t: t}
	folder, err := c.folderOf(s.page, string(b), blocks)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	files := map[string]string{"mode/mode.yaml": mode}
	maps.Copy(files, s.files)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home(t)
	p := &process{t: t, data: filepath.Join(folder, "data"), catalog: []string{cmp.Or(s.catalog, "examples/catalog"), "mode"}}
	t.Cleanup(p.tidy)
	p.start()
	t.Setenv("MUSTER_DATA", p.data)
	run := func(at string, words []string) []byte {
		ctx, cancel := context.WithTimeout(t.Context(), hangs)
		defer cancel()
		var out, errOut bytes.Buffer
		code := execute(ctx, &cli.Context{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut}, words)
		if explained := code == cli.ExitNoLayout && slices.Contains(words, "--explain"); code != cli.ExitDone && !explained {
			t.Errorf("%s: muster %s ends with %d:\n%s%s", at, strings.Join(words, " "), code, &out, &errOut)
		}
		return out.Bytes()
	}
	for _, text := range s.given {
		run("before", strings.Fields(text))
	}
	ran, skipped := 0, map[string]bool{}
	for _, b := range blocks {
		if b.language != "sh" {
			continue
		}
		script, err := syntax.NewParser().Parse(strings.NewReader(b.text), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls(script) {
			if filepath.Base(call.words[0]) != "muster" {
				continue
			}
			words, skip := call.words[1:], false
			for prefix := range s.skip {
				if strings.HasPrefix(strings.Join(words, " "), prefix) {
					skip, skipped[prefix] = true, true
				}
			}
			if skip {
				continue
			}
			ran++
			out := run(fmt.Sprintf("%s:%d", s.page, b.line+call.line-1), words)
			if call.file != "" {
				if err := os.WriteFile(call.file, out, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if ran < 3 || len(skipped) < len(s.skip) {
		t.Errorf("%d commands were run, and of %v only %v were skipped", ran, s.skip, skipped)
	}
}
