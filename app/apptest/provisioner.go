package apptest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/execution"
	"muster/app/fleet"
)

// ProvisionerSuite is what every store passes that keeps provisioners. open gives a fresh, empty store that is closed by the test.
func ProvisionerSuite(t *testing.T, open func(t *testing.T) appall.Store) {
	for _, c := range []struct {
		name string
		test func(*storeTest)
	}{
		{"tokens of provisioners", (*storeTest).provisionerTokens},
		{"a registration lives, drains and ends", (*storeTest).registrations},
		{"shares are written when nothing else has changed", (*storeTest).shares},
		{"what tenants need is counted by provider", (*storeTest).load},
		{"a worker is kept from providers that are not for it", (*storeTest).except},
		{"the key of workers stays the same", (*storeTest).workerKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(&storeTest{T: t, ctx: t.Context(), s: open(t), clock: NewClock()})
		})
	}
}

func (t *storeTest) registered(id, name, token string, slots int) {
	t.Helper()
	now := t.clock.Now()
	t.must(t.s.AddProvisioner(t.ctx, app.Provisioner{ID: id, Name: name, Host: "host", Version: "1", Token: token, Slots: slots,
		Tags: map[string]string{"region": "eu"}, Only: []string{"acme"}, State: app.ProvisionerActive, RegisteredAt: now, SeenAt: now}))
}

func (t *storeTest) provisionerTokens() {
	token := app.ProvisionerToken{Name: "lab", CreatedBy: "root", CreatedAt: t.clock.Now(),
		ProvisionerGrant: app.ProvisionerGrant{Tenants: []string{"acme"}, Tags: map[string]string{"region": "eu"}, Slots: 7}}
	t.must(t.s.CreateProvisionerToken(t.ctx, token, []byte("hash")))
	t.code(t.s.CreateProvisionerToken(t.ctx, token, []byte("other")), app.EConflict)
	got, err := t.s.ProvisionerTokenOf(t.ctx, []byte("hash"))
	t.must(err)
	if !reflect.DeepEqual(got, token) {
		t.Errorf("%+v", got)
	}
	_, err = t.s.ProvisionerTokenOf(t.ctx, []byte("nobody's"))
	t.code(err, app.ENotFound)
	t.registered("p1", "h1", "lab", 4)
	t.registered("p2", "h2", "", 4)
	all, err := t.s.ProvisionerTokens(t.ctx)
	t.must(err)
	if len(all) != 1 || !all[0].UsedAt.Equal(t.clock.Now()) {
		t.Errorf("%+v", all)
	}
	t.must(t.s.RevokeProvisionerToken(t.ctx, "lab", "root", t.clock.Now()))
	t.code(t.s.RevokeProvisionerToken(t.ctx, "lab", "root", t.clock.Now()), app.ENotFound)
	for id, want := range map[string]app.ProvisionerState{"p1": app.ProvisionerRevoked, "p2": app.ProvisionerActive} {
		if p, err := t.s.Provisioner(t.ctx, id); err != nil || p.State != want {
			t.Errorf("%s: %+v %v", id, p, err)
		}
	}
}

func (t *storeTest) registrations() {
	_, err := t.s.Provisioner(t.ctx, "p1")
	t.code(err, app.ENotFound)
	t.registered("p1", "h1", "", 4)
	t.clock.Move(time.Second)
	p, err := t.s.TouchProvisioner(t.ctx, "p1", false, t.clock.Now())
	t.must(err)
	if p.State != app.ProvisionerActive || !p.SeenAt.Equal(t.clock.Now()) || p.Tags["region"] != "eu" || p.Slots != 4 {
		t.Errorf("%+v", p)
	}
	n, err := t.s.DrainProvisioners(t.ctx, "h1", "root", t.clock.Now())
	t.must(err)
	if p, _ = t.s.TouchProvisioner(t.ctx, "p1", false, t.clock.Now()); n != 1 || p.State != app.ProvisionerDraining {
		t.Errorf("%d %+v", n, p)
	}
	t.must(t.s.EndProvisioner(t.ctx, "p1", app.ProvisionerLost, t.clock.Now()))
	t.must(t.s.EndProvisioner(t.ctx, "p1", app.ProvisionerLeft, t.clock.Now()))
	if p, err = t.s.TouchProvisioner(t.ctx, "p1", true, t.clock.Now().Add(time.Second)); err != nil || p.State != app.ProvisionerLost || !p.EndedAt.Equal(t.clock.Now()) {
		t.Errorf("what has ended stays so: %+v %v", p, err)
	}
	_, err = t.s.DrainProvisioners(t.ctx, "p1", "root", t.clock.Now())
	t.code(err, app.ENotFound)
	t.clock.Move(25 * time.Hour)
	t.registered("p2", "h2", "", 4)
	all, err := t.s.Provisioners(t.ctx)
	t.must(err)
	if len(all) != 1 || all[0].ID != "p2" {
		t.Errorf("one that ended yesterday is kept: %+v", all)
	}
}

