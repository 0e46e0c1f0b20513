package slacktest

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strconv"
	"testing"
)

// TestEachRuleIsTried finds rules that no test here breaks.
func TestEachRuleIsTried(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set, rules, tried := gotoken.NewFileSet(), map[string]bool{}, map[string]bool{}
	for _, c := range broken {
		tried[c.rule] = true
	}
	for _, file := range files {
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			name, _ := call.Fun.(*ast.SelectorExpr)
			first, _ := call.Args[0].(*ast.BasicLit)
			if name == nil || first == nil {
				return true
			}
			rule, _ := strconv.Unquote(first.Value)
			switch name.Sel.Name {
			case "violate", "note", "most", "text", "id":
				rules[rule] = true
			case "add":
				rules[rule] = len(call.Args) > 2 || rules[rule]
			case "want", "Expect":
				for _, a := range call.Args {
					if l, ok := a.(*ast.BasicLit); ok {
						r, _ := strconv.Unquote(l.Value)
						tried[r] = true
					}
				}
			}
			return true
		})
	}
	if len(rules) < 80 {
		t.Errorf("only %d rules were found", len(rules))
	}
	for r := range rules {
		if !tried[r] {
			t.Errorf("no test breaks the rule %q", r)
		}
	}
}
