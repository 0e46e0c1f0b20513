package shell

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scriptCases are scripts, with what is said of each: "" where a shell reads it, where and what for a fault, and "warning" before those that some shells read.
var scriptCases = []struct{ name, script, want string }{
	{"nothing wrong", "set -e\nif true; then\n  echo \"$CONFIG_PORT\"\nfi\n", ""},
	{"no end of if", "if true; then\n  echo\n", "1:1: `if` statement must end with `fi`"},
	{"no then", "echo\nif true\n  echo\nfi\n", "4:1: `fi` can only"},
	{"no end of a loop", "for i in 1 2; do\n  echo $i\n", "must end with `done`"},
	{"no end of a case", "case $1 in\na) echo;;\n", "must end with `esac`"},
	{"a quote", "echo 'one\necho two\n", "1:6: reached EOF without closing quote"},
	{"a double quote", "echo\necho \"one\n", "2:6: reached EOF without closing quote"},
	{"a brace of a parameter", "echo ${HOME\n", "1:"},
	{"a bracket", "echo $(date\n", "1:6:"},
	{"a function without an end", "f() {\n  echo\n", "1:5: reached EOF without matching `{`"},
	{"a function without content", "f() {\n}\n", "must be followed by a statement list"},
	{"a bracket too many", "echo a)\n", "1:7:"},
	{"an end too many", "echo\ndone\n", "2:1:"},
	{"two semicolons", "echo a; ; echo b\n", "1:9:"},
	{"a pipe into nothing", "echo a |\n", "1:8:"},
	{"nowhere to write to", "echo a >\n", "1:8:"},
	{"lines of Windows", "if true; then\r\n  echo\r\nfi\r\n", ""},
	{"deep in a command", "x=\"$(if true)\"\n", "1:6:"},
	{"arrays in sh", "x=(a b)\necho \"${x[1]}\"\n", "warning 1:3: arrays are not part of the POSIX shell"},
	{"arrays in sh by name", "#!/bin/sh\nx=(a b)\n", "warning 2:3:"},
	{"arrays in bash", "#!/usr/bin/env bash\nx=(a b)\n", ""},
	{"bash by its path", "#!/bin/bash -e\nmap=(a)\ncat <(echo) <<<x\n", ""},
	{"bash with env -S", "#!/usr/bin/env -S bash -e\nx=(a b)\n", ""},
	{"wrong in bash too", "#!/bin/bash\nx=(a b\n", "2:3:"},
	{"an array, and what no shell reads", "x=(a b)\nif true\n", "2:1: `if"},
	{"here strings in sh", "cat <<<x\n", "warning 1:5:"},
	{"sums are worked out later", "echo $((a $op b))\n", "warning 1:"},
	{"a here-document that ends with the script", "cat <<EOF\nabc\n", "warning 1:5: unclosed here-document"},
	{"a here-document of anything", "cat <<'EOF' >f\nif ( $(\nEOF\necho\n", ""},
	{"Python", "#!/usr/bin/env python3\nif True:\n  print('(')\n", ""},
	{"Perl", "#!/usr/bin/perl\nif (\n", ""},
	{"zsh, which is not known here", "#!/bin/zsh\nfor x (a b) echo $x\n", ""},
	{"nothing", "", ""},
	{"env without a program", "#!/usr/bin/env -S\nif\n", ""},
}

func TestScriptsAreParsedBeforeTheyRun(t *testing.T) {
	for _, c := range scriptCases {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if f := Syntax(c.script); f != nil {
				if f.Warning {
					got = "warning "
				}
				got += placed(f.Line, f.Column) + f.Message
			}
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.HasPrefix(got, "warning") != strings.HasPrefix(c.want, "warning") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestDeepScriptsAreRejected: what is nested without an end is not judged, and ends no program.
func TestDeepScriptsAreRejected(t *testing.T) {
	for _, u := range []string{"(", "$(", "`", "{ ", "if ", "a|", "$((", "$((-", "${x:-", "\"$(", "while ", "case x in a) ", "f() ", "if a;then b;elif ", "x=(", "${a[", "a ? ", "[[ ! ("} {
		_ = Syntax("#!/bin/bash\n" + strings.Repeat(u, (maxScript-20)/len(u)))
	}
	if f := Syntax(strings.Repeat("(", 500)); f == nil {
		t.Error("500 brackets without an end are not noticed")
	}
}

func FuzzSyntax(f *testing.F) {
	for _, c := range scriptCases {
		f.Add(c.script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		late := time.AfterFunc(20*time.Second, func() { panic(fmt.Sprintf("the parser never ends with %q", script)) })
		fault := Syntax(script)
		late.Stop()
		if fault == nil {
			return
		}
		if lines := strings.Count(script, "\n") + 1; fault.Line < 1 || fault.Line > lines+1 || fault.Message == "" {
			t.Errorf("%+v in a script of %d lines", fault, lines)
		}
	})
}

func placed(line, column int) string { return strconv.Itoa(line) + ":" + strconv.Itoa(column) + ": " }