func (t *storeTest) shares() {
	t.registered("p1", "h1", "", 4)
	changed, stop := t.s.Watch(app.SharesTopic())
	defer stop()
	l, err := t.s.Load(t.ctx)
	t.must(err)
	share := app.Share{Provisioner: "p1", Tenant: "t1", Slots: 3}
	for i, want := range []bool{true, false} { // the second is decided from what is not true any more
		if done, err := t.s.Share(t.ctx, l.Version, []app.Share{share}); err != nil || done != want {
			t.Errorf("%d: %v %v", i, done, err)
		}
	}
	select {
	case <-changed:
	case <-time.After(hangs):
		t.Error("nobody was told")
	}
	if l, err = t.s.Load(t.ctx); err != nil || len(l.Provisioners) != 1 || !slices.Equal(l.Provisioners[0].Tenants, []app.TenantSlots{{Tenant: "t1", Slots: 3}}) || len(l.Idle) > 0 {
		t.Errorf("%+v %v", l, err)
	}
	share.Slots, share.IdleSince = 5, t.clock.Now()
	if done, err := t.s.Share(t.ctx, l.Version, []app.Share{share, {Provisioner: "p1", Tenant: "t2", Slots: 1}}); err != nil || !done {
		t.Fatal(done, err)
	}
	if l, err = t.s.Load(t.ctx); err != nil || len(l.Provisioners[0].Tenants) != 2 || !l.Idle["p1"]["t1"].Equal(t.clock.Now()) {
		t.Errorf("%+v %v", l, err)
	}
	if done, err := t.s.Share(t.ctx, l.Version, []app.Share{{Provisioner: "p1", Tenant: "t1"}}); err != nil || !done {
		t.Fatal(done, err)
	}
	if p, err := t.s.Provisioner(t.ctx, "p1"); err != nil || !slices.Equal(p.Tenants, []app.TenantSlots{{Tenant: "t2", Slots: 1}}) {
		t.Errorf("%+v %v", p, err)
	}
	t.must(t.s.EndProvisioner(t.ctx, "p1", app.ProvisionerLost, t.clock.Now()))
	if l, err = t.s.Load(t.ctx); err != nil || len(l.Provisioners) > 0 {
		t.Errorf("%+v %v", l, err)
	}
}

func (t *storeTest) load() {
	t.create("one", 3)
	t.registered("p1", "h1", "", 4)
	name := fleet.NewWorkerName("p1")
	c := t.claim(name)
	l, err := t.s.Load(t.ctx)
	t.must(err)
	if len(l.Demands) != 1 || l.Demands[0].Tenant != tenant || l.Demands[0].Provider != "cloud" || l.Demands[0].Steps != 3 {
		t.Errorf("%+v", l.Demands)
	}
	if all, err := t.s.Provisioners(t.ctx); err != nil || all[0].Used() != 0 {
		t.Errorf("nobody asked what they do: %+v, %v", all, err)
	}
	all, err := t.s.BusyProvisioners(t.ctx)
	t.must(err)
	if all[0].Used() != 1 || all[0].Tenants[0].Tenant != tenant {
		t.Errorf("%+v", all[0])
	}
	t.finish(c, false)
	t.drain()
	if l, err = t.s.Load(t.ctx); err != nil || len(l.Demands) > 0 {
		t.Errorf("nothing is left to do: %+v %v", l.Demands, err)
	}
}

func (t *storeTest) except() {
	t.create("one", 2)
	now := t.clock.Now()
	queued := func(except []string, before time.Time) bool {
		t.Helper()
		some, err := t.s.WorkQueued(t.ctx, tenant, except, before)
		t.must(err)
		return some
	}
	if !queued(nil, now) || queued([]string{"cloud", "other"}, now) || !queued([]string{"other"}, now) {
		t.Error("what is queued is not told as it is")
	}
	bells, err := t.s.Unrung(t.ctx, 10)
	t.must(err)
	t.must(t.s.MarkRung(t.ctx, bells, now))
	if !queued(nil, now) || queued(nil, now.Add(-time.Second)) {
		t.Error("a bell that was just rung is not late")
	}
	q := app.ClaimQuery{Worker: app.WorkerID{Tenant: tenant, Name: "w"}, Now: now, For: execution.ClaimFor, Most: 5}
	for _, c := range []struct {
		except []string
		want   int
	}{{[]string{"cloud", "other"}, 0}, {[]string{"other"}, 2}} {
		q.Except = c.except
		if cs, err := t.s.ClaimSteps(t.ctx, q); err != nil || len(cs) != c.want {
			t.Errorf("except %v: %d steps, %v", c.except, len(cs), err)
		}
	}
}

func (t *storeTest) workerKey() {
	first, err := t.s.WorkerKey(t.ctx)
	t.must(err)
	again, err := t.s.WorkerKey(t.ctx)
	t.must(err)
	if len(first) != 32 || !slices.Equal(first, again) {
		t.Errorf("%d letters, again the same: %v", len(first), slices.Equal(first, again))
	}
}
