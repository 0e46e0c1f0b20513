package cmd

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRealPartsAreNamed holds the tests of cmd to the names by which `make test-real` finds those that `make test` has not tried, or not in full: those of
// files with the build tag real, and those that are shorter with -short.
func TestRealPartsAreNamed(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^REAL := (.+)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile has no REAL")
	}
	names, err := regexp.Compile(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*/*_test.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" || names.MatchString(f.Name.Name) {
				continue
			}
			if real(file) || short(f) {
				t.Errorf("%s: make test-real does not try %s in full: %s does not match it", name, f.Name.Name, names)
			}
		}
	}
}

// real tells whether a file is compiled with the build tag real only.
func real(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package && constraint.IsGoBuild(c.Text) {
				x, err := constraint.Parse(c.Text)
				return err == nil && !x.Eval(func(tag string) bool { return tag != "real" })
			}
		}
	}
	return false
}

// short tells whether a function asks for -short.
func short(f *ast.FuncDecl) (asks bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Short" {
			asks = true
		}
		return !asks
	})
	return asks
}
