package policy

import (
	"fmt"

	"muster/app"
	"muster/app/identity"
	"muster/app/ownership"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// transfers: the new owner's quotas have a say, those of tenant and old owner do not.
func (t *moneyTest) transfers() {
	at, yes := t.Clock.Now(), true
	for _, u := range []identity.User{{Name: "ada"}, {Name: "bob"}, {Name: "out", DisabledAt: at}, {Name: "eye", Role: app.RoleViewer}} {
		if u.Tenant, u.CreatedAt = kit.Tenant, at; u.Role == "" {
			u.Role = app.RoleUser
		}
		t.Must(t.Store.CreateUser(t.Ctx, u))
	}
	_, err := t.Store.ChangeUser(t.Ctx, kit.Boss, "out", identity.UserChange{Disabled: &yes}, at)
	t.Must(err)
	_, err = t.Store.SaveGroup(t.Ctx, kit.Boss, identity.GroupChange{Name: "data", Add: []string{"bob"}}, at)
	t.Must(err)
	_, err = t.ask(t.Store, "web", "ada", 4, "web")
	t.Must(err)
	give := func(from, to string) error {
		return t.Store.TransferCluster(t.Ctx, ownership.Transfer{Tenant: kit.Tenant, Cluster: "web-1", From: from, To: to, Who: kit.Boss, Now: at})
	}
	t.Code(give("ada", "stranger"), app.EInvalid)
	t.Code(give("ada", "out"), app.EConflict)
	t.Code(give("ada", "eye"), app.EConflict)
	t.Code(give("bob", "ada"), app.EConflict) // it is ada's
	// What was lowered since does not matter where it counted already, and does where it did not.
	t.limit(policy.QuotaTenant, "", policy.MeasureNodes, 1)
	t.limit(policy.QuotaGroup, "data", policy.MeasureNodes, 3)
	t.refused(give("ada", "bob"), `the group "data" to 4 nodes, over the limit of 3`)
	t.limit(policy.QuotaGroup, "data", policy.MeasureNodes, 4)
	t.limit(policy.QuotaUser, "bob", policy.MeasureClusters, 0)
	t.refused(give("ada", "bob"), "bob to 1 cluster, over the limit of 0")
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if c.Owner != "ada" {
		t.Fatalf("a refused transfer left it with %s", c.Owner)
	}
	t.limit(policy.QuotaUser, "bob", policy.MeasureClusters, 1)
	t.Must(give("ada", "bob"))
	c, err = t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	lines, err := t.Store.QuotaLines(t.Ctx, kit.Tenant, "bob", []string{"data"}, at)
	t.Must(err)
	if got := fmt.Sprint(c.Owner, lines); got != "bob[{clusters user bob USD 1 1 0} {nodes tenant  USD 1 4 0} {nodes group data USD 4 4 0}]" {
		t.Errorf("afterwards: %s", got)
	}
	for user, title := range map[string]string{"bob": "boss transferred cluster web to you.", "ada": "boss transferred your cluster web to bob."} {
		list, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, &app.NoticeReader{User: user}, 0, 10)
		t.Must(err)
		if len(list) != 1 || list[0].Title != title || list[0].Kind != app.NoticeCluster {
			t.Errorf("%s was sent %+v", user, list)
		}
	}
	// Who returns it away for nothing has it no more: the other way round needs no room of the tenant either.
	t.Must(give("bob", "ada"))
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.transfer", Limit: 10})
	t.Must(err)
	if len(entries) != 2 || entries[1].Detail != `{"after":{"owner":"bob"},"before":{"owner":"ada"}}` || entries[1].Who != "boss" {
		t.Errorf("the audit tells %+v", entries)
	}
	t.gone("web-1", 4)
	t.Code(give("ada", "bob"), app.EConflict)
}
