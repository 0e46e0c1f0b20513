package cluster

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/fleet"
	"muster/app/providervalue"
	"muster/app/store/storetest/kit"
)

// providerValues: what users set for a cluster is kept encrypted with it until its machines are proven to be gone.
func (t *storeTest) providerValues() {
	n := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	n.ProviderValues = providervalue.Kept{Values: providervalue.Values{"key": "open-sesame", "zone": "a"}, Account: true}
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	plain := apptest.NewCluster(kit.Tenant, "plain", 1, t.Clock.Now(), apptest.Chain(1))
	_, err = t.Store.CreateCluster(t.Ctx, plain)
	t.Must(err)

	of := func(tenant, cluster string) *providervalue.Kept {
		t.Helper()
		k, err := t.Store.ProviderValues(t.Ctx, tenant, cluster)
		t.Must(err)
		return k
	}
	k := of(kit.Tenant, "web-1")
	if k == nil || k.Values["key"] != "open-sesame" || !k.Account || k.Provider != n.Cluster.Provider || k.ChangedBy != n.Cluster.Owner {
		t.Fatalf("kept %+v", k)
	}
	if of("t2", "web-1") != nil || of(kit.Tenant, plain.Cluster.ID) != nil {
		t.Error("another tenant's, or another cluster's, are found")
	}
	var sealed []byte
	t.Must(t.Store.Row(t.Ctx, `SELECT encrypted FROM provider_values WHERE cluster = ?`, "web-1").Scan(&sealed))
	if strings.Contains(string(sealed), "sesame") {
		t.Error("the values are kept in clear")
	}
	list, err := t.Store.ProviderAccounts(t.Ctx)
	t.Must(err)
	if len(list) != 1 || list[0].Cluster != "web-1" || len(list[0].Values) != 0 || !list[0].ChangedAt.Equal(k.ChangedAt) {
		t.Errorf("accounts: %+v", list)
	}

	// A change is written once, by those who have seen what is there.
	t.Clock.Move(time.Second)
	who := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser, Via: app.ViaAPI}
	next := *k
	next.Values = providervalue.Values{"key": "new"}
	t.Must(t.Store.SetProviderValues(t.Ctx, who, next, []string{"key"}, t.Clock.Now()))
	t.Code(t.Store.SetProviderValues(t.Ctx, who, next, []string{"key"}, t.Clock.Now()), app.EConflict)
	if k := of(kit.Tenant, "web-1"); k.Values["key"] != "new" || len(k.Values) != 1 || !k.Account || !k.ChangedAt.Equal(t.Clock.Now()) {
		t.Errorf("changed to %+v", k)
	}

	// They outlive the cluster's deletion, and end with the proof that nothing is left.
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: apptest.Remove(1), Cancel: true, Operation: app.Operation{Tenant: kit.Tenant,
		Cluster: "web-1", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	t.Drain()
	t.Must(t.Store.SetProof(t.Ctx, kit.Tenant, "web-1", fleet.Proof{How: "Account can't be listed."}, t.Clock.Now()))
	if of(kit.Tenant, "web-1") == nil {
		t.Fatal("the credentials are gone though machines may be left")
	}
	t.Must(t.Store.SetProof(t.Ctx, kit.Tenant, "web-1", fleet.Proof{At: t.Clock.Now(), How: "Nothing is left."}, t.Clock.Now()))
	if k := of(kit.Tenant, "web-1"); k != nil {
		t.Errorf("still kept: %+v", k)
	}
}
