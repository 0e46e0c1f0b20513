package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// Tags that say how a field of app is written. What a face says about it, or allows, is the face's own: of the REST API see portal/api_doc.go.
var appTags = []string{"json", "yaml"}

// Tags that app/file/catalog/form itself reads, beside yaml: they describe and check the files that people write.
var catalogTags = []string{"doc", "need", "least", "most", "name", "hide"}

func TestFieldsOfAppHaveNoTagsOfFaces(t *testing.T) {
	key := regexp.MustCompile(`([^\s":]+):"(?:[^"\\]|\\.)*"`)
	seen := map[string]bool{}
	for dir, p := range packages(t) {
		if !below(dir, "app") {
			continue
		}
		allowed := appTags
		if dir == "app/file/catalog" || dir == "app/file/catalog/form" {
			allowed = slices.Concat(appTags, catalogTags)
		}
		for _, name := range p.files {
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, filepath.Join(root, dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				f, ok := n.(*ast.Field)
				if !ok || f.Tag == nil {
					return true
				}
				tag, err := strconv.Unquote(f.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range key.FindAllStringSubmatch(tag, -1) {
					seen[m[1]] = true
					if !slices.Contains(allowed, m[1]) {
						t.Errorf("%s: the tag %s is not app's: describe and limit fields of the REST API in portal/api_doc.go", files.Position(f.Tag.Pos()), m[1])
					}
				}
				return true
			})
		}
	}
	for _, tag := range slices.Concat(appTags, catalogTags) {
		if !seen[tag] {
			t.Errorf("no field has the tag %s any more: take it off the list", tag)
		}
	}
}
