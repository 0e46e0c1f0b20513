//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"

	"muster/cmd/muster/cli"
)

// otherTools are programs that pages tell people to run, besides muster and what is in this repository. Of these, a page's lines are only
// checked to be shell, and to name files that exist.
var otherTools = strings.Fields("age ansible apt-get az base64 cat cd cosign cp createdb date docker dot echo eval export gcloud go govc grep helm install journalctl jq kubectl mkdir" +
	" od openssl openstack printf sha256sum ssh ssh-keygen systemctl systemd-sysusers systemd-tmpfiles tar tr triton uuidgen")

// A line of shell is checked in the directory that cd went to.
type shellLine struct {
	dir    string // from the module's root; "" there, or somewhere else
	file   string // that the output goes to
	inline bool   // within a sentence, where arguments may be left out
}

// shell finds what is wrong in a block of commands.
func (c *documentCheck) shell(b block) (faults []fault) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(b.text), "")
	if err != nil {
		var e syntax.ParseError
		line := b.line
		if errors.As(err, &e) {
			line += int(e.Pos.Line()) - 1
		}
		return []fault{{line, "not shell, so use another language: " + err.Error()}}
	}
	in := shellLine{}
	for _, call := range calls(file) {
		in.file = call.file
		if what := c.command(&in, call.words); what != "" {
			faults = append(faults, fault{b.line + call.line - 1, what})
		}
	}
	return faults
}

type call struct {
	words []string
	line  int
	file  string // that its output goes to
}

// calls are the commands of a script in their order, also those in pipes and substitutions.
func calls(script *syntax.File) (all []call) {
	file := ""
	syntax.Walk(script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			file = ""
			for _, r := range n.Redirs {
				if r.Op == syntax.RdrOut {
					file = wordsOf([]*syntax.Word{r.Word})[0]
				}
			}
		case *syntax.CallExpr:
			if words := wordsOf(n.Args); len(words) > 0 {
				all = append(all, call{words, int(n.Pos().Line()), file})
			}
		case *syntax.DeclClause: // export
			all = append(all, call{[]string{n.Variant.Value}, int(n.Pos().Line()), ""})
		}
		return true
	})
	return all
}

// wordsOf are words as the shell passes them, where each expansion is x.
func wordsOf(args []*syntax.Word) (words []string) {
	var text func(parts []syntax.WordPart) string
	text = func(parts []syntax.WordPart) (s string) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				s += strings.NewReplacer("\\\n", "", "\\", "").Replace(p.Value)
			case *syntax.SglQuoted:
				s += p.Value
			case *syntax.DblQuoted:
				s += text(p.Parts)
			default:
				s += "x"
			}
		}
		return s
	}
	for _, w := range args {
		words = append(words, text(w.Parts))
	}
	return words
}

// span finds what is wrong in code within a sentence: a command of muster or make, or the address of an API.
func (c *documentCheck) span(s span) string {
	first, rest, _ := strings.Cut(s.text, " ")
	switch {
	case slices.Contains([]string{"muster", "bin/muster", "make", "docker", "kubectl", "go", "curl"}, first) && rest != "":
		choice := regexp.MustCompile(`(\w)\|\w+`) // private|tenant
		file, err := syntax.NewParser().Parse(strings.NewReader(choice.ReplaceAllString(s.text, "$1")), "")
		if err != nil {
			return "not shell: " + err.Error()
		}
		in := shellLine{inline: true}
		for _, call := range calls(file) {
			if what := c.command(&in, call.words); what != "" {
				return what
			}
		}
	case slices.Contains([]string{"GET", "PUT", "POST", "PATCH", "DELETE"}, first) && strings.HasPrefix(rest, "/"):
		if strings.HasPrefix(s.page, "docs/providers/") { // of a cloud
			return ""
		}
		return c.address(first, rest, "")
	}
	return ""
}

