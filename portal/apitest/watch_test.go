package apitest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

type run func() int

func (r run) Run() int { return r() }

// described is a document with one operation of every shape that matters.
func described() *huma.OpenAPI {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	text := &huma.Schema{Type: huma.TypeString}
	registry.Map()["Problem"] = &huma.Schema{Type: huma.TypeObject, Required: []string{"detail"}, Properties: map[string]*huma.Schema{"detail": text}, AdditionalProperties: false}
	one := &huma.Schema{Type: huma.TypeObject, Required: []string{"name"}, AdditionalProperties: false, Properties: map[string]*huma.Schema{
		"name": {Type: huma.TypeString, MaxLength: new(4), Pattern: "^[a-z]*$"}, "list": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeInteger}},
		"kind": {Type: huma.TypeString, Enum: []any{"a", "b"}}, "at": {Type: huma.TypeString, Format: "date-time"}, "none": {Type: huma.TypeString, Nullable: true},
		"on": {Type: huma.TypeBoolean}, "labels": {Type: huma.TypeObject, AdditionalProperties: text}, "part": {Ref: "#/components/schemas/Problem"},
		"either": {OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeInteger}}},
	}}
	problem := map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}}
	return &huma.OpenAPI{
		Servers: []*huma.Server{{URL: "/api"}}, Components: &huma.Components{Schemas: registry},
		Paths: map[string]*huma.PathItem{
			"/things/{name}": {Get: &huma.Operation{Responses: map[string]*huma.Response{
				"200": {Content: map[string]*huma.MediaType{"application/json": {Schema: one}, "text/csv": {}}}, "304": {}, "404": {Content: problem},
			}}},
			"/things/all": {Delete: &huma.Operation{Responses: map[string]*huma.Response{"202": {}, "204": {}}}},
		},
	}
}

