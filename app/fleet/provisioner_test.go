package fleet_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/template"
)

func (o *bare) code(err error, want app.Code) {
	o.Helper()
	if app.CodeOf(err) != want {
		o.Fatalf("error %v has code %q, want %q", err, app.CodeOf(err), want)
	}
}

// anything is what most tests' tokens allow.
var anything = fleet.ProvisionerGrant{Tenants: []string{fleet.AllTenants}, Tags: map[string]string{"region": "eu", "network": "lab"}}

// token makes a provisioner token and returns what it opens.
func (o *bare) token(name string) fleet.Registry {
	o.Helper()
	token, err := o.Services.Fleet.Provisioners.CreateProvisionerToken(o.Context(), harness.Root, name, anything)
	o.Must(err)
	r, err := o.Services.Fleet.Registries.RegistryOfToken(o.Context(), token)
	o.Must(err)
	return r
}

func (o *bare) register(r fleet.Registry, name string, slots int, tags map[string]string) string {
	o.Helper()
	reg, err := r.Register(o.Context(), fleet.Registration{Name: name, Slots: slots, Tags: tags})
	o.Must(err)
	return reg.ID
}

func (o *bare) rebalance() {
	o.Helper()
	_, err := o.Balance.Once(o.Context())
	o.Must(err)
}

// orders returns what a provisioner is to do, in words.
func (o *bare) orders(r fleet.Registry, id string) (string, fleet.Orders) {
	o.Helper()
	orders, err := r.Beat(o.Context(), fleet.Heartbeat{ID: id})
	o.Must(err)
	var parts []string
	for _, w := range orders.Workers {
		parts = append(parts, w.Tenant+"="+string(rune('0'+w.Slots)))
	}
	return strings.Join(parts, " "), orders
}

func (o *bare) cluster(tenant string, nodes int) {
	o.Helper()
	_, err := o.Store.CreateCluster(o.Context(), apptest.NewCluster(tenant, "c-"+tenant, nodes, o.Clock.Now(), apptest.Chain(nodes)))
	o.Must(err)
}

func TestProvisionersGetTenants(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	id := o.register(r, "h1", 8, nil)
	o.rebalance()
	if got, _ := o.orders(r, id); got != "" {
		t.Fatalf("no one has work, but %s", got)
	}
	o.cluster("t1", 3)
	o.rebalance()
	if got, _ := o.orders(r, id); got != "t1=8" {
		t.Fatalf("a tenant alone gets everything, not %s", got)
	}
	o.cluster("t2", 6)
	o.rebalance()
	if got, _ := o.orders(r, id); got != "t1=3 t2=5" {
		t.Fatalf("two tenants: %s", got)
	}
	second := o.register(r, "h2", 4, nil)
	o.rebalance()
	first, _ := o.orders(r, id)
	if got, _ := o.orders(r, second); first != "t1=3 t2=5" || got != "t2=4" {
		t.Fatalf("a second provisioner takes load at once: %s, %s", first, got)
	}
	// The first is not heard of any more; the second is.
	for range 4 {
		o.Clock.Move(app.ProvisionerHeartbeat)
		o.orders(r, second)
		o.rebalance()
	}
	if got, _ := o.orders(r, second); got != "t1=2 t2=2" {
		t.Fatalf("the slots of the one that is gone are shared again: %s", got)
	}
	_, err := r.Beat(t.Context(), fleet.Heartbeat{ID: id})
	o.code(err, app.EStale)
	third := o.register(r, "h1", 8, nil)
	o.rebalance()
	if got, _ := o.orders(r, third); got == "" {
		t.Fatal("registered again, it gets nothing")
	}
}