// command finds what is wrong in one command.
func (c *documentCheck) command(in *shellLine, words []string) string {
	for len(words) > 0 && slices.Contains([]string{"sudo", "exec", "env", "nohup", "xargs"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	name, args := words[0], words[1:]
	after := slices.Index(args, "--") + 1
	switch name {
	case "muster", "bin/muster", "./muster":
		if what := c.muster(args, in.inline); what != "" || in.inline {
			return what
		}
		_, what, _ := c.execute(args, in.file)
		return what
	case "make":
		for _, arg := range args {
			if !strings.Contains(arg, "=") && !c.targets[arg] && arg != "integration" { // which is the reader's own
				return "the Makefile has no target " + arg
			}
		}
		return ""
	case "curl":
		return c.curl(args)
	case "sh", "bash":
		if len(args) > 1 && args[0] == "-c" {
			file, err := syntax.NewParser().Parse(strings.NewReader(args[1]), "")
			if err != nil {
				return err.Error()
			}
			for _, one := range calls(file) {
				if what := c.command(in, one.words); what != "" {
					return what
				}
			}
			return ""
		}
	case "runuser", "kubectl":
		if after > 0 && after < len(args) {
			return c.command(in, args[after:])
		}
	case "docker":
		if i := slices.Index(args, "muster"); i > 0 && slices.Contains(args[:i], "exec") {
			return c.command(in, args[i:])
		}
	case "cd":
		in.dir = ""
		if inRepository.MatchString(args[0]) {
			in.dir = args[0]
		}
		return missingFile(&shellLine{}, args)
	case "set", ".":
		return ""
	}
	if path.Base(name) == "muster-build.sh" { // which people copy
		return ""
	}
	if !slices.Contains(otherTools, name) && !strings.Contains(name, "/") && !slices.Contains([]string{"sh", "bash", "runuser"}, name) {
		return fmt.Sprintf("%s isn't a known command: add it to otherTools, or give the block a fence with its language", name)
	}
	return missingFile(in, words)
}

// inRepository is a file or folder of this repository.
var inRepository = regexp.MustCompile(`^(?:\./)?(?:app|automators|bot|cmd|deploy|docs|examples|jobs|migrations|planner|portal|providers|solver)(?:/|$)`)

// missingFile finds a file or folder of this repository that doesn't exist.
func missingFile(in *shellLine, words []string) string {
	for _, word := range words {
		file := strings.TrimSuffix(word, "/...")
		switch {
		case in.dir != "" && (strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")):
			file = path.Join(in.dir, file)
		case !strings.Contains(word, "/") || strings.Contains(word, "://") || strings.Contains(word, "<") || !inRepository.MatchString(word):
			continue
		}
		if found, err := filepath.Glob(filepath.Join(repository, file)); err != nil || len(found) == 0 {
			return "there is no " + file + " in this repository"
		}
	}
	return ""
}

// placeholder is what a reader replaces, such as NAME or N, and a choice of flags has brackets.
var placeholder = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// muster parses a command line as the program does: the command and its flags exist, their values parse, and so many arguments are accepted.
func (c *documentCheck) muster(args []string, inline bool) string {
	c.commands++
	elided := false
	var words []string
	for _, a := range args {
		if a == "…" || a == "..." {
			elided = true
			continue
		}
		words = append(words, strings.Trim(a, "[]"))
	}
	for {
		what, bad := parseCommand(words, inline, elided)
		if inline && bad == noValue {
			words = append(words, "VALUE")
			continue
		}
		i := slices.IndexFunc(words, func(w string) bool { return w == bad && (placeholder.MatchString(w) || w == "…") })
		if i < 0 && (what != "" || inline || elided) {
			return what
		}
		if i < 0 {
			return c.ask(words)
		}
		words[i] = "1h" // what is wrong is a placeholder's value
		if _, still := parseCommand(words, inline, elided); still == "1h" {
			words[i] = "1"
		}
	}
}

// noValue is what parseCommand returns for a flag at the end, which within a sentence is only named.
const noValue = "no value"

// parseCommand says what is wrong in a command line, and which flag's value is.
func parseCommand(words []string, inline, elided bool) (what, value string) {
	root := rootCommand(&cli.Context{Stdout: io.Discard, Stderr: io.Discard})
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		return fmt.Sprintf("muster has no command %q", strings.Join(words, " ")), ""
	}
	if err := cmd.ParseFlags(rest); err != nil {
		var invalid *pflag.InvalidValueError
		var missing *pflag.ValueRequiredError
		if errors.As(err, &invalid) {
			value = invalid.GetValue()
		} else if errors.As(err, &missing) {
			value = noValue
		}
		return cmd.CommandPath() + ": " + err.Error(), value
	}
	said := cmd.Flags().Args()
	if cmd.HasSubCommands() && len(said) > 0 {
		return fmt.Sprintf("%s has no command %s", cmd.CommandPath(), said[0]), ""
	}
	if err := root.PersistentPreRunE(cmd, said); err != nil {
		return err.Error(), ""
	}
	if elided || inline && len(said) == 0 {
		return "", ""
	}
	if err := errors.Join(cmd.ValidateArgs(said), cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
		return fmt.Sprintf("%s %q: %v", cmd.CommandPath(), said, err), ""
	}
	return "", ""
}

// curl checks that a request to a server of ours is one of its API.
func (c *documentCheck) curl(args []string) string {
	method, address, body := "", "", ""
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains([]string{"-X", "--request", "-d", "--data", "-H", "--header", "-o"}, a):
			if i++; i == len(args) {
				return a + " has no value"
			}
			switch a {
			case "-X", "--request":
				method = args[i]
			case "-d", "--data":
				body = args[i]
			}
		case !strings.HasPrefix(a, "-"):
			address = a
		}
	}
	u, err := url.Parse(address)
	if err != nil || !strings.Contains(u.Host, "muster") {
		return ""
	}
	if method == "" {
		method = map[bool]string{true: "POST", false: "GET"}[body != ""]
	}
	return c.address(method, u.RequestURI(), body)
}

// address checks that an API has an operation, its query parameters, and a body's fields.
func (c *documentCheck) address(method, at, body string) string {
	c.addresses++
	at = strings.ReplaceAll(at, "\\", "")
	at, query, _ := strings.Cut(at, "?")
	for prefix, doc := range map[string]map[string]any{"/api/v1": c.api, "/hooks": c.hooks} {
		for _, short := range []string{prefix, ""} {
			rest, ok := strings.CutPrefix(at, short)
			if rest == "/openapi.json" {
				return ""
			}
			op := operationAt(doc, method, rest)
			if !ok || op == nil {
				continue
			}
			for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' }) {
				name, _, _ := strings.Cut(pair, "=")
				if !hasParameter(op, name) {
					return fmt.Sprintf("%s %s has no parameter %s", method, at, name)
				}
			}
			if body == "" {
				return ""
			}
			var v any
			if err := json.Unmarshal([]byte(body), &v); err != nil {
				return "the body isn't JSON: " + err.Error()
			}
			return fits(doc, get(op, "requestBody", "content", "application/json", "schema"), v, "the body")
		}
	}
	if c.routes[method+" "+at] {
		return ""
	}
	return fmt.Sprintf("the API has no %s %s", method, at)
}
