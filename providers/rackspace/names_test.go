package rackspace

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	fake "muster/providers/internal/openstacktest"
	"muster/providers/internal/records"
	"muster/providers/providertest"
)

func (s *simulated) named(t *testing.T, p *Provider, name string) error {
	t.Helper()
	return p.SetName(t.Context(), family.Machine{Hostname: name + "." + fake.Zone, Addresses: map[string]string{app.AddressAccess: "198.51.100.7"},
		Tags: map[string]string{family.TagInstallation: "i", family.TagCluster: "c", family.TagIntent: name}})
}

// A domain of several pages is read to its end, and a name's duplicates becomes one.
func TestNamesAmongMany(t *testing.T) {
	s := simulate(t)
	p := s.open(t, map[string]any{"dns_zone": fake.Zone})
	for n := range 11 {
		s.Take(fmt.Sprintf("www%d.%s", n, fake.Zone), "A", fmt.Sprintf("203.0.113.%d", n+1))
	}
	for range 2 {
		if err := s.named(t, p, "web-1"); err != nil {
			t.Fatal(err)
		}
		s.Take("web-1."+fake.Zone, "A", "203.0.113.99") // beside our claim: a job whose call no one heard of
	}
	if err := s.named(t, p, "web-1"); err != nil {
		t.Fatal(err)
	}
	if got := s.Named("web-1." + fake.Zone); !slices.Equal(got, []string{"A 198.51.100.7"}) {
		t.Errorf("it leads to %q", got)
	}
	before := s.faults.Calls()
	if err := s.named(t, p, "web-1"); err != nil {
		t.Fatal(err)
	}
	if calls := s.faults.Calls() - before; calls != 6 { // the domain, and 13 records in pages of three
		t.Errorf("%d calls for a name that is as it should be", calls)
	}
}

// Records that went since they were read are no failure: deleted is deleted, and what was to be changed is made.
func TestDeletedRecords(t *testing.T) {
	s := simulate(t)
	p := s.open(t, map[string]any{"dns_zone": fake.Zone})
	name := "web-1." + fake.Zone
	session, err := p.sessions.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func(*zone) error{
		"removed": func(z *zone) error { return z.Remove(t.Context(), name, "A") },
		"written": func(z *zone) error {
			return z.Write(t.Context(), records.Set{Name: name, Type: "A", Values: []string{"198.51.100.7"}})
		},
	} {
		z, err := p.dns(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		z.held, z.read = []record{{ID: "A-1", Name: name, Type: "A", Data: "203.0.113.1"}}, true
		if err := do(z); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := s.Named(name); !slices.Equal(got, []string{"A 198.51.100.7"}) {
		t.Errorf("it leads to %q", got)
	}
}

// What Cloud DNS refuses has the code that reports whether to ask again.
func TestCloudDNSErrors(t *testing.T) {
	s := simulate(t)
	p := s.open(t, map[string]any{"dns_zone": fake.Zone})
	s.With(func(c *fake.Cloud) { c.Records = 1 })
	err := s.named(t, p, "full")
	if e := app.AsError(err); e.Code != app.EQuota || !strings.Contains(e.Message, "Limit of 1 records per domain") || e.Hint == "" {
		t.Errorf("no room: %+v", e)
	}
	for text, want := range map[string]app.Code{
		`{"code": 500, "message": "One or more items could not be deleted.", "failedItems": {"faults": [{"code": 404, "message": "Object not Found."}]}}`: app.ENotFound,
		`{"code": 503, "message": "The DNS API is currently not available."}`:                                                                             app.ETransient,
		`{"code": 409, "message": "The object already exists."}`:                                                                                          app.EConflict,
		`{"code": 400, "validationErrors": {"messages": ["null is not a valid domain name."]}}`:                                                           app.EInvalid,
		`{"code": 413, "message": "Over.", "details": "Limit of 500 records per domain has been reached."}`:                                               app.EQuota,
		`{"code": 413, "message": "Over."}`:                                                                                                               app.ERateLimit,
	} {
		var f fault
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		if err := f.coded(); app.CodeOf(err) != want || !strings.Contains(err.Error(), "Cloud DNS: ") {
			t.Errorf("%s: %v (%s), want %s", text, err, app.CodeOf(err), want)
		}
	}
}

// Its documentation has a header and a form of date of its own for when to come back.
func TestCloudDNSRetryAfter(t *testing.T) {
	s := simulate(t)
	p := s.open(t, map[string]any{"dns_zone": fake.Zone})
	s.faults.Throttle = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Reply-After", time.Now().Add(30*time.Second).UTC().Format(time.RFC3339))
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = w.Write([]byte(`{"code": 413, "message": "OverLimit Retry...", "details": "Error Details..."}`))
	}
	s.faults.Arm(providertest.Throttled, 1, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/domains") })
	if e := app.AsError(s.named(t, p, "web-1")); e.Code != app.ERateLimit || e.RetryAfter < 20*time.Second || e.RetryAfter > 30*time.Second {
		t.Errorf("%+v", e)
	}
}

// Roles that cannot delete records are notified of.
func TestRolesForNames(t *testing.T) {
	for role, doubted := range map[string]bool{"identity:user-admin": false, "dnsaas:admin": false, "dnsaas:creator": true, "nova:admin": true} {
		s := simulate(t)
		s.With(func(c *fake.Cloud) { c.Roles = []string{"identity:default", "nova:creator", role} })
		found, err := s.open(t, map[string]any{"dns_zone": fake.Zone}).CheckAccount(t.Context(), family.AccountNeeds{})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(found, func(f family.Finding) bool { return f.Warning && f.About == family.AboutPermissions })
		if warned != doubted {
			t.Errorf("%s: %+v", role, found)
		}
	}
}
