package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/layout"
	apptemplate "muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/cmd/muster/server"
)

// refusing is an account with configured answers.
type refusing struct {
	appcluster.Accounts
	found []family.Finding
	asked chan family.AccountNeeds
}

func (r refusing) CheckAccount(_ context.Context, _ apptemplate.ProviderSpec, needs family.AccountNeeds) ([]family.Finding, error) {
	r.asked <- needs
	return r.found, nil
}

const dearCatalog = `kind: provider
name: sandbox
type: sandbox
---
kind: hardware
name: a-large
providers: {sandbox: {flavor: large, cpu: 4, memory_gb: 8, cost_per_hour: 4}}
---
kind: hardware
name: b-small
providers: {sandbox: {flavor: small, cpu: 1, memory_gb: 1, cost_per_hour: 0.17}}
---
kind: hardware
name: c-same
providers: {sandbox: {flavor: same, cpu: 1, memory_gb: 1, cost_per_hour: 0.169}}
---
kind: hardware
name: d-free
providers: {sandbox: {flavor: free, cpu: 1, memory_gb: 1}}
---
kind: image
name: host
providers: {sandbox: {image: host}}
---
kind: service
name: web
actions:
  start: echo
---
kind: template
name: dear
defaults: {services: [web], provider: sandbox, image: host}
compatibility: {hardware: [a-large, b-small]}
constraints: {size: {min: 1, max: 5}}
---
kind: template
name: thrifty
extends: dear
defaults: {prefer: cheapest}
---
kind: template
name: level
defaults: {services: [web], provider: sandbox, image: host}
compatibility: {hardware: [b-small, c-same]}
---
kind: template
name: unpriced
defaults: {services: [web], provider: sandbox, image: host}
compatibility: {hardware: [b-small, d-free]}
`

// serverOf runs a server with a catalog of its own.
func serverOf(t *testing.T, text string) *server.Server {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(context.WithoutCancel(t.Context()), server.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0",
		Catalogs: []string{dir}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Services.Fleet.Registries.LocalRegistry(s.LocalWorkers(), true).Register(t.Context(), fleet.Registration{Name: "idle", Host: "h", Version: cli.VersionName(), Slots: 1}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPreviewsSayWhatTheProviderWouldRefuse(t *testing.T) {
	s := serverOf(t, dearCatalog)
	accounts := refusing{asked: make(chan family.AccountNeeds, 10), found: []family.Finding{
		{About: family.AboutCredentials, OK: true, Message: "The token is good."},
		{About: family.AboutQuota, Warning: true, Message: "Only 3 machines are left."},
		{About: family.AboutFlavor, Subject: "large", Code: app.EInvalid, Message: "There is no size large.", Hint: "Sizes are small and same."},
	}}
	s.Services.Cluster.Preflight.Accounts = accounts
	bob := app.Actor{Tenant: app.DefaultTenant, User: "bob", Role: app.RoleUser}
	request := appcluster.CreateRequest{Request: layout.Request{Template: "dear", Size: 3}}
	p, err := s.Services.Cluster.Creates.Preview(t.Context(), bob, request)
	if err != nil {
		t.Fatal(err)
	}
	if p.Account == nil || p.Account.State != appcluster.AccountChecked || p.Account.Provider != "sandbox" || len(p.Problems) != 2 || p.Problems[0].Subject != "large" ||
		!p.Problems[1].Warning {
		t.Fatalf("%+v, %+v", p.Account, p.Problems)
	}
	needs := <-accounts.asked
	if len(needs.Machines) != 1 || needs.Each || needs.Machines[0].Count != 3 || needs.Machines[0].Flavor.Flavor != "large" || needs.Machines[0].Image.Image != "host" {
		t.Errorf("asked about %+v", needs)
	}
	var out bytes.Buffer
	cluster.PrintPreview(&cli.Context{Stdout: &out}, p)
	for _, want := range []string{"Problem: There is no size large. Sizes are small and same.", "Warning: Only 3 machines are left."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the terminal shows %q, without %q", &out, want)
		}
	}
	if _, err := s.Services.Cluster.Creates.Preview(t.Context(), bob, request); err != nil || len(accounts.asked) != 0 {
		t.Errorf("the same preview asks the account again: %v", err)
	}
}

// TestPreviewsSayWhichScriptsNoShellCanRead, where a catalog let one through: Coopr's forms are read leniently.
func TestPreviewsSayWhichScriptsNoShellCanRead(t *testing.T) {
	s := serverOf(t, dearCatalog)
	s.Services.Cluster.Preflight.Accounts = nil
	s.Services.Cluster.Preflight.CheckScript = func(script string) *apptemplate.ScriptFault {
		if script == "echo" {
			return &apptemplate.ScriptFault{Line: 1, Column: 2, Message: "this shell has no echo"}
		}
		return nil
	}
	p, err := s.Services.Cluster.Creates.Preview(t.Context(), app.Actor{Tenant: app.DefaultTenant, User: "bob", Role: app.RoleUser}, appcluster.CreateRequest{Request: layout.Request{Template: "dear", Size: 1}})
	if err != nil || len(p.Problems) != 1 || p.Problems[0].Message != "Service web, action start: line 1, column 2 of the script: this shell has no echo." || p.Account != nil {
		t.Errorf("%v: %+v", err, p.Problems)
	}
}

func TestPreviewsSayWhatIsCheaper(t *testing.T) {
	s := serverOf(t, dearCatalog)
	s.Services.Cluster.Preflight.Accounts = nil
	for _, c := range []struct {
		name, template string
		prefer         apptemplate.Preference
		cost           float64
		want           string
	}{
		{"packed is dear", "dear", "", 4, "Choose cheapest to pay $0.17/h instead of $4.00/h."},
		{"spread is dear too", "dear", apptemplate.PreferSpread, 4, "Choose cheapest to pay $0.17/h instead of $4.00/h."},
		{"it is the cheapest", "dear", apptemplate.PreferCheapest, 0.17, ""},
		{"the template prefers it", "thrifty", "", 0.17, ""},
		{"packed against the template", "thrifty", apptemplate.PreferPacked, 4, "Choose cheapest to pay $0.17/h instead of $4.00/h."},
		{"no real amount", "level", "", 0.17, ""},
		{"a price that is not known is not cheap", "unpriced", "", 0.17, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := s.Services.Cluster.Creates.Preview(t.Context(), app.Actor{Tenant: app.DefaultTenant, User: "bob", Role: app.RoleUser},
				appcluster.CreateRequest{Request: layout.Request{Template: c.template, Size: 1, Prefer: c.prefer}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(p.Cheaper.Text(), "$", ""); got != strings.ReplaceAll(c.want, "$", "") || p.Layout.CostPerHour != c.cost {
				t.Errorf("it costs %v, and %q is said; want %v and %q", p.Layout.CostPerHour, got, c.cost, c.want)
			}
			var out bytes.Buffer
			cluster.PrintPreview(&cli.Context{Stdout: &out}, p)
			if (c.want != "") != strings.Contains(out.String(), "Choose cheapest") {
				t.Errorf("the terminal shows %q", &out)
			}
		})
	}
}
