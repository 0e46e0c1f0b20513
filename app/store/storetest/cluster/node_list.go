package cluster

import (
	"strings"

	"muster/app"
	"muster/app/apptest"
	"muster/app/identity"
	"muster/app/node"
	"muster/app/store/storetest/kit"
)

// nodeList: which nodes filters let through, in which order, page by page, and for whom.
func (t *storeTest) nodeList() {
	t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: "ada", Role: app.RoleUser, CreatedAt: t.Clock.Now()}))
	for _, c := range []struct {
		name, owner, provider, tenant string
		size                          int
		hide                          bool
	}{
		{"alpha", "ada", "sandbox", kit.Tenant, 2, false},
		{"beta", "bob", "ocean", kit.Tenant, 3, true},
		{"other", "ada", "sandbox", "others", 1, false},
	} {
		n := apptest.NewCluster(c.tenant, c.name, c.size, t.Clock.Now(), apptest.Chain(1))
		n.Cluster.Owner, n.Cluster.Provider, n.Cluster.Visibility = c.owner, c.provider, app.VisibleTenant
		if c.hide {
			n.Cluster.Visibility = app.VisiblePrivate
		}
		for i := range n.Nodes {
			at := &n.Nodes[i].Node
			at.Zone, at.Services = "z"+at.Name, []string{"web", "svc_" + at.Name}
		}
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
	}
	names := func(f node.Filter) string {
		t.Helper()
		if f.Limit == 0 {
			f.Limit = 10
		}
		list, err := t.Store.ListNodes(t.Ctx, kit.Tenant, f)
		t.Must(err)
		all := []string{}
		for _, n := range list {
			all = append(all, n.ClusterName+"/"+n.Name)
		}
		return strings.Join(all, " ")
	}
	const every = "beta/n1 beta/n2 beta/n3 alpha/n1 alpha/n2"
	for _, c := range []struct {
		what string
		f    node.Filter
		want string
	}{
		{"all", node.Filter{}, every},
		{"of an owner", node.Filter{Owner: "ada"}, "alpha/n1 alpha/n2"},
		{"at a provider", node.Filter{Provider: "ocean"}, "beta/n1 beta/n2 beta/n3"},
		{"in a zone", node.Filter{Zone: "zn2"}, "beta/n2 alpha/n2"},
		{"with a service", node.Filter{Service: "svc_n3"}, "beta/n3"},
		{"with a part of a service's name", node.Filter{Service: "svc"}, ""},
		{"with a letter that means more elsewhere", node.Filter{Service: "svcxn3"}, ""},
		{"of a cluster by name", node.Filter{Cluster: "alpha"}, "alpha/n1 alpha/n2"},
		{"of a cluster by id", node.Filter{Cluster: "beta-1", State: node.StatePlanned}, "beta/n1 beta/n2 beta/n3"},
		{"of another tenant's cluster", node.Filter{Cluster: "other"}, ""},
		{"that are ready", node.Filter{State: node.StateReady}, ""},
		{"that are lost", node.Filter{State: node.StateLost}, ""},
		{"with a text in the cluster's name", node.Filter{Text: "BET"}, "beta/n1 beta/n2 beta/n3"},
		{"with an escape", node.Filter{Text: "!"}, ""},
		{"for those who may see them", node.Filter{Reader: &app.ClusterReader{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser}}, "alpha/n1 alpha/n2"},
	} {
		if got := names(c.f); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	paged, after := []string{}, ""
	for range 6 {
		list, err := t.Store.ListNodes(t.Ctx, kit.Tenant, node.Filter{Limit: 2, After: after})
		t.Must(err)
		for _, n := range list {
			paged, after = append(paged, n.ClusterName+"/"+n.Name), n.Cluster+"/"+n.Name
		}
	}
	if got := strings.Join(paged, " "); got != every {
		t.Errorf("pages have %q, want %q", got, every)
	}
	hidden := node.Filter{Limit: 2, After: "beta-1/n1", Reader: &app.ClusterReader{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser}}
	if _, err := t.Store.ListNodes(t.Ctx, kit.Tenant, hidden); app.CodeOf(err) != app.ENotFound {
		t.Errorf("a page after a cluster that one doesn't see: %v", err)
	}
}
