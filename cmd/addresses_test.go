package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The core says what something is about, and a face where that is shown: an address in the core would be wrong for all other faces, and
// would outlive its page in rows of the database. Files that people write are adapters, and have no pages either.
func TestTheCoreKnowsNoAddressesOfThePortal(t *testing.T) {
	pages := map[string]bool{}
	literals(t, func(dir string) bool {
		return below(dir, "portal") && !below(dir, "portal/client") && !below(dir, "portal/buildsystems") && !below(dir, "portal/oidc") && !below(dir, "portal/ldap")
	}, func(text string, _ token.Position) {
		if m := firstPart.FindStringSubmatch(text); m != nil && m[0] == text[:len(m[0])] {
			pages[m[1]] = true
		}
	})
	for _, known := range []string{"clusters", "requests", "admin", "hooks", "account", "usage", "notifications"} {
		if !pages[known] {
			t.Fatalf("no page below /%s was found in the portal's routes: %v", known, pages)
		}
	}
	literals(t, func(dir string) bool { return below(dir, "app") && !below(dir, "app/file") }, func(text string, at token.Position) {
		if m := firstPart.FindStringSubmatch(text); m != nil && pages[m[1]] {
			t.Errorf("%s: %q is an address of the portal: give an app.Subject, for which portal/address has the page", at, text)
		}
	})
}

// firstPart is what an address of the portal begins with.
var firstPart = regexp.MustCompile(`^/([a-z][a-z-]*)(?:[/?#]|$)`)

// literals calls each for the texts in those packages, without tests, tags of fields and paths of imports.
func literals(t *testing.T, which func(dir string) bool, each func(text string, at token.Position)) {
	t.Helper()
	for dir, p := range packages(t) {
		if !which(dir) {
			continue
		}
		for _, name := range p.files {
			if strings.HasSuffix(name, "_templ.go") {
				continue
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, filepath.Join(root, dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
						each(text, files.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}
