package fleet

import (
	"reflect"
	"slices"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/store/storetest/kit"
)

// Provisioners are what every store passes that keeps provisioners.
var Provisioners = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"tokens of provisioners", (*storeTest).provisionerTokens},
	{"a registration lives, drains and ends", (*storeTest).registrations},
	{"shares are written when nothing else has changed", (*storeTest).shares},
	{"what tenants need is counted by provider", (*storeTest).load},
	{"a worker is kept from providers that are not for it", (*storeTest).except},
	{"the key of workers stays the same", (*storeTest).workerKey},
	{"what was decided about plugins is kept, and wakes servers", (*storeTest).plugins},
})

func (t *storeTest) registered(id, name, token string, slots int) {
	t.Helper()
	now := t.Clock.Now()
	t.Must(t.Store.AddProvisioner(t.Ctx, app.Provisioner{ID: id, Name: name, Host: "host", Version: "1", Token: token, Slots: slots,
		Tags: map[string]string{"region": "eu"}, Only: []string{"acme"}, State: app.ProvisionerActive, RegisteredAt: now, SeenAt: now}))
}

func (t *storeTest) provisionerTokens() {
	token := fleet.ProvisionerToken{Name: "lab", CreatedBy: "root", CreatedAt: t.Clock.Now(),
		ProvisionerGrant: fleet.ProvisionerGrant{Tenants: []string{"acme"}, Tags: map[string]string{"region": "eu"}, Slots: 7}}
	t.Must(t.Store.CreateProvisionerToken(t.Ctx, token, []byte("hash")))
	t.Code(t.Store.CreateProvisionerToken(t.Ctx, token, []byte("other")), app.EConflict)
	got, err := t.Store.ProvisionerTokenOf(t.Ctx, []byte("hash"))
	t.Must(err)
	if !reflect.DeepEqual(got, token) {
		t.Errorf("%+v", got)
	}
	_, err = t.Store.ProvisionerTokenOf(t.Ctx, []byte("unknown"))
	t.Code(err, app.ENotFound)
	t.registered("p1", "h1", "lab", 4)
	t.registered("p2", "h2", "", 4)
	all, err := t.Store.ProvisionerTokens(t.Ctx)
	t.Must(err)
	if len(all) != 1 || !all[0].UsedAt.Equal(t.Clock.Now()) {
		t.Errorf("%+v", all)
	}
	t.Must(t.Store.RevokeProvisionerToken(t.Ctx, "lab", "root", t.Clock.Now()))
	t.Code(t.Store.RevokeProvisionerToken(t.Ctx, "lab", "root", t.Clock.Now()), app.ENotFound)
	for id, want := range map[string]app.ProvisionerState{"p1": app.ProvisionerRevoked, "p2": app.ProvisionerActive} {
		if p, err := t.Store.Provisioner(t.Ctx, id); err != nil || p.State != want {
			t.Errorf("%s: %+v %v", id, p, err)
		}
	}
}

func (t *storeTest) registrations() {
	_, err := t.Store.Provisioner(t.Ctx, "p1")
	t.Code(err, app.ENotFound)
	t.registered("p1", "h1", "", 4)
	t.Clock.Move(time.Second)
	p, err := t.Store.TouchProvisioner(t.Ctx, "p1", false, t.Clock.Now())
	t.Must(err)
	if p.State != app.ProvisionerActive || !p.SeenAt.Equal(t.Clock.Now()) || p.Tags["region"] != "eu" || p.Slots != 4 {
		t.Errorf("%+v", p)
	}
	n, err := t.Store.DrainProvisioners(t.Ctx, "h1", "root", t.Clock.Now())
	t.Must(err)
	if p, _ = t.Store.TouchProvisioner(t.Ctx, "p1", false, t.Clock.Now()); n != 1 || p.State != app.ProvisionerDraining {
		t.Errorf("%d %+v", n, p)
	}
	t.Must(t.Store.EndProvisioner(t.Ctx, "p1", app.ProvisionerLost, t.Clock.Now()))
	t.Must(t.Store.EndProvisioner(t.Ctx, "p1", app.ProvisionerLeft, t.Clock.Now()))
	if p, err = t.Store.TouchProvisioner(t.Ctx, "p1", true, t.Clock.Now().Add(time.Second)); err != nil || p.State != app.ProvisionerLost || !p.EndedAt.Equal(t.Clock.Now()) {
		t.Errorf("what has ended stays so: %+v %v", p, err)
	}
	_, err = t.Store.DrainProvisioners(t.Ctx, "p1", "root", t.Clock.Now())
	t.Code(err, app.ENotFound)
	t.Clock.Move(25 * time.Hour)
	t.registered("p2", "h2", "", 4)
	all, err := t.Store.Provisioners(t.Ctx)
	t.Must(err)
	if len(all) != 1 || all[0].ID != "p2" {
		t.Errorf("one that ended yesterday is kept: %+v", all)
	}
}

