package apptest

import (
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/identity"
)

// renames: a name is as good as one at a create, and the id stays.
func (t *storeTest) renames() {
	t.create("web", 1)
	t.create("db", 1)
	at := t.clock.Now()
	who := app.Actor{Tenant: tenant, User: "ada", Role: app.RoleUser, Via: app.ViaAPI}
	rename := func(cluster, name string) error {
		return t.s.RenameCluster(t.ctx, appcluster.ClusterRename{Tenant: tenant, Cluster: cluster, Name: name, Who: who, Now: at})
	}
	t.code(rename("web-1", "db"), app.EConflict)
	t.code(rename("web-1", "db-1"), app.EConflict)
	t.code(rename("nothing-1", "x"), app.ENotFound)
	t.code(t.s.RenameCluster(t.ctx, appcluster.ClusterRename{Tenant: "t2", Cluster: "web-1", Name: "x", Who: who, Now: at}), app.ENotFound)
	_, err := t.s.KeepRequest(t.ctx, app.NewRequest{Who: who, Kept: &app.Kept{}, Request: app.Request{Tenant: tenant, Kind: app.OperationCreate,
		Requester: "eve", Owner: "eve", Status: app.RequestWaiting, Asked: app.ClusterRequest{Name: "asked"}, AskedAt: at, ExpiresAt: at.Add(time.Hour)}})
	t.must(err)
	t.code(rename("web-1", "asked"), app.EConflict)
	t.must(rename("web-1", "web-1")) // its own id
	t.must(rename("web-1", "shop"))
	c, err := t.s.Cluster(t.ctx, tenant, "web-1")
	t.must(err)
	nodes, err := t.s.Nodes(t.ctx, tenant, "web-1")
	t.must(err)
	if c.Name != "shop" || nodes[0].Hostname != "web-1-n1.internal" {
		t.Errorf("renamed: %+v, %+v", c, nodes[0])
	}
	events, err := t.s.Events(t.ctx, tenant, "web-1", 0, 1000)
	t.must(err)
	if got := events[len(events)-1]; got.Kind != app.EventCluster || got.Message != "ada renamed it from web-1 to shop." || got.Status != string(c.Status) {
		t.Errorf("the feed tells %+v", got)
	}
	deeds, err := t.s.Audit(t.ctx, app.AuditFilter{Tenants: []string{tenant}, Act: "cluster.rename", Limit: 10})
	t.must(err)
	if len(deeds) != 2 || deeds[0].Object != "web-1" || deeds[0].Detail != `{"after":{"name":"shop"},"before":{"name":"web-1"}}` {
		t.Errorf("the audit tells %+v", deeds)
	}
}

// transfers: the new owner's quotas have a say, those of tenant and old owner do not.
func (t *moneyTest) transfers() {
	at, yes := t.clock.Now(), true
	for _, u := range []app.User{{Name: "ada"}, {Name: "bob"}, {Name: "out", DisabledAt: at}, {Name: "eye", Role: app.RoleViewer}} {
		if u.Tenant, u.CreatedAt = tenant, at; u.Role == "" {
			u.Role = app.RoleUser
		}
		t.must(t.s.CreateUser(t.ctx, u))
	}
	_, err := t.s.ChangeUser(t.ctx, boss, "out", identity.UserChange{Disabled: &yes}, at)
	t.must(err)
	_, err = t.s.SaveGroup(t.ctx, boss, identity.GroupChange{Name: "data", Add: []string{"bob"}}, at)
	t.must(err)
	_, err = t.ask(t.s, "web", "ada", 4, "web")
	t.must(err)
	give := func(from, to string) error {
		return t.s.TransferCluster(t.ctx, appcluster.ClusterTransfer{Tenant: tenant, Cluster: "web-1", From: from, To: to, Who: boss, Now: at})
	}
	t.code(give("ada", "nobody"), app.EInvalid)
	t.code(give("ada", "out"), app.EConflict)
	t.code(give("ada", "eye"), app.EConflict)
	t.code(give("bob", "ada"), app.EConflict) // it is ada's
	// What was lowered since does not matter where it counted already, and does where it did not.
	t.limit(app.QuotaTenant, "", app.MeasureNodes, 1)
	t.limit(app.QuotaGroup, "data", app.MeasureNodes, 3)
	t.refused(give("ada", "bob"), `4 nodes of the group "data", which may have 3`)
	t.limit(app.QuotaGroup, "data", app.MeasureNodes, 4)
	t.limit(app.QuotaUser, "bob", app.MeasureClusters, 0)
	t.refused(give("ada", "bob"), "1 cluster of bob, who may have 0")
	c, err := t.s.Cluster(t.ctx, tenant, "web-1")
	t.must(err)
	if c.Owner != "ada" {
		t.Fatalf("a refused transfer left it with %s", c.Owner)
	}
	t.limit(app.QuotaUser, "bob", app.MeasureClusters, 1)
	t.must(give("ada", "bob"))
	c, err = t.s.Cluster(t.ctx, tenant, "web-1")
	t.must(err)
	lines, err := t.s.QuotaLines(t.ctx, tenant, "bob", []string{"data"}, at)
	t.must(err)
	if got := fmt.Sprint(c.Owner, lines); got != "bob[{clusters user bob 1 1 0} {nodes tenant  1 4 0} {nodes group data 4 4 0}]" {
		t.Errorf("afterwards: %s", got)
	}
	for user, title := range map[string]string{"bob": "boss gave you the cluster web.", "ada": "boss gave your cluster web to bob."} {
		list, err := t.s.NoticesFor(t.ctx, tenant, &app.NoticeReader{User: user}, 0, 10)
		t.must(err)
		if len(list) != 1 || list[0].Title != title || list[0].Kind != app.NoticeCluster {
			t.Errorf("%s was told %+v", user, list)
		}
	}
	// Who gives it away for nothing has it no more: the other way round needs no room of the tenant either.
	t.must(give("bob", "ada"))
	deeds, err := t.s.Audit(t.ctx, app.AuditFilter{Tenants: []string{tenant}, Act: "cluster.transfer", Limit: 10})
	t.must(err)
	if len(deeds) != 2 || deeds[1].Detail != `{"after":{"owner":"bob"},"before":{"owner":"ada"}}` || deeds[1].Who != "boss" {
		t.Errorf("the audit tells %+v", deeds)
	}
	t.gone("web-1", 4)
	t.code(give("ada", "bob"), app.EConflict)
}
