package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

var writeOpenAPI = flag.Bool("write-openapi", false, "write docs/openapi.json as the API is now")

const openAPIFile = "../../docs/openapi.json"

// docs/openapi.json is what a server says of its API, so that a change of it is seen where changes are looked at, and clients can be made
// from it without a server.
func TestOpenAPIIsWrittenDown(t *testing.T) {
	m := newMatrix(t)
	w := httptest.NewRecorder()
	m.server.http.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	var served map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &served); err != nil {
		t.Fatal(err)
	}
	served["info"].(map[string]any)["version"] = "v1" // and not the version of the server
	now, err := json.MarshalIndent(served, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	now = append(now, '\n')
	if *writeOpenAPI {
		if err := os.WriteFile(openAPIFile, now, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := os.ReadFile(openAPIFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, now) {
		a, b := bytes.Split(written, []byte("\n")), bytes.Split(now, []byte("\n"))
		for i := range min(len(a), len(b)) {
			if !bytes.Equal(a[i], b[i]) {
				t.Fatalf("docs/openapi.json, line %d: %s; the server says %s. `make generate` writes it anew.", i+1, bytes.TrimSpace(a[i]), bytes.TrimSpace(b[i]))
			}
		}
		t.Fatal("docs/openapi.json is not what the server says. `make generate` writes it anew.")
	}
}
