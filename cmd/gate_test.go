package cmd

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRealPartsAreNamed holds all tests to where `make test-real` finds those that `make test` has not tried, or not in full: those of files with the build
// tag real, and those that are shorter with -short. They stand in packages that it tries as a whole, or have names by which it finds them.
func TestRealPartsAreNamed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	is := func(variable string) string {
		found := regexp.MustCompile(`(?m)^` + variable + ` *:?= *(.+)$`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("the Makefile has no %s", variable)
		}
		return string(found[1])
	}
	// in tells whether a package is among those that a variable lists.
	in := func(dir, variable string) bool {
		for _, word := range strings.FieldsFunc(is(variable), func(r rune) bool { return r == ' ' || r == '$' || r == '(' || r == ')' }) {
			if all, ok := strings.CutSuffix(word, "/..."); ok && (all == dir || strings.HasPrefix(dir, all+"/")) || word == dir {
				return true
			}
		}
		return false
	}
	names, err := regexp.Compile(is("REAL"))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "deploy") {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files++
		below, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		dir := "./" + filepath.ToSlash(below)
		if in(dir, "WHOLE") || in(dir, "RACED") && !in(dir, "LARGE") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" || in(dir, "NAMED") && names.MatchString(f.Name.Name) {
				continue
			}
			if real(file) || short(f) {
				t.Errorf("%s: make test-real does not try %s in full: its package is not among those that are tried as a whole, and its name is not like %s", name, f.Name.Name, names)
			}
		}
		return nil
	})
	if err != nil || files < 200 {
		t.Fatalf("%d files (%v)", files, err)
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
