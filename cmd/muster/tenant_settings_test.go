package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/settings"
	"muster/app/template"
	"muster/app/window"
)

func groupFile(name string) settings.TenantImport {
	return settings.TenantImport{File: "muster_tenant: 1\ngroups:\n  " + name + ": {about: made by a file}\n"}
}

// everything has something of each part of a tenant's settings.
func everything(t *testing.T) settings.TenantImport {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "tenant.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return settings.TenantImport{File: string(text), Fill: map[string]string{
		"REGISTRY_TOKEN": "of the registry", "PROVIDER_OURS_TOKEN": "of the cloud", "WEBHOOK_OPS_CHAT_URL": "https://hooks.example.com/services/T0/abcdefghijklmnopqrstuvw",
		"WEBHOOK_OPS_CHAT_SECRET": "whsec_" + strings.Repeat("QUJD", 11), "BUILD_HOOK_GITHUB_WEB_SECRET": "0123456789abcdef0123",
	}}
}

func superIn(tenant string) app.Actor {
	return app.Actor{Tenant: tenant, User: "root", Role: app.RoleSuperadmin, Via: app.ViaAPI, Home: here}
}

func (m *matrix) exported(tenant string) settings.TenantFile {
	m.t.Helper()
	f, err := m.server.Services.Settings.ExportTenant(m.t.Context(), superIn(tenant))
	if err != nil {
		m.t.Fatal(err)
	}
	return f
}

func (m *matrix) newTenant() string {
	m.t.Helper()
	name := m.fresh("tenant")
	if _, _, err := m.server.Services.Identity.Tenants.CreateTenant(m.t.Context(), superIn(here), identity.NewTenant{Name: name}); err != nil {
		m.t.Fatal(err)
	}
	return name
}

func (m *matrix) imported(tenant string, in settings.TenantImport) settings.TenantReport {
	m.t.Helper()
	r, err := m.server.Services.Settings.ImportTenant(m.t.Context(), superIn(tenant), in)
	if err != nil {
		m.t.Fatal(err)
	}
	if !r.OK() {
		m.t.Fatalf("%+v", r.Problems)
	}
	return r
}

// What was exported says nothing new, and makes another tenant the same; no secret is in it.
func TestTenantSettingsRoundTrip(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	in := everything(t)
	one, other := m.newTenant(), m.newTenant()
	first := m.imported(one, in)
	for _, part := range []string{"tenant", "time_zone", "idle", "maintenance", "users", "groups", "quotas", "policies", "secrets", "webhooks", "build_hooks", "pools", "catalog"} {
		if !slices.ContainsFunc(first.Changes, func(e settings.TenantEdit) bool { return e.Part == part }) {
			t.Errorf("the file changes nothing of %s", part)
		}
	}
	file := m.exported(one)
	for name, value := range in.Fill {
		if strings.Contains(file.File, value) {
			t.Errorf("the value of %s is in the file", name)
		}
	}
	if file.AsOf != first.AsOf {
		t.Errorf("the report is as of %s, the export as of %s", first.AsOf, file.AsOf)
	}
	for _, prune := range []bool{false, true} {
		if r := m.imported(one, settings.TenantImport{File: file.File, Prune: prune}); len(r.Changes) > 0 || r.Applied || r.Unchanged < 15 {
			t.Errorf("what was exported changes something (prune %v): %+v", prune, r)
		}
	}
	if r := m.imported(one, in); len(r.Changes) > 0 {
		t.Errorf("the same file once more changes something: %+v", r.Changes)
	}
	m.imported(other, settings.TenantImport{File: file.File, Fill: in.Fill})
	if again := m.exported(other); again.File != file.File {
		t.Errorf("the other tenant is not the same:\n%s\nbut\n%s", file.File, again.File)
	}
	// The values came along, too.
	values, err := m.server.Store.SecretValues(t.Context(), other, []string{"REGISTRY_TOKEN"}, time.Now())
	if err != nil || values["REGISTRY_TOKEN"] != "of the registry" {
		t.Errorf("%d values, %v", len(values), err)
	}
	// What the file lacks goes only when that is said.
	bare := settings.TenantImport{File: "muster_tenant: 1\nidle: {}\nmaintenance: {}\nwebhooks: {}\npolicies: {}\n"}
	if r := m.imported(other, bare); len(r.Changes) > 0 {
		t.Errorf("%+v", r.Changes)
	}
	bare.Prune = true
	r := m.imported(other, bare)
	if len(r.Changes) != 6 || r.Changes[0].Act != "remove" {
		t.Errorf("%+v", r.Changes)
	}
	left := m.exported(other)
	if !strings.Contains(left.File, "\nidle: {}\nmaintenance: {}\n") || !strings.Contains(left.File, "webhooks: {}") || !strings.Contains(left.File, "policies: {}") || !strings.Contains(left.File, "build_hooks:\n  github-web:") {
		t.Error(left.File)
	}
}

