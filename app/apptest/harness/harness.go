package harness

import (
	"database/sql"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/policy/cel"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/template"
	"muster/planner"
	"muster/solver"
	"muster/solver/change"
)

// Keys makes keys that open nothing, and no certificates.
type Keys struct{}

func (Keys) SignCertificate([]byte, app.CertificateOrder) (app.SignedCertificate, error) {
	return app.SignedCertificate{}, app.Errorf(app.EInternal, "no certificates here")
}

func (Keys) NewKey(string) ([]byte, string, error) {
	return []byte("private"), "ssh-ed25519 AAAA test", nil
}

// Harness is an app with solver, planner and policies on a store on disk.
type Harness struct {
	testing.TB
	Services *appall.Services
	Store    *store.Store
	Clock    *apptest.Clock
	Catalog  *template.Catalog
	file     string
}

// New opens one; the test closes its store.
func New(t testing.TB) *Harness {
	t.Helper()
	b := &Harness{TB: t, Clock: apptest.NewClock(), file: storetest.File(t)}
	s, err := store.Open(t.Context(), b.file, make([]byte, store.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := template.NewCatalog()
	c.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5, CPU: 2}}}
	c.Images["linux"] = &template.ImageType{About: template.About{Name: "linux"}, Providers: map[string]template.Image{"cloud": {Image: "i", SSHUser: "ubuntu"}}}
	act := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
	c.Services["web"] = &template.Service{About: template.About{Name: "web"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act, app.ActionStart: act}}
	c.Templates["web"] = &template.Template{About: template.About{Name: "web"}, Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 50}},
		Defaults: template.Defaults{Provider: "cloud", Services: []string{"web"}, Config: map[string]any{"port": 8080, "peers": "%join(host.service.web,' ')%"}}}
	for _, name := range []string{"ada", "bob", "cy", "p0", "p1", "p2", "p3", "p4", "p5"} {
		if err := s.CreateUser(t.Context(), identity.User{Tenant: app.DefaultTenant, Name: name, Role: app.RoleUser, CreatedAt: b.Clock.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	b.Store, b.Catalog = s, c
	b.Services = b.services(s)
	return b
}

func (b *Harness) services(s *store.Store) *appall.Services {
	return appall.New(appall.Config{Store: s, Solver: solver.New(), Changer: change.New(), Planner: planner.New(), Keys: Keys{}, Policies: cel.New(),
		Catalog: func() *template.Catalog { return b.Catalog }, Now: b.Clock.Now})
}

// Server is another server on the same database.
func (b *Harness) Server() *appall.Services {
	b.Helper()
	s, err := store.Open(b.Context(), b.file, make([]byte, store.KeySize))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return b.services(s)
}

func (b *Harness) Actor(name string, role app.Role, groups ...string) app.Actor {
	return app.Actor{Tenant: app.DefaultTenant, User: name, Role: role, Groups: groups, ProvenAt: b.Clock.Now(), Via: app.ViaPortal}
}

func (b *Harness) Rules(all ...policy.Policy) {
	b.Helper()
	for _, p := range all {
		p.Version = 0
		if _, err := b.Services.Policy.Policies.SavePolicy(b.Context(), b.Actor("root", app.RoleAdmin), p); err != nil {
			b.Fatal(err)
		}
	}
}

// Asks is a request for a cluster of template "web".
func Asks(name string, size int, lease time.Duration) cluster.CreateRequest {
	return cluster.CreateRequest{Name: name, Request: layout.Request{Template: "web", Size: size}, Lease: &lease, Config: map[string]any{"deep": map[string]any{"n": 7}}}
}

func (b *Harness) Ask(who app.Actor, r cluster.CreateRequest) cluster.Answer {
	b.Helper()
	answer, err := b.Services.Cluster.Creates.Ask(b.Context(), who, r)
	if err != nil {
		b.Fatal(err)
	}
	return answer
}

// Wait asks for a cluster that has to wait.
func (b *Harness) Wait(who app.Actor, name string, size int) cluster.Request {
	b.Helper()
	answer := b.Ask(who, Asks(name, size, 8*time.Hour))
	if answer.Cluster != nil || answer.Request.Status != cluster.RequestWaiting {
		b.Fatalf("it does not wait: %+v", answer.Request)
	}
	return answer.Request
}

func (b *Harness) Approve(who app.Actor, r cluster.Request) (cluster.Request, error) {
	return b.Services.Operation.Requests.Review(b.Context(), who, r.ID, operation.ReviewRequest{Verdict: cluster.VerdictApprove, PlanHash: r.Terms.PlanHash})
}

func (b *Harness) Clusters() int {
	b.Helper()
	all, err := b.Store.Clusters(b.Context(), app.DefaultTenant, app.ClusterFilter{Deleted: true})
	if err != nil {
		b.Fatal(err)
	}
	return len(all)
}

func (b *Harness) SQL(query string, args ...any) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+b.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		b.Fatal(err)
	}
}

// reads returns a number out of the database.
func (b *Harness) Number(query string, args ...any) (n int) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+b.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

func (b *Harness) Titles() (all []string) {
	b.Helper()
	notices, err := b.Store.Notices(b.Context(), app.DefaultTenant, 0, 1000)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range notices {
		all = append(all, n.Title)
	}
	return all
}

var FourEyes = policy.Policy{Name: "four-eyes", Order: 20, Enabled: true, When: "nodes > 3", Effect: policy.EffectApprove, Reason: "${nodes} nodes are many.",
	Approval: &policy.Approval{Count: 2, Group: "finance"}}

func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