// TestARunWithAFaultFails sends right and wrong answers, each in a run of its own.
func TestARunWithAFaultFails(t *testing.T) {
	for _, c := range []struct {
		name, method, path string
		status             int
		kind, body         string
		right              bool
	}{
		{"all fields", "GET", "/api/things/x", 200, "application/json", `{"name":"ab","list":[1],"kind":"a","at":"2030-01-02T03:04:05Z","none":null,"on":true,"labels":{"a":"b"},"part":{"detail":"x"},"either":"x"}`, true},
		{"another media type", "GET", "/api/things/x", 200, "text/csv; charset=utf-8", "a,b", true},
		{"nothing new", "GET", "/api/things/x", 304, "", "", true},
		{"a problem", "GET", "/api/things/x", 404, "application/problem+json", `{"detail":"x"}`, true},
		{"of no concern", "GET", "/things/x", 200, "text/html", "<p>", true},
		{"the head", "HEAD", "/api/things/x", 200, "application/json", "", true},
		{"done", "DELETE", "/api/things/all", 204, "", "", true},
		{"no such path", "GET", "/api/other", 404, "application/problem+json", `{"detail":"x"}`, true},

		{"a field is missing", "GET", "/api/things/x", 200, "application/json", `{}`, false},
		{"a field too many", "GET", "/api/things/x", 200, "application/json", `{"name":"a","more":1}`, false},
		{"another case", "GET", "/api/things/x", 200, "application/json", `{"name":"a","List":[]}`, false},
		{"null for an array", "GET", "/api/things/x", 200, "application/json", `{"name":"a","list":null}`, false},
		{"a wrong item", "GET", "/api/things/x", 200, "application/json", `{"name":"a","list":[1,"2"]}`, false},
		{"half a number", "GET", "/api/things/x", 200, "application/json", `{"name":"a","list":[1.5]}`, false},
		{"another choice", "GET", "/api/things/x", 200, "application/json", `{"name":"a","kind":"c"}`, false},
		{"no time", "GET", "/api/things/x", 200, "application/json", `{"name":"a","at":"today"}`, false},
		{"no boolean", "GET", "/api/things/x", 200, "application/json", `{"name":"a","on":"true"}`, false},
		{"too long", "GET", "/api/things/x", 200, "application/json", `{"name":"abcde"}`, false},
		{"a pattern", "GET", "/api/things/x", 200, "application/json", `{"name":"A"}`, false},
		{"in a map", "GET", "/api/things/x", 200, "application/json", `{"name":"a","labels":{"a":1}}`, false},
		{"behind a reference", "GET", "/api/things/x", 200, "application/json", `{"name":"a","part":{}}`, false},
		{"none of two", "GET", "/api/things/x", 200, "application/json", `{"name":"a","either":true}`, false},
		{"no JSON", "GET", "/api/things/x", 200, "application/json", `{"name":`, false},
		{"an undescribed status", "GET", "/api/things/x", 415, "application/problem+json", `{"detail":"x"}`, false},
		{"an undescribed media type", "GET", "/api/things/x", 200, "text/html", "<p>", false},
		{"a body that is not described", "DELETE", "/api/things/all", 202, "application/json", "{}", false},
		{"no Allow", "POST", "/api/things/x", 405, "application/problem+json", `{"detail":"x"}`, false},
		{"a page", "GET", "/api/other", 404, "text/html", "<p>", false},
		{"an undescribed operation", "GET", "/api/other", 200, "application/json", "{}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := os.Getenv(FaultsFile)
			t.Setenv(FaultsFile, before) // put back what was watched before
			var wrap func(*huma.OpenAPI, http.Handler) http.Handler
			code := Watch(run(func() int {
				h := wrap(described(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if c.kind != "" {
						w.Header().Set("Content-Type", c.kind)
					}
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
				}))
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, c.path, nil))
				return 0
			}), func(w func(*huma.OpenAPI, http.Handler) http.Handler) { wrap = w }).Run()
			if (code == 0) != c.right {
				t.Errorf("the run ends with %d", code)
			}
			if wrap != nil {
				t.Error("after the run, answers are still checked")
			}
		})
	}
	if code := Watch(run(func() int { return 3 }), func(func(*huma.OpenAPI, http.Handler) http.Handler) {}).Run(); code != 3 {
		t.Errorf("a run that failed with 3 ends with %d", code)
	}
}

// TestEveryPackageThatServesTheAPIIsWatched finds the packages whose tests can create a portal by their imports.
func TestEveryPackageThatServesTheAPIIsWatched(t *testing.T) {
	const module, portal = "muster", "muster/portal"
	imports, inTests, watched := map[string][]string{}, map[string][]string{}, map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || file != root && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(file, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg, list := path.Join(module, filepath.ToSlash(dir)), imports
		if strings.HasSuffix(file, "_test.go") {
			list = inTests
			list[pkg] = append(list[pkg], pkg)
			watched[pkg] = watched[pkg] || strings.Contains(string(text), "apitest.Watch(")
		}
		for _, i := range f.Imports {
			if name, err := strconv.Unquote(i.Path.Value); err == nil && strings.HasPrefix(name, module+"/") {
				list[pkg] = append(list[pkg], name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var serves func(pkg string, seen map[string]bool) bool
	serves = func(pkg string, seen map[string]bool) bool {
		if pkg == portal || seen[pkg] {
			return pkg == portal
		}
		seen[pkg] = true
		return slices.ContainsFunc(imports[pkg], func(next string) bool { return serves(next, seen) })
	}
	count := 0
	for _, pkg := range slices.Sorted(maps.Keys(inTests)) {
		if !slices.ContainsFunc(inTests[pkg], func(next string) bool { return serves(next, map[string]bool{}) }) {
			continue
		}
		count++
		if !watched[pkg] {
			t.Errorf("the tests of %s can serve the API, and its TestMain does not call apitest.Watch", pkg)
		}
	}
	if count < 3 {
		t.Errorf("only %d packages serve the API: this looks in the wrong place", count)
	}
}