func TestOneProvisioner(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	first := o.register(r, "h1", 4, nil)
	o.cluster("t1", 2)
	o.rebalance()
	all := o.Services.Fleet.Provisioners
	for _, id := range []string{first, "h1"} {
		d, err := all.Provisioner(t.Context(), harness.Root, id)
		o.Must(err)
		if d.ID != first || d.Token != "lab" || len(d.Tenants) != 1 || d.Tenants[0].Slots != 4 || d.Steps == nil || len(d.Steps) != 0 {
			t.Errorf("%s: %+v", id, d)
		}
	}
	_, err := all.Provisioner(t.Context(), harness.Root, "h2")
	o.code(err, app.ENotFound)
	if !strings.Contains(app.AsError(err).Hint, "h1") {
		t.Errorf("the hint is %q", app.AsError(err).Hint)
	}
	// A name that two have says which IDs there are; one that has ended isn't counted.
	second := o.register(r, "h1", 4, nil)
	_, err = all.Provisioner(t.Context(), harness.Root, "h1")
	o.code(err, app.EConflict)
	if hint := app.AsError(err).Hint; !strings.Contains(hint, first) || !strings.Contains(hint, second) {
		t.Errorf("the hint is %q", hint)
	}
	o.Must(r.Leave(t.Context(), first))
	if d, err := all.Provisioner(t.Context(), harness.Root, "h1"); err != nil || d.ID != second {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := all.Provisioner(t.Context(), harness.Root, first); err != nil || d.State != app.ProvisionerLeft {
		t.Errorf("%+v, %v", d, err)
	}
	_, err = all.Provisioner(t.Context(), app.Actor{Tenant: "t1", User: "ann", Role: app.RoleAdmin}, first)
	o.code(err, app.EForbidden)
}

func TestDrainingProvisionersGetNothing(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	id := o.register(r, "h1", 4, nil)
	o.cluster("t1", 2)
	o.rebalance()
	n, err := o.Services.Fleet.Provisioners.DrainProvisioner(t.Context(), harness.Root, "h1")
	o.Must(err)
	if n != 1 {
		t.Fatalf("%d drained", n)
	}
	if got, orders := o.orders(r, id); got != "" || !orders.Drain {
		t.Fatalf("draining: %s %+v", got, orders)
	}
	other := o.register(r, "h2", 4, nil)
	o.rebalance()
	if got, _ := o.orders(r, other); got != "t1=4" {
		t.Fatalf("the others take over: %s", got)
	}
	o.Must(r.Leave(t.Context(), id))
	o.Must(r.Leave(t.Context(), id))
	all, err := o.Services.Fleet.Provisioners.Provisioners(t.Context(), harness.Root)
	o.Must(err)
	if len(all) != 2 || all[0].Name != "h2" || all[1].State != app.ProvisionerLeft {
		t.Fatalf("%+v", all)
	}
	_, err = o.Services.Fleet.Provisioners.DrainProvisioner(t.Context(), harness.Root, "h1")
	o.code(err, app.ENotFound)
}

func TestOrdersArriveImmediately(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	id := o.register(r, "h1", 4, nil)
	_, before := o.orders(r, id)
	got := make(chan fleet.Orders, 1)
	go func() {
		orders, _ := r.Beat(context.WithoutCancel(t.Context()), fleet.Heartbeat{ID: id, Known: before.Version, Wait: 10 * time.Second})
		got <- orders
	}()
	o.cluster("t1", 1)
	o.rebalance()
	began := time.Now()
	if orders := <-got; len(orders.Workers) != 1 || time.Since(began) > 9*time.Second {
		t.Fatalf("after %s: %+v", time.Since(began), orders)
	}
}

func TestWorkersKeepToTheirGrant(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	id := o.register(r, "h1", 4, nil)
	o.cluster("t1", 1)
	o.cluster("t2", 1)
	o.rebalance()
	_, orders := o.orders(r, id)
	token := orders.Workers[0].Token
	c, err := o.Services.Fleet.Registries.CoordinatorOfToken(t.Context(), token)
	o.Must(err)
	own := app.WorkerID{Tenant: "t1", Name: fleet.NewWorkerName(id)}
	fence := []app.Fence{{Operation: 1, Attempt: 1}}
	for _, w := range []app.WorkerID{{Tenant: "t2", Name: own.Name}, {Tenant: "t1", Name: "other:abcdefghij"}, {Tenant: "", Name: own.Name}, {Tenant: "t1"}} {
		_, err := c.Claim(t.Context(), w, 1)
		o.code(err, app.EForbidden)
		_, err = c.Heartbeat(t.Context(), w, fence)
		o.code(err, app.EForbidden)
		_, err = c.Report(t.Context(), w, []execution.Report{{Fence: fence[0]}})
		o.code(err, app.EForbidden)
		_, err = c.Hosts(t.Context(), w, fence[0])
		o.code(err, app.EForbidden)
		o.code(c.Log(t.Context(), w, []app.LogLine{{Operation: 1, Attempt: 1}}), app.EForbidden)
		_, err = c.(execution.WorkWaiter).AwaitWork(t.Context(), w, 0)
		o.code(err, app.EForbidden)
	}
	some, err := c.(execution.WorkWaiter).AwaitWork(t.Context(), own, 0)
	o.Must(err)
	if !some {
		t.Error("it has work and isn't notified")
	}
	for name, bad := range map[string]string{
		"cut": token[:len(token)-2], "changed": strings.Replace(token, "mw_", "mx_", 1), "empty": "", "unsigned": strings.SplitN(token, ".", 2)[0] + ".",
	} {
		if _, err := o.Services.Fleet.Registries.CoordinatorOfToken(t.Context(), bad); app.CodeOf(err) != app.EUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Of a registration that was replaced, a worker may end what it has, and takes nothing new.
	o.Must(o.Store.EndProvisioner(t.Context(), id, app.ProvisionerLost, o.Clock.Now()))
	c, err = o.Services.Fleet.Registries.CoordinatorOfToken(t.Context(), token)
	o.Must(err)
	_, err = c.Claim(t.Context(), own, 1)
	o.code(err, app.EStale)
	_, err = c.Heartbeat(t.Context(), own, fence)
	o.Must(err)
	// Revoked, it may do nothing; and time ends every token.
	o.Must(o.Services.Fleet.Provisioners.RevokeProvisionerToken(t.Context(), harness.Root, "lab"))
	_, err = o.Services.Fleet.Registries.CoordinatorOfToken(t.Context(), token)
	o.code(err, app.EUnauthorized)
	again := o.register(o.token("lab"), "h1", 4, nil)
	o.rebalance()
	if all, _ := o.Services.Fleet.Provisioners.Provisioners(t.Context(), harness.Root); all[0].ID != again {
		t.Fatalf("%+v", all)
	}
}

func TestTokensOfWorkersEnd(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	id := o.register(r, "h1", 4, nil)
	o.cluster("t1", 1)
	o.rebalance()
	_, orders := o.orders(r, id)
	o.Clock.Move(2 * time.Minute)
	_, err := o.Services.Fleet.Registries.CoordinatorOfToken(t.Context(), orders.Workers[0].Token)
	o.code(err, app.EUnauthorized)
}

func TestClaimsOfEndedWorkersAreFreeAtOnce(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	id, other := o.register(r, "h1", 4, nil), o.register(r, "h2", 4, nil)
	o.cluster("t1", 1)
	w := app.WorkerID{Tenant: "t1", Name: fleet.NewWorkerName(id)}
	claim := execution.ClaimQuery{Worker: w, Now: o.Clock.Now(), For: execution.ClaimFor}
	cs, err := o.Store.ClaimSteps(t.Context(), claim)
	o.Must(err)
	if len(cs) != 1 {
		t.Fatal("nothing to claim")
	}
	_, err = r.Beat(t.Context(), fleet.Heartbeat{ID: other, Ended: []string{w.Name}})
	o.code(err, app.EForbidden)
	if cs, _ := o.Store.ClaimSteps(t.Context(), claim); len(cs) != 0 {
		t.Fatal("another provisioner freed it")
	}
	_, err = r.Beat(t.Context(), fleet.Heartbeat{ID: id, Ended: []string{w.Name}})
	o.Must(err)
	if cs, _ := o.Store.ClaimSteps(t.Context(), claim); len(cs) != 1 {
		t.Fatal("the step is not free")
	}
}

func TestStepsGoToProvisionersWithTheTags(t *testing.T) {
	o := newBare(t)
	n := apptest.NewCluster("t1", "c", 2, o.Clock.Now(), apptest.Chain(2))
	o.Catalog.Providers[n.Cluster.Provider] = &template.ProviderSpec{About: template.About{Name: n.Cluster.Provider}, Provisioner: map[string]string{"region": "eu"}}
	_, err := o.Store.CreateCluster(t.Context(), n)
	o.Must(err)
	here := func(tags map[string]string) fleet.Registry {
		token, err := o.Services.Fleet.Provisioners.CreateProvisionerToken(o.Context(), harness.Root, tags["region"], fleet.ProvisionerGrant{Tenants: []string{fleet.AllTenants}, Tags: tags})
		o.Must(err)
		r, err := o.Services.Fleet.Registries.RegistryOfToken(o.Context(), token)
		o.Must(err)
		return r
	}
	r, other := here(map[string]string{"region": "eu", "disk": "ssd"}), here(map[string]string{"region": "us"})
	us, eu := o.register(other, "us", 4, map[string]string{"region": "us"}), o.register(r, "eu", 4, map[string]string{"region": "eu", "disk": "ssd"})
	o.rebalance()
	inUS, _ := o.orders(other, us)
	if inEU, _ := o.orders(r, eu); inUS != "" || inEU != "t1=4" {
		t.Fatalf("us: %s, eu: %s", inUS, inEU)
	}
	for id, want := range map[string]bool{us: false, eu: true} {
		c := o.Services.Fleet.Registries.CoordinatorOf(id, "t1").(execution.WorkWaiter)
		patience := 50 * time.Millisecond
		if want {
			patience = 5 * time.Minute // it answers at once, on a machine that has time
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		some, err := c.AwaitWork(ctx, app.WorkerID{Tenant: "t1", Name: fleet.NewWorkerName(id)}, 0)
		o.Must(err)
		if some != want {
			t.Errorf("%s has work: %v", id, some)
		}
		cs, err := o.Store.ClaimSteps(t.Context(), execution.ClaimQuery{Worker: app.WorkerID{Tenant: "t1", Name: "w"}, Now: o.Clock.Now(), For: time.Second,
			Except: []string{n.Cluster.Provider}})
		if err != nil || len(cs) != 0 {
			t.Errorf("claimed %d steps that were not for it: %v", len(cs), err)
		}
	}
}

func TestOnlyAdminsOfTheInstallationSeeProvisioners(t *testing.T) {
	o := newBare(t)
	for _, a := range []app.Actor{{Tenant: "t1", User: "x", Role: app.RoleAdmin}, {Tenant: app.DefaultTenant, User: "x", Role: app.RoleAdmin}, {}} {
		_, err := o.Services.Fleet.Provisioners.Provisioners(t.Context(), a)
		o.code(err, app.EForbidden)
		_, err = o.Services.Fleet.Provisioners.CreateProvisionerToken(t.Context(), a, "x", anything)
		o.code(err, app.EForbidden)
		_, err = o.Services.Fleet.Provisioners.ProvisionerTokens(t.Context(), a)
		o.code(err, app.EForbidden)
		o.code(o.Services.Fleet.Provisioners.RevokeProvisionerToken(t.Context(), a, "x"), app.EForbidden)
		_, err = o.Services.Fleet.Provisioners.DrainProvisioner(t.Context(), a, "x")
		o.code(err, app.EForbidden)
	}
}

func TestInvalidRegistrationsAreRefused(t *testing.T) {
	o := newBare(t)
	r := o.token("lab")
	for _, reg := range []fleet.Registration{{}, {Name: "x"}, {Name: "x", Slots: 99999}, {Name: "x\ny", Slots: 1}, {Name: "x", Slots: 1, Tags: map[string]string{"a b": "c"}}} {
		_, err := r.Register(t.Context(), reg)
		o.code(err, app.EInvalid)
	}
	_, err := o.Services.Fleet.Provisioners.CreateProvisionerToken(t.Context(), harness.Root, "lab", anything)
	o.code(err, app.EConflict)
	_, err = o.Services.Fleet.Registries.RegistryOfToken(t.Context(), "mp_nonsense")
	o.code(err, app.EUnauthorized)
}

// What a provisioner says of itself reaches no more than its token allows: neither other tenants, nor other tags, nor more slots.
func TestAProvisionerDoesWhatItsTokenAllows(t *testing.T) {
	o := newBare(t)
	for _, name := range []string{"t1", "t2"} {
		if _, err := o.Store.Tenant(t.Context(), name); err != nil {
			o.Must(o.Store.CreateTenant(t.Context(), harness.Root, identity.Tenant{Name: name, CreatedAt: o.Clock.Now()}, nil))
		}
	}
	token, err := o.Services.Fleet.Provisioners.CreateProvisionerToken(t.Context(), harness.Root, "lab", fleet.ProvisionerGrant{Tenants: []string{"t1"}, Tags: map[string]string{"region": "eu"}, Slots: 10})
	o.Must(err)
	r, err := o.Services.Fleet.Registries.RegistryOfToken(t.Context(), token)
	o.Must(err)
	for what, reg := range map[string]fleet.Registration{
		"another tag":          {Name: "h", Slots: 1, Tags: map[string]string{"network": "vault"}},
		"another value":        {Name: "h", Slots: 1, Tags: map[string]string{"region": "us"}},
		"one that is good too": {Name: "h", Slots: 1, Tags: map[string]string{"region": "eu", "x": "y"}},
		"more slots":           {Name: "h", Slots: 11},
	} {
		_, err := r.Register(t.Context(), reg)
		if e := app.AsError(err); e.Code != app.EForbidden || e.Reason != "grant" {
			t.Errorf("%s: %v", what, err)
		}
	}
	id := o.register(r, "h1", 6, nil)
	if _, err := r.Register(t.Context(), fleet.Registration{Name: "h2", Slots: 5}); app.AsError(err).Reason != "grant" || !strings.Contains(err.Error(), "6 are in use") {
		t.Errorf("more slots together: %v", err)
	}
	o.register(r, "h2", 4, nil)
	o.cluster("t1", 3)
	o.cluster("t2", 3)
	o.rebalance()
	got, _ := o.orders(r, id)
	if !strings.HasPrefix(got, "t1=") || strings.Contains(got, "t2") {
		t.Errorf("it is given %q", got)
	}
	if p, err := o.Store.Provisioner(t.Context(), id); err != nil || p.Tags["region"] != "eu" || !p.May("t1") || p.May("t2") {
		t.Errorf("%+v, %v", p, err)
	}
	// A share that it should not have, and a worker's token for it, get it nothing.
	load, err := o.Store.Load(t.Context())
	o.Must(err)
	if done, err := o.Store.Share(t.Context(), load.Version, []fleet.Share{{Provisioner: id, Tenant: "t2", Slots: 2}}); err != nil || !done {
		t.Fatal(done, err)
	}
	if got, _ := o.orders(r, id); strings.Contains(got, "t2") {
		t.Errorf("with a share of another tenant it is given %q", got)
	}
	if _, err := o.Services.Fleet.Registries.CoordinatorOf(id, "t2").Claim(t.Context(), app.WorkerID{Name: fleet.NewWorkerName(id), Tenant: "t2"}, 5); app.CodeOf(err) != app.EUnauthorized {
		t.Errorf("it claims steps of another tenant: %v", err)
	}
	// The same provisioner, started again before it was found to be gone, is not in its own way.
	again := o.register(r, "h1", 6, nil)
	if p, err := o.Store.Provisioner(t.Context(), id); again == id || err != nil || p.State.Alive() {
		t.Errorf("%+v, %v", p, err)
	}
	for what, g := range map[string]fleet.ProvisionerGrant{
		"no tenants":         {},
		"all and one":        {Tenants: []string{fleet.AllTenants, "t1"}},
		"more slots than go": {Tenants: []string{"t1"}, Slots: app.MaxSlots + 1},
		"less than none":     {Tenants: []string{"t1"}, Slots: -1},
		"a bad tag":          {Tenants: []string{"t1"}, Tags: map[string]string{"a b": "c"}},
	} {
		if _, err := o.Services.Fleet.Provisioners.CreateProvisionerToken(t.Context(), harness.Root, "bad", g); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := o.Services.Fleet.Provisioners.CreateProvisionerToken(t.Context(), harness.Root, "bad", fleet.ProvisionerGrant{Tenants: []string{"no-such-tenant"}}); app.CodeOf(err) != app.ENotFound {
		t.Errorf("a tenant that does not exist: %v", err)
	}
	// A token from before there were grants stays as it was.
	old, err := o.Services.Fleet.Provisioners.CreateProvisionerToken(t.Context(), harness.Root, "old", anything)
	o.Must(err)
	r, err = o.Services.Fleet.Registries.RegistryOfToken(t.Context(), old)
	o.Must(err)
	o.register(r, "h3", 100, nil)
}
