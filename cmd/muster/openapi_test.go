package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

var writeOpenAPI = flag.Bool("write-openapi", false, "write docs/openapi.json and docs/openapi-hooks.json as the API is now")

const openAPIFile = "../../docs/openapi.json"

// openAPIFiles are what a server says of its API and of its hooks, so that a change is seen where changes are looked at, and clients can be made
// without a server.
var openAPIFiles = map[string]string{"/api/v1/openapi.json": openAPIFile, "/hooks/openapi.json": "../../docs/openapi-hooks.json"}

// servedAPI is a document as a server says it.
func (m *matrix) servedAPI(at string) (doc map[string]any) {
	m.t.Helper()
	w := httptest.NewRecorder()
	m.server.HTTP.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, nil))
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		m.t.Fatal(err)
	}
	return doc
}

func TestOpenAPIIsWrittenDown(t *testing.T) {
	m := newMatrix(t)
	for at, file := range openAPIFiles {
		served := m.servedAPI(at)
		served["info"].(map[string]any)["version"] = "v1" // and not the version of the server
		now, err := json.MarshalIndent(served, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		now = append(now, '\n')
		if *writeOpenAPI {
			if err := os.WriteFile(file, now, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written, now) {
			a, b := bytes.Split(written, []byte("\n")), bytes.Split(now, []byte("\n"))
			for i := range min(len(a), len(b)) {
				if !bytes.Equal(a[i], b[i]) {
					t.Fatalf("%s, line %d: %s; the server says %s. To update it: go test ./cmd/muster -run TestOpenAPIIsWrittenDown -write-openapi", file, i+1, bytes.TrimSpace(a[i]), bytes.TrimSpace(b[i]))
				}
			}
			t.Fatalf("%s is not what the server says. To update it: go test ./cmd/muster -run TestOpenAPIIsWrittenDown -write-openapi", file)
		}
	}
}

// Every JSON that is sent or taken says what is in it: an object without fields, or no schema at all, describes nothing, and nothing is checked by it.
func TestAllJSONIsDescribed(t *testing.T) {
	m := newMatrix(t)
	for at := range openAPIFiles {
		b, err := json.Marshal(m.servedAPI(at))
		if err != nil {
			t.Fatal(err)
		}
		type content map[string]struct{ Schema map[string]any }
		var doc struct {
			Paths map[string]map[string]struct {
				RequestBody struct{ Content content }
				Responses   map[string]struct{ Content content }
			}
			Components struct{ Schemas map[string]map[string]any }
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		looked := 0
		var vague func(s map[string]any) bool
		vague = func(s map[string]any) bool {
			looked++
			if s["$ref"] != nil || s["oneOf"] != nil || s["anyOf"] != nil {
				return false
			}
			if items, ok := s["items"].(map[string]any); ok {
				return vague(items)
			}
			return s["type"] == nil || s["type"] == "object" && s["properties"] == nil && s["additionalProperties"] == nil
		}
		for path, item := range doc.Paths {
			for method, o := range item {
				all := map[string]content{"body": o.RequestBody.Content}
				for status, r := range o.Responses {
					all[status] = r.Content
				}
				for what, c := range all {
					for kind, x := range c {
						if strings.HasSuffix(kind, "json") && vague(x.Schema) {
							t.Errorf("%s: %s %s, %s of type %s: the schema says nothing: %v", at, method, path, what, kind, x.Schema)
						}
					}
				}
			}
		}
		for name, s := range doc.Components.Schemas {
			if vague(s) {
				t.Errorf("%s: the schema %s says nothing: %v", at, name, s)
			}
		}
		if looked < 20 {
			t.Errorf("%s: only %d schemas", at, looked)
		}
	}
	// Nothing below /hooks is left out.
	paths := m.servedAPI("/hooks/openapi.json")["paths"].(map[string]any)
	for _, r := range m.server.Portal.Routes() {
		path, below := strings.CutPrefix(r.Pattern, "/hooks")
		if !below || path == "/openapi.json" || r.Method == http.MethodHead {
			continue
		}
		if item, _ := paths[path].(map[string]any); item[strings.ToLower(r.Method)] == nil {
			t.Errorf("%s %s is not described", r.Method, r.Pattern)
		}
	}
}
