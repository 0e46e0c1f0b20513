//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"muster/cmd/muster/cli"
)

// savedAs is how a page names the file of the YAML or JSON that follows: Save this as `hello/hello.yaml`, or: A template, in `shop/shop.yaml`.
var savedAs = regexp.MustCompile("(?i)(?:\\bsave (?:it|this|these) as|, in) `([a-z0-9/.-]+\\.(?:yaml|json))`")

// supporting are files that a page's commands need and that it doesn't show whole.
var supporting = map[string]map[string]string{
	"docs/solver.md": {"shop/services.yaml": `kind: service
name: proxy
---
kind: service
name: app
---
kind: service
name: agent
---
kind: service
name: db
needs: {cpu: 4, memory_gb: 16}
---
kind: service
name: search
`, "shop/cloud.yaml": `kind: provider
name: cloud
type: fake
zones: [a, b, c]
---
kind: hardware
name: small
providers: {cloud: {flavor: s, cpu: 2, memory_gb: 4, cost_per_hour: 0.2}}
---
kind: hardware
name: large
providers: {cloud: {flavor: l, cpu: 8, memory_gb: 32, cost_per_hour: 0.5}}
---
kind: image
name: debian
providers: {cloud: {image: debian}}
`},
}

// folderOf returns a folder with the examples and with the files that a page tells people to save.
func (c *documentCheck) folderOf(page, text string, blocks []block) (string, error) {
	dir := c.t.TempDir()
	write := func(name, text string) error {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(text), 0o600)
	}
	examples, err := filepath.Abs(filepath.Join(repository, "examples"))
	if err == nil {
		err = os.Symlink(examples, filepath.Join(dir, "examples"))
	}
	if err != nil {
		return "", err
	}
	for name, text := range supporting[page] {
		if err := write(name, text); err != nil {
			return "", err
		}
	}
	for _, at := range savedAs.FindAllStringSubmatchIndex(text, -1) {
		line := strings.Count(text[:at[0]], "\n") + 1
		near := func(b block) bool {
			end := b.line + strings.Count(b.text, "\n")
			return "."+b.language == filepath.Ext(text[at[2]:at[3]]) && (b.line > line && b.line-line < 5 || b.line <= line && line-end < 5)
		}
		i := slices.IndexFunc(blocks, near)
		if i < 0 {
			return "", fmt.Errorf("line %d: no such block is near", line)
		}
		if err := write(text[at[2]:at[3]], blocks[i].text); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// offlineCommands are the commands that need no server. They are run if their catalog is there, rather than somewhere on the reader's machine.
var offlineCommands = regexp.MustCompile(`^(?:solve|plan|catalog lint|catalog show|catalog schema|version)\b`)

// execute runs a command that needs no server in the page's folder. ran is false for others, and where files aren't there. Its output goes
// into the file that it names.
func (c *documentCheck) execute(words []string, file string) (said, what string, ran bool) {
	if !offlineCommands.MatchString(strings.Join(words, " ")) {
		return "", "", false
	}
	defer c.enter()()
	for i, w := range words {
		if i > 0 && (words[i-1] == "--catalog" || words[i-1] == "--from" || words[0] == "catalog" && i == len(words)-1) {
			if _, err := os.Stat(w); err != nil {
				return "", "", false
			}
		}
	}
	c.executed++
	var out, errOut bytes.Buffer
	code := run(c.t.Context(), words, strings.NewReader(""), &out, &errOut)
	explained := code == cli.ExitNoLayout && slices.Contains(words, "--explain")
	if code != cli.ExitDone && !explained {
		return out.String(), fmt.Sprintf("muster %s ends with %d: %s", strings.Join(words, " "), code, errOut.String()), true
	}
	if file != "" {
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			return "", err.Error(), true
		}
	}
	return out.String(), "", true
}

// enter goes into the page's folder, and returns how to leave it. Nothing else runs meanwhile.
func (c *documentCheck) enter() (leave func()) {
	here, err := os.Getwd()
	if err == nil {
		err = os.Chdir(c.folder)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return func() {
		if err := os.Chdir(here); err != nil {
			c.t.Fatal(err)
		}
	}
}

// noServer are commands that ask no server, or one that they name.
var noServer = append([]string{"login"}, slices.Concat(local, begin)...)

// ask runs a command against a server that answers whatever the API's description allows. What it answers is nonsense, but the command's line
// must be right: only a file may be missing, and a confirmation.
func (c *documentCheck) ask(words []string) string {
	cmd, _, err := rootCommand(&cli.Context{}).Find(words)
	if err != nil || slices.Contains(noServer, strings.TrimPrefix(cmd.CommandPath(), "muster ")) {
		return ""
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Second/2) // a bound; the server ends running requests
	defer cancel()
	c.stub.enough(cancel)
	defer c.enter()() // it may write files
	c.asked++
	var errOut bytes.Buffer
	code := execute(ctx, &cli.Context{Stdin: strings.NewReader("text\n"), Stdout: io.Discard, Stderr: &errOut, NoPause: true}, words)
	said := errOut.String()
	if code != cli.ExitUsage || strings.Contains(said, "no such file or directory") || strings.Contains(said, "--yes is required without a terminal") {
		return ""
	}
	return said
}

// console runs each command of a block, those lines that begin with "$ ", and compares what it says with the lines below.
func (c *documentCheck) console(b block) (faults []fault) {
	parts := strings.Split("\n"+b.text, "\n$ ")
	line := b.line
	for _, part := range parts[1:] {
		command, want, _ := strings.Cut(part, "\n")
		file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
		all := []call(nil)
		if err == nil {
			all = calls(file)
		}
		if len(all) != 1 || !slices.Contains([]string{"muster", "bin/muster"}, all[0].words[0]) {
			faults = append(faults, fault{line, "only one command of muster can be run in a line"})
		} else if what := c.muster(all[0].words[1:], false); what != "" {
			faults = append(faults, fault{line, what})
		} else if said, what, ran := c.execute(all[0].words[1:], all[0].file); !ran {
			faults = append(faults, fault{line, "it needs a server, or a catalog that the page doesn't have: use sh, and text for the output"})
		} else if what != "" {
			faults = append(faults, fault{line, what})
		} else if strings.TrimSpace(said) != strings.TrimSpace(want) {
			faults = append(faults, fault{line, "it says:\n" + said})
		}
		line += strings.Count(part, "\n") + 1
	}
	if len(parts) == 1 {
		faults = append(faults, fault{b.line, "it has no line that begins with $"})
	}
	return faults
}
