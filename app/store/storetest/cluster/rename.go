package cluster

import (
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/ownership"
	"muster/app/store/storetest/kit"
)

// renames: a name is as good as one at a create, and the id stays.
func (t *storeTest) renames() {
	t.Create("web", 1)
	t.Create("db", 1)
	at := t.Clock.Now()
	who := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser, Via: app.ViaAPI}
	rename := func(cluster, name string) error {
		return t.Store.RenameCluster(t.Ctx, ownership.Rename{Tenant: kit.Tenant, Cluster: cluster, Name: name, Who: who, Now: at})
	}
	t.Code(rename("web-1", "db"), app.EConflict)
	t.Code(rename("web-1", "db-1"), app.EConflict)
	t.Code(rename("nothing-1", "x"), app.ENotFound)
	t.Code(t.Store.RenameCluster(t.Ctx, ownership.Rename{Tenant: "t2", Cluster: "web-1", Name: "x", Who: who, Now: at}), app.ENotFound)
	_, err := t.Store.SaveRequest(t.Ctx, appcluster.NewRequest{Who: who, Kept: &appcluster.RequestPayload{}, Request: appcluster.Request{Tenant: kit.Tenant, Kind: app.OperationCreate,
		Requester: "eve", Owner: "eve", Status: appcluster.RequestWaiting, Spec: appcluster.CreateRequest{Name: "asked"}, RequestedAt: at, ExpiresAt: at.Add(time.Hour)}})
	t.Must(err)
	t.Code(rename("web-1", "asked"), app.EConflict)
	t.Must(rename("web-1", "web-1")) // its own id
	t.Must(rename("web-1", "shop"))
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if c.Name != "shop" || nodes[0].Hostname != "web-1-n1.internal" {
		t.Errorf("renamed: %+v, %+v", c, nodes[0])
	}
	events, err := t.Store.Events(t.Ctx, kit.Tenant, "web-1", 0, 1000)
	t.Must(err)
	if got := events[len(events)-1]; got.Kind != app.EventCluster || got.Message != "ada renamed the cluster from web-1 to shop." || got.Status != string(c.Status) {
		t.Errorf("the feed tells %+v", got)
	}
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.rename", Limit: 10})
	t.Must(err)
	if len(entries) != 2 || entries[0].Object != "web-1" || entries[0].Detail != `{"after":{"name":"shop"},"before":{"name":"web-1"}}` {
		t.Errorf("the audit tells %+v", entries)
	}
}
