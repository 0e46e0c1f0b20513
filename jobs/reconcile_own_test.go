package jobs_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"muster/app"
	appcatalog "muster/app/catalog"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/file/catalog"
	"muster/app/layout"
	"muster/app/providervalue"
	"muster/app/template"
	"muster/jobs/reconcile"
	"muster/providers/fake"
)

// byToken opens the account of a token: the provider's, or a user's. A token that has expired opens none.
type byToken struct {
	accounts map[string]family.Provider
	expired  *atomic.Bool
}

func (b byToken) Provider(_ context.Context, spec template.ProviderSpec) (family.Provider, error) {
	token, _ := spec.Settings["secret"].(string)
	if b.expired.Load() && token == "mine" {
		return nil, app.Errorf(app.ECredentials, "the token has expired")
	}
	if spec.Own != nil && token == "" {
		return nil, errors.New("a cluster's own account is opened without its token")
	}
	if p := b.accounts[token]; p != nil {
		return p, nil
	}
	return nil, app.Errorf(app.ECredentials, "no such token")
}

// A cluster with its users' credentials is created, watched, proven to be gone and swept in their account alone, and what has the same name in the
// provider's account is never taken for it. What its credentials can't reach any more is kept until new ones can.
func TestClustersWithOwnCredentialsHaveAnAccountOfTheirOwn(t *testing.T) {
	t.Parallel()
	mine := fake.New("mine")
	var expired atomic.Bool
	var clouds byToken
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		clouds = byToken{map[string]family.Provider{"theirs": e.cloud, "mine": mine, "renewed": mine, "stranger": fake.New("stranger")}, &expired}
		e.clouds = clouds
		c.Providers["cloud"].Settings = map[string]any{"secret": "theirs"}
		c.Providers["cloud"].Fields = []template.ProviderField{{Name: "secret", Override: true}}
	})
	e.app.Catalog.Reader = catalog.NewReader(catalog.Options{}, appcatalog.Families{Providers: []family.Descriptor{fake.Descriptor}})
	e.app.Values.List = func(ctx context.Context, spec template.ProviderSpec, tags map[string]string) ([]family.Machine, error) {
		p, err := clouds.Provider(ctx, spec)
		if err != nil {
			return nil, err
		}
		return p.List(ctx, tags)
	}
	in := func(p family.Provider) int {
		t.Helper()
		list, err := p.List(e.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	both := e.await(e.create(2).ID) // in the provider's account
	own, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, cluster.CreateRequest{Name: "own", Request: layout.Request{Template: "web", Size: 2},
		ProviderValues: providervalue.Values{"secret": "mine"}})
	if err != nil {
		t.Fatal(err)
	}
	// Users say where machines of their account are, so these are reached only at addresses that tenants may reach.
	if v := e.await(own.ID); v.Status != app.ClusterFailed || in(mine) != 2 || in(e.cloud) != 2 {
		t.Fatalf("%s, with %d machines of their own and %d of the provider", v.Status, in(mine), in(e.cloud))
	}
	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	// Another cluster's machine in the user's account is none of this one's, and an orphan of this one is.
	mine.Put(family.Machine{ID: "another", State: family.MachineRunning, Tags: map[string]string{
		family.TagInstallation: installation, family.TagCluster: "web-9", family.TagIntent: "x", family.TagTenant: "other"}})
	mine.Put(family.Machine{ID: "left", State: family.MachineRunning, Tags: map[string]string{
		family.TagInstallation: installation, family.TagCluster: own.ID, family.TagIntent: "y", family.TagTenant: "other"}})
	stop := e.reconciler(func(r *reconcile.Reconciler) {
		r.Providers, r.Used, r.Own = clouds, e.store.AccountUsed, e.app.Values.Accounts
	})
	defer stop()
	e.comesAbout("the account of the cluster is compared", func() bool {
		all, err := e.store.Accounts(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if a.Provider == app.DefaultTenant+"/cloud@"+own.ID && a.Machines == 3 && !a.EndedAt.IsZero() {
				return true
			}
		}
		return false
	})
	for _, o := range e.orphans(false) {
		if o.Machine != "left" || o.Tenant != app.DefaultTenant || o.Cluster != own.ID {
			t.Errorf("taken for an orphan: %+v", o)
		}
	}

	if err := mine.Delete(e.ctx, "left"); err != nil {
		t.Fatal(err)
	}
	// Expired credentials: the deletion waits for new ones of the same account.
	expired.Store(true)
	if _, err := e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, own.ID); err != nil {
		t.Fatal(err)
	}
	if v := e.await(own.ID); v.Status == app.ClusterDeleted || in(mine) == 0 {
		t.Fatalf("%s without credentials", v.Status)
	}
	set := func(token string) error {
		_, err := e.app.Values.SetClusterProviderValues(e.ctx, e.admin, own.ID, providervalue.Values{"secret": token})
		return err
	}
	if err := set("stranger"); err == nil || app.AsError(err).Reason != "other_account" {
		t.Errorf("another account: %v", err)
	}
	if err := set("unknown"); err == nil || app.AsError(err).Reason != "account_unreachable" {
		t.Errorf("credentials that open nothing: %v", err)
	}
	if err := set("renewed"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, own.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(own.ID), app.ClusterDeleted)
	e.comesAbout("it is proven", func() bool { return !e.receipt(own.ID).Proof.At.IsZero() })
	if how := e.receipt(own.ID).Proof.How; !strings.Contains(how, "cloud@"+own.ID) {
		t.Errorf("proven in another account: %s", how)
	}
	if k, err := e.store.ProviderValues(e.ctx, app.DefaultTenant, own.ID); k != nil || err != nil {
		t.Errorf("the credentials are still kept: %v, %v", k, err)
	}
	if list, err := mine.List(e.ctx, nil); err != nil || len(list) != 1 || list[0].ID != "another" {
		t.Errorf("left in the user's account: %+v, %v", list, err)
	}
	if n := in(e.cloud); n != 2 {
		t.Errorf("%d machines are left of %s", n, both.ID)
	}
}
