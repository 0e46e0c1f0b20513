package portal

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/fleet"
)

// fakeProvisioners is a fake Muster with provisioners: an active one, one that is part of the server, and a lost one.
type fakeProvisioners struct {
	fake             *fake
	drained, revoked []string
}

func (f *fakeProvisioners) Provisioners(_ context.Context, a app.Actor) ([]app.Provisioner, error) {
	if a.Role != app.RoleSuperadmin && a.User != "boss" {
		return nil, app.Errorf(app.EForbidden, "only admins of the tenant default see provisioners.")
	}
	now := f.fake.now()
	return []app.Provisioner{
		{ID: "aaa", Name: "h1", Host: "h1.lab", Version: "1.2", Tags: map[string]string{"region": "eu"}, Slots: 8, State: app.ProvisionerActive, SeenAt: now.Add(-time.Second),
			Tenants: []app.TenantSlots{{Tenant: "<acme>", Slots: 6, Running: 3}, {Tenant: "zeta", Slots: 2}}},
		{ID: "local:s1:bbb", Name: "server on h0", Slots: 4, State: app.ProvisionerDraining, SeenAt: now.Add(-time.Minute)},
		{ID: "ccc", Name: "h2", Slots: 16, State: app.ProvisionerLost, SeenAt: now.Add(-2 * time.Hour)},
	}, nil
}

func (f *fakeProvisioners) Provisioner(ctx context.Context, a app.Actor, id string) (fleet.ProvisionerDetail, error) {
	all, err := f.Provisioners(ctx, a)
	if err != nil {
		return fleet.ProvisionerDetail{}, err
	}
	for _, p := range all {
		if p.ID == id {
			d := fleet.ProvisionerDetail{Provisioner: p, Steps: []fleet.ProvisionerStep{}}
			if id == "aaa" {
				d.Steps = append(d.Steps, fleet.ProvisionerStep{Worker: "aaa:w", Tenant: "<acme>", Cluster: "c1", Operation: 7, Node: "web-1",
					Action: app.ActionStart, Service: "web", StartedAt: f.fake.now().Add(-90 * time.Second)})
			}
			return d, nil
		}
	}
	return fleet.ProvisionerDetail{}, app.Errorf(app.ENotFound, "Provisioner %q doesn't exist.", id)
}

func (f *fakeProvisioners) DrainProvisioner(_ context.Context, _ app.Actor, name string) (int, error) {
	if name != "aaa" && name != "h1" {
		return 0, app.Errorf(app.ENotFound, "Provisioner %q doesn't exist.", name)
	}
	f.drained = append(f.drained, name)
	return 1, nil
}

func (f *fakeProvisioners) ProvisionerTokens(context.Context, app.Actor) ([]fleet.ProvisionerToken, error) {
	return []fleet.ProvisionerToken{{Name: "lab", CreatedBy: "root", CreatedAt: f.fake.now()}}, nil
}

func (f *fakeProvisioners) CreateProvisionerToken(_ context.Context, _ app.Actor, name string, _ fleet.ProvisionerGrant) (string, error) {
	return "mp_of_" + name, nil
}

func (f *fakeProvisioners) RevokeProvisionerToken(_ context.Context, _ app.Actor, name string) error {
	f.revoked = append(f.revoked, name)
	return nil
}

func staff(t *testing.T) (*testSite, *fakeProvisioners) {
	t.Helper()
	var f *fakeProvisioners
	s := visit(t, func(c *Config) {
		f = &fakeProvisioners{fake: fakeOf(c)}
		c.UseCases, c.CAFingerprint = useCases(f.fake, f), "sha256:ab"
	})
	return s, f
}