// A file and the setters by hand are two ways to the same settings, with the same audit.
func TestIdlePolicyAndWindowsOfAFile(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	a, tenant := m.server.Services, m.newTenant()
	file := "muster_tenant: 1\nidle: {if: {no_ssh: true}, after: 2h}\nmaintenance: {windows: [{start: \"Sat 02:00\", length: 4h}]}\n"
	m.imported(tenant, settings.TenantImport{File: file})
	audit, err := m.server.Store.Audit(t.Context(), app.AuditFilter{Tenants: []string{tenant}, Limit: 10})
	if err != nil || !audited(audit, "tenant.idle") || !audited(audit, "maintenance.set") {
		t.Errorf("%+v, %v", audit, err)
	}
	by := superIn(tenant)
	before := m.exported(tenant)
	if err := a.Idle.SetIdlePolicy(t.Context(), by, &template.IdlePolicy{If: template.IdleConditions{NoSSH: true}, After: 3 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	late := settings.TenantImport{File: file, AsOf: before.AsOf}
	if _, err := a.Settings.ImportTenant(t.Context(), by, late); app.AsError(err).Reason != "tenant_moved" {
		t.Errorf("%v", err)
	}
	if r := m.imported(tenant, settings.TenantImport{File: file}); len(r.Changes) != 1 || r.Changes[0].Fields[0].Path != "after" || r.Unchanged != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := a.Window.SetMaintenanceWindows(t.Context(), by, window.Settings{}); err != nil {
		t.Fatal(err)
	}
	if r := m.imported(tenant, settings.TenantImport{File: file}); len(r.Changes) != 1 || r.Changes[0].Act != "add" {
		t.Errorf("%+v", r)
	}
	if after := m.exported(tenant); after.File != before.File {
		t.Errorf("%s\nbut\n%s", before.File, after.File)
	}
	none := settings.TenantImport{File: "muster_tenant: 1\nidle: {then: nothing}\nmaintenance: {windows: []}\n"}
	if r := m.imported(tenant, none); len(r.Changes) != 2 || r.Changes[1].Act != "remove" {
		t.Errorf("%+v", r)
	}
	if r := m.imported(tenant, none); len(r.Changes) != 0 {
		t.Errorf("%+v", r)
	}
}

func audited(list []app.AuditEntry, act string) bool {
	return slices.ContainsFunc(list, func(e app.AuditEntry) bool { return e.Act == act })
}

// Nothing is left of an import that fails at its very end, or of one that was only tried.
func TestAnImportOfSettingsIsAllOrNothing(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	a, tenant, in := m.server.Services, m.newTenant(), everything(t)
	before := m.exported(tenant)
	report, err := a.Settings.CheckTenant(t.Context(), superIn(tenant), in)
	if err != nil || !report.OK() || report.Applied || len(report.Changes) < 12 {
		t.Fatalf("%+v, %v", report, err)
	}
	broken := errors.New("the last moment")
	a.Settings.Faults = func(where string) error {
		if where == "tenant_import" {
			return broken
		}
		return nil
	}
	if _, err := a.Settings.ImportTenant(t.Context(), superIn(tenant), in); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	a.Settings.Faults = nil
	late := in
	late.File = strings.Replace(in.File, "members: [ada, bot]", "members: [ada, no-such-user]", 1)
	r, err := a.Settings.ImportTenant(t.Context(), superIn(tenant), late)
	if err != nil || r.OK() || r.Applied || !strings.Contains(r.Problems[0].Message, `User "no-such-user" doesn't exist`) || r.Problems[0].Path != "groups.data.members" || r.Problems[0].Line == 0 {
		t.Errorf("%+v, %v", r.Problems, err)
	}
	if after := m.exported(tenant); after != before {
		t.Errorf("something is left:\n%s", after.File)
	}
	list, err := m.server.Store.Audit(t.Context(), app.AuditFilter{Tenants: []string{tenant}, Act: "tenant.import", Limit: 10})
	if err != nil || len(list) != 0 {
		t.Errorf("%d entries, %v", len(list), err)
	}
	// What was looked at is what is imported, or nothing.
	in.AsOf = report.AsOf
	m.imported(there, groupFile("elsewhere")) // another tenant's matters
	if r := m.imported(tenant, in); !r.Applied {
		t.Errorf("%+v", r)
	}
	if _, err := a.Settings.ImportTenant(t.Context(), superIn(tenant), in); app.AsError(err).Reason != "tenant_moved" {
		t.Errorf("%v", err)
	}
	if list, err = m.server.Store.Audit(t.Context(), app.AuditFilter{Tenants: []string{tenant}, Act: "tenant.import", Limit: 10}); err != nil || len(list) != 1 || list[0].Who != "root@"+here {
		t.Errorf("%+v, %v", list, err)
	}
}

// All errors of a file are reported at once, with their position, and a file can't do more than its user could otherwise.
func TestInvalidSettingsAreReported(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	m.imported(there, everything(t))
	before := m.exported(there)
	admin := app.Actor{Tenant: there, User: "ada", Role: app.RoleAdmin, Via: app.ViaAPI}
	for _, c := range []struct {
		name, file string
		line       int
		path, says string
	}{
		{"another form", "muster_tenant: 2\n", 1, "muster_tenant", "format 2; this version of Muster reads format 1"},
		{"no form", "users: {}\n", 1, "muster_tenant", "isn't marked as tenant settings"},
		{"an unknown part", "muster_tenant: 1\nuser: {}\n", 2, "user", `Unknown field "user"`},
		{"an unknown field", "muster_tenant: 1\nusers:\n  ada:\n    role: user\n    colour: red\n", 5, "users.ada.colour", `Unknown field "colour"`},
		{"the wrong type", "muster_tenant: 1\npolicies:\n  a: {order: many, when: \"true\", effect: allow}\n", 3, "policies.a.order", "whole number"},
		{"twice", "muster_tenant: 1\ngroups:\n  a: {}\n  a: {}\n", 4, "groups.a", "twice, first on line 3"},
		{"no YAML", "muster_tenant: 1\n  x: [\n", 2, "", "Invalid YAML"},
		{"empty", "", 0, "", "empty"},
		{"a secret itself", "muster_tenant: 1\nsecrets:\n  NEW: hunter2\n", 3, "secrets.NEW", "Only a secret's placeholder"},
		{"wrong CEL", "muster_tenant: 1\npolicies:\n  a: {order: 1, when: \"nodes >\", effect: allow}\n", 3, "policies.a.when", "syntax error"},
		{"a mightier role", "muster_tenant: 1\nusers:\n  eve: {role: superadmin}\n", 3, "users.eve.role", "Only a superadmin"},
		{"the tenant's own quota", "muster_tenant: 1\nquotas:\n  tenant: {nodes: 9}\n", 3, "quotas.tenant", "Only a superadmin"},
		{"slots", "muster_tenant: 1\nslots: 99\n", 2, "slots", "Only a superadmin"},
		{"another entry", "muster_tenant: 1\ncatalog:\n  template/a:\n    text: |\n      kind: template\n      name: b\n", 3, "catalog.template/a", "isn't a single entry"},
		{"a wrong entry", "muster_tenant: 1\ncatalog:\n  template/a:\n    text: |\n      kind: template\n      name: a\n      extends: nowhere\n", 7, "catalog.template/a", "nowhere"},
		{"a secret in a provider", "muster_tenant: 1\ncatalog:\n  provider/x:\n    text: |\n      kind: provider\n      name: x\n      type: digitalocean\n      settings: {token: hunter2}\n", 8, "catalog.provider/x", "muster secret set"},
		{"no such hook time", "muster_tenant: 1\nwebhooks:\n  disk-check: {when: whenever, script: \"true\"}\n", 3, "webhooks.disk-check.when", "Unknown value"},
		{"an unknown field of idle clusters", "muster_tenant: 1\nidle: {if: {no_ssh: true}, afer: 2h}\n", 2, "idle.afer", "Did you mean after?"},
		{"no condition", "muster_tenant: 1\nidle: {after: 2h}\n", 2, "idle.if", "at least one condition"},
		{"idle too soon", "muster_tenant: 1\nidle:\n  if: {no_ssh: true}\n  after: 1s\n", 4, "idle.after", "must be from 2s to 30d"},
		{"a grace of the past", "muster_tenant: 1\nidle: {if: {no_ssh: true}, after: 2h, grace: -5m}\n", 2, "idle.grace", "must be from 1s to 7d"},
		{"no load", "muster_tenant: 1\nidle:\n  if: {load_below: .nan}\n", 3, "idle.if.load_below", "must be a number"},
		{"an unknown action", "muster_tenant: 1\nidle: {if: {no_ssh: true}, after: 2h, then: burn}\n", 2, "idle.then", "Use sleep, delete"},
		{"a script", "muster_tenant: 1\nidle:\n  if:\n    script: exit 0\n  after: 2h\n", 4, "idle.if.script", "template's idle policy"},
		{"no weekday", "muster_tenant: 1\nmaintenance:\n  windows:\n    - {start: Someday 02:00, length: 4h}\n", 4, "maintenance.windows[0].start", "Use weekdays"},
		{"no length", "muster_tenant: 1\nmaintenance:\n  windows:\n    - {start: Sat 02:00}\n", 4, "maintenance.windows[0]", "length is missing"},
		{"an unknown kind of change", "muster_tenant: 1\nmaintenance: {applies_to: [delete]}\n", 2, "maintenance.applies_to", "Use upgrade"},
	} {
		for _, act := range []func(settings.TenantImport) (settings.TenantReport, error){
			func(in settings.TenantImport) (settings.TenantReport, error) {
				return m.server.Services.Settings.CheckTenant(t.Context(), admin, in)
			},
			func(in settings.TenantImport) (settings.TenantReport, error) {
				return m.server.Services.Settings.ImportTenant(t.Context(), admin, in)
			},
		} {
			r, err := act(settings.TenantImport{File: c.file})
			if err != nil || r.OK() || r.Applied {
				t.Errorf("%s: %+v, %v", c.name, r, err)
				continue
			}
			p := r.Problems[0]
			if p.Line != c.line || p.Path != c.path || !strings.Contains(p.Message+p.Hint, c.says) || strings.Contains(p.Message+p.Hint, "hunter2") {
				t.Errorf("%s: %+v, want line %d, path %s, %q", c.name, p, c.line, c.path, c.says)
			}
		}
	}
	r, err := m.server.Services.Settings.CheckTenant(t.Context(), admin, settings.TenantImport{File: "muster_tenant: 1\nusers:\n  ada: {role: king}\n  x: {role: user, colour: red}\ngroups: []\n"})
	if err != nil || len(r.Problems) != 2 { // the role is looked at only in a file that can be read
		t.Errorf("%+v, %v", r.Problems, err)
	}
	if after := m.exported(there); after != before {
		t.Error("something was changed")
	}
	// One tenant's file is another's only where its own admin imports it.
	f, err := m.server.Services.Settings.ExportTenant(t.Context(), app.Actor{Tenant: here, User: "ada", Role: app.RoleAdmin})
	if err != nil || strings.Contains(f.File, "github-web") {
		t.Errorf("%v\n%s", err, f.File)
	}
}
