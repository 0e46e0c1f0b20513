package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/file/spec"
	"muster/app/policy"
	"muster/cmd/muster/server"
)

// firstBlock returns the first block of code in a language that a page has.
func firstBlock(t *testing.T, page, language string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), "```"+language+"\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("docs/%s has no block of %s", page, language)
	}
	return text
}

// Policies and rules that pages show are taken by a server as they are.
func TestExamplesInDocumentsAreTaken(t *testing.T) {
	s, err := server.New(t.Context(), server.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Catalogs: []string{"../../examples/catalog"},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	admin := app.Actor{Tenant: app.DefaultTenant, User: "admin", Role: app.RoleSuperadmin}
	for _, page := range []string{"policies.md", "start/tenant-admin.md"} {
		var p policy.Policy
		if err := json.Unmarshal([]byte(firstBlock(t, page, "json")), &p); err != nil {
			t.Errorf("docs/%s: %v", page, err)
		} else if _, err := s.Services.Policy.Policies.TryPolicy(t.Context(), admin, policy.TrialRequest{Policy: p}); err != nil {
			t.Errorf("docs/%s: %v", page, err)
		}
	}
	for _, page := range []string{"builds.md", "start/builds.md"} {
		rules, err := spec.ReadBuildRules([]byte(firstBlock(t, page, "yaml")))
		if err != nil || len(rules) == 0 {
			t.Errorf("docs/%s: %d rules, %v", page, len(rules), err)
		} else if err := s.Services.Build.Hooks.CheckBuildRules(t.Context(), admin, rules); err != nil {
			t.Errorf("docs/%s: %v", page, err)
		}
	}
}