func TestProvisionerPage(t *testing.T) {
	s, f := staff(t)
	s.signIn("root")
	if !strings.Contains(s.get("/admin").body, `href="/provisioners"`) {
		t.Error("an admin sees no link to the provisioners")
	}
	a := s.get("/provisioners")
	a.reads(http.StatusOK, "2 provisioners with 12 slots, 3 in use.", "h1 aaa h1.lab active region=eu 3 of 8 <acme>: 3 of 6 zeta: 0 of 2", "1.2 Drain",
		"server on h0 local:s1:bbb draining no tags 0 of 4 none part of a server", "h2 ccc lost")
	if n := strings.Count(a.body, ">Drain</button>"); n != 1 {
		t.Errorf("%d provisioners can be drained", n)
	}
	if a := s.post("/provisioners/aaa/drain", nil); a.status != http.StatusSeeOther || len(f.drained) != 1 {
		t.Errorf("drain: %d %v", a.status, f.drained)
	}
	s.post("/provisioners/zzz/drain", nil).reads(http.StatusNotFound, "doesn't exist")
}

func TestOneProvisionerPage(t *testing.T) {
	s, _ := staff(t)
	s.signIn("root")
	if !strings.Contains(s.get("/provisioners").body, `href="/provisioners/aaa"`) {
		t.Error("the list doesn't link to a provisioner's page")
	}
	s.get("/provisioners/aaa").reads(http.StatusOK, "h1 aaa", "State active", "Slots in use 3 of 8", "Last seen", "Host h1.lab", "Tags region=eu",
		"Allowed tenants all", "<acme> 3 6", "zeta 0 2",
		"start web web-1 c1 <acme> 1 min 30 s", "2 more steps running for less time.", "Drain provisioner")
	s.get("/provisioners/local:s1:bbb").reads(http.StatusOK, "server on h0", "Last seen part of a server", "Token none: it's part of a server",
		"No tenant has slots here.", "No steps are running.")
	s.get("/provisioners/zzz").reads(http.StatusNotFound, "doesn't exist")
	s.signIn("ada")
	s.get("/provisioners/aaa").reads(http.StatusForbidden, "only admins")
}

func TestProvisionerPageIsForAdmins(t *testing.T) {
	s, _ := staff(t)
	s.signIn("ada")
	if strings.Contains(s.get("/admin").body, `href="/provisioners"`) {
		t.Error("a user sees a link to the provisioners")
	}
	s.get("/provisioners").reads(http.StatusForbidden, "only admins")
}

func TestProvisionerAPI(t *testing.T) {
	s, f := staff(t)
	api := func(method, path, body, user string) seen {
		r := s.request(method, "/api/v1"+path, body, "Authorization", "Bearer token-of-"+user)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		return s.do(r)
	}
	for _, c := range []struct {
		method, path, body, user string
		status                   int
		says                     string
	}{
		{"GET", "/provisioners", "", "boss", http.StatusOK, `"name":"h1"`},
		{"GET", "/provisioners", "", "ada", http.StatusForbidden, "only admins"},
		{"GET", "/provisioners/aaa", "", "boss", http.StatusOK, `"worker":"aaa:w"`},
		{"GET", "/provisioners/zzz", "", "boss", http.StatusNotFound, "doesn't exist"},
		{"GET", "/provisioners/aaa", "", "ada", http.StatusForbidden, "only admins"},
		{"POST", "/provisioners/h1/drain", "", "boss", http.StatusOK, `"draining":1`},
		{"POST", "/provisioners/h9/drain", "", "boss", http.StatusNotFound, "doesn't exist"},
		{"GET", "/provisioner-tokens", "", "boss", http.StatusOK, `"name":"lab"`},
		{"POST", "/provisioner-tokens", `{"name":"lab","tenants":["*"]}`, "boss", http.StatusCreated, `"token":"mp_of_lab.sha256:ab"`},
		{"POST", "/provisioner-tokens", `{"name":"lab"}`, "boss", http.StatusUnprocessableEntity, "tenants"},
		{"POST", "/provisioner-tokens", `{"name":5}`, "boss", http.StatusUnprocessableEntity, ""},
		{"DELETE", "/provisioner-tokens/lab", "", "boss", http.StatusOK, `"revoked":"lab"`},
	} {
		if a := api(c.method, c.path, c.body, c.user); a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s %s as %s: %d %s", c.method, c.path, c.user, a.status, a.body)
		}
	}
	if len(f.drained) != 1 || len(f.revoked) != 1 {
		t.Errorf("drained %v, revoked %v", f.drained, f.revoked)
	}
}