func (t *storeTest) shares() {
	t.registered("p1", "h1", "", 4)
	changed, stop := t.Store.Watch(app.SharesTopic())
	defer stop()
	l, err := t.Store.Load(t.Ctx)
	t.Must(err)
	share := fleet.Share{Provisioner: "p1", Tenant: "t1", Slots: 3}
	for i, want := range []bool{true, false} { // the second is decided from what is not true any more
		if done, err := t.Store.Share(t.Ctx, l.Version, []fleet.Share{share}); err != nil || done != want {
			t.Errorf("%d: %v %v", i, done, err)
		}
	}
	select {
	case <-changed:
	case <-time.After(apptest.Hangs):
		t.Error("no one was informed")
	}
	if l, err = t.Store.Load(t.Ctx); err != nil || len(l.Provisioners) != 1 || !slices.Equal(l.Provisioners[0].Tenants,
		[]app.TenantSlots{{Tenant: "t1", Slots: 3}}) || len(l.Idle) > 0 {
		t.Errorf("%+v %v", l, err)
	}
	share.Slots, share.IdleSince = 5, t.Clock.Now()
	if done, err := t.Store.Share(t.Ctx, l.Version, []fleet.Share{share, {Provisioner: "p1", Tenant: "t2", Slots: 1}}); err != nil || !done {
		t.Fatal(done, err)
	}
	if l, err = t.Store.Load(t.Ctx); err != nil || len(l.Provisioners[0].Tenants) != 2 || !l.Idle["p1"]["t1"].Equal(t.Clock.Now()) {
		t.Errorf("%+v %v", l, err)
	}
	if done, err := t.Store.Share(t.Ctx, l.Version, []fleet.Share{{Provisioner: "p1", Tenant: "t1"}}); err != nil || !done {
		t.Fatal(done, err)
	}
	if p, err := t.Store.Provisioner(t.Ctx, "p1"); err != nil || !slices.Equal(p.Tenants, []app.TenantSlots{{Tenant: "t2", Slots: 1}}) {
		t.Errorf("%+v %v", p, err)
	}
	t.Must(t.Store.EndProvisioner(t.Ctx, "p1", app.ProvisionerLost, t.Clock.Now()))
	if l, err = t.Store.Load(t.Ctx); err != nil || len(l.Provisioners) > 0 {
		t.Errorf("%+v %v", l, err)
	}
}

func (t *storeTest) load() {
	t.Create("one", 3)
	t.registered("p1", "h1", "", 4)
	name := fleet.NewWorkerName("p1")
	c := t.Claim(name)
	l, err := t.Store.Load(t.Ctx)
	t.Must(err)
	if len(l.Demands) != 1 || l.Demands[0].Tenant != kit.Tenant || l.Demands[0].Provider != "cloud" || l.Demands[0].Steps != 3 {
		t.Errorf("%+v", l.Demands)
	}
	if all, err := t.Store.Provisioners(t.Ctx); err != nil || all[0].Used() != 0 {
		t.Errorf("no one asked what they do: %+v, %v", all, err)
	}
	all, err := t.Store.BusyProvisioners(t.Ctx)
	t.Must(err)
	if all[0].Used() != 1 || all[0].Tenants[0].Tenant != kit.Tenant {
		t.Errorf("%+v", all[0])
	}
	steps, err := t.Store.ProvisionerSteps(t.Ctx, "p1", 10)
	t.Must(err)
	if len(steps) != 1 || steps[0].Worker != name || steps[0].Tenant != kit.Tenant || steps[0].Cluster == "" || steps[0].Operation == 0 ||
		steps[0].Action != app.ActionCreate || !steps[0].StartedAt.Equal(t.Clock.Now()) {
		t.Errorf("%+v", steps)
	}
	if steps, err = t.Store.ProvisionerSteps(t.Ctx, "p", 10); err != nil || steps == nil || len(steps) != 0 {
		t.Errorf("of another one: %+v, %v", steps, err)
	}
	t.Finish(c, false)
	t.Drain()
	if l, err = t.Store.Load(t.Ctx); err != nil || len(l.Demands) > 0 {
		t.Errorf("nothing is left to do: %+v %v", l.Demands, err)
	}
}

func (t *storeTest) except() {
	t.Create("one", 2)
	now := t.Clock.Now()
	queued := func(except []string, before time.Time) bool {
		t.Helper()
		some, err := t.Store.WorkQueued(t.Ctx, kit.Tenant, except, before)
		t.Must(err)
		return some
	}
	if !queued(nil, now) || queued([]string{"cloud", "other"}, now) || !queued([]string{"other"}, now) {
		t.Error("what is queued is not reported as it is")
	}
	dispatches, err := t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	t.Must(t.Store.MarkDispatched(t.Ctx, dispatches, now))
	if !queued(nil, now) || queued(nil, now.Add(-time.Second)) {
		t.Error("a queue message that was just rung is not late")
	}
	q := execution.ClaimQuery{Worker: app.WorkerID{Tenant: kit.Tenant, Name: "w"}, Now: now, For: execution.ClaimFor, Most: 5}
	for _, c := range []struct {
		except []string
		want   int
	}{{[]string{"cloud", "other"}, 0}, {[]string{"other"}, 2}} {
		q.Except = c.except
		if cs, err := t.Store.ClaimSteps(t.Ctx, q); err != nil || len(cs) != c.want {
			t.Errorf("except %v: %d steps, %v", c.except, len(cs), err)
		}
	}
}

func (t *storeTest) workerKey() {
	first, err := t.Store.WorkerKey(t.Ctx)
	t.Must(err)
	again, err := t.Store.WorkerKey(t.Ctx)
	t.Must(err)
	if len(first) != 32 || !slices.Equal(first, again) {
		t.Errorf("%d letters, again the same: %v", len(first), slices.Equal(first, again))
	}
}
