package db

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every call of seal is for a place of the list that rotations walk.
func TestEveryEncryptedColumnIsRotated(t *testing.T) {
	places := map[string]bool{}
	for _, c := range sealedColumns {
		places[c.place] = true
	}
	fset := token.NewFileSet()
	var files []string
	for _, pattern := range []string{"../*.go", "../*/*.go"} { // all that keep something, and the core itself
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	calls := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		// A place that a function makes is followed to the text with which that begins.
		makes := map[string]string{}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(fn.Name.Name, "AAD") {
				makes[fn.Name.Name] = firstText(fn.Body)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Seal" {
				return true
			}
			at := fset.Position(call.Pos())
			place := firstText(call.Args[1])
			if c, ok := call.Args[1].(*ast.CallExpr); ok {
				if id, ok := c.Fun.(*ast.Ident); ok {
					place = makes[id.Name]
				}
			}
			if place == "" && strings.HasPrefix(filepath.Base(at.Filename), "key_rotate") {
				return true // the rotation itself
			}
			calls++
			if i := strings.IndexByte(place, '/'); i < 0 || !places[place[:i+1]] {
				t.Errorf("%s seals for %q, which is not in sealedColumns: a rotation would leave it behind", at, place)
			}
			return true
		})
	}
	if calls < 15 {
		t.Errorf("only %d calls of seal were found", calls)
	}
}

func firstText(n ast.Node) (text string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && text == "" && l.Kind == token.STRING {
			text, _ = strconv.Unquote(l.Value)
		}
		return text == ""
	})
	return text
}
