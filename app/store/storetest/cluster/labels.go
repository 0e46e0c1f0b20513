package cluster

import (
	"maps"
	"slices"

	"muster/app"
	"muster/app/apptest"
	"muster/app/label"
	"muster/app/store/storetest/kit"
)

// labels: what a cluster is created with is read, found and changed.
func (t *storeTest) labels() {
	for name, labels := range map[string]label.Labels{"web": {"team": "web", "cost-centre": "4711"}, "db": {"team": "data"}, "bare": nil} {
		n := apptest.NewCluster(kit.Tenant, name, 1, t.Clock.Now(), apptest.Chain(1))
		n.Cluster.Labels, n.Cluster.Description = labels, "About "+name
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
	}
	other := apptest.NewCluster("t2", "theirs", 1, t.Clock.Now(), apptest.Chain(1))
	other.Cluster.Labels = label.Labels{"team": "web"}
	_, err := t.Store.CreateCluster(t.Ctx, other)
	t.Must(err)
	find := func(f app.ClusterFilter) (names []string) {
		t.Helper()
		list, err := t.Store.Clusters(t.Ctx, kit.Tenant, f)
		t.Must(err)
		for _, c := range list {
			names = append(names, c.Name)
		}
		counts, err := t.Store.CountClusters(t.Ctx, kit.Tenant, f)
		t.Must(err)
		if counts.Live() != len(names) {
			t.Errorf("%+v: %d listed, %d counted", f, len(names), counts.Live())
		}
		slices.Sort(names)
		return names
	}
	by := func(selectors ...app.LabelSelector) app.ClusterFilter { return app.ClusterFilter{Labels: selectors} }
	for _, c := range []struct {
		filter app.ClusterFilter
		want   []string
	}{
		{by(app.LabelSelector{Key: "team", Value: "web"}), []string{"web"}},
		{by(app.LabelSelector{Key: "team"}), []string{"db", "web"}},
		{by(app.LabelSelector{Key: "team"}, app.LabelSelector{Key: "cost-centre", Value: "4711"}), []string{"web"}},
		{by(app.LabelSelector{Key: "team", Value: "none"}), nil},
		{app.ClusterFilter{Text: "DATA"}, []string{"db"}},
	} {
		if got := find(c.filter); !slices.Equal(got, c.want) {
			t.Errorf("%+v finds %q, want %q", c.filter, got, c.want)
		}
	}
	who := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser, Via: app.ViaAPI}
	text := "Shop"
	rules := &label.Rules{Required: map[string]string{"cost-centre": ""}}
	at := t.Clock.Now()
	after, err := t.Store.LabelCluster(t.Ctx, who, "web-1", label.Change{Description: &text, Set: label.Labels{"team": "shop"}}, rules, at)
	t.Must(err)
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if want := (label.Labels{"team": "shop", "cost-centre": "4711"}); !maps.Equal(c.Labels, want) || c.Description != "Shop" || !maps.Equal(after.Labels, want) {
		t.Errorf("labelled: %+v", c)
	}
	if got := find(by(app.LabelSelector{Key: "team", Value: "web"})); len(got) > 0 {
		t.Errorf("still found: %q", got)
	}
	_, err = t.Store.LabelCluster(t.Ctx, who, "web-1", label.Change{Remove: []string{"cost-centre"}}, rules, at)
	t.Code(err, app.EInvalid)
	_, err = t.Store.LabelCluster(t.Ctx, who, "theirs-1", label.Change{Remove: []string{"team"}}, nil, at)
	t.Code(err, app.ENotFound)
	_, err = t.Store.LabelCluster(t.Ctx, who, "web-1", label.Change{Set: label.Labels{"team": "shop"}}, nil, at) // it has that
	t.Must(err)
	events, err := t.Store.Events(t.Ctx, kit.Tenant, "web-1", 0, 1000)
	t.Must(err)
	if got := events[len(events)-1]; got.Message != "ada changed labels: team=shop and description." {
		t.Errorf("the feed tells %+v", got)
	}
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.label", Limit: 10})
	t.Must(err)
	if len(entries) != 1 || entries[0].Detail != `{"after":{"description":"Shop","labels":{"cost-centre":"4711","team":"shop"}},"before":{"description":"About web","labels":{"cost-centre":"4711","team":"web"}}}` {
		t.Errorf("the audit tells %+v", entries)
	}
	for owner, want := range map[string][]string{"": {"cost-centre", "team"}, c.Owner: {"cost-centre", "team"}, "no-one": nil} {
		if keys, err := t.Store.LabelKeys(t.Ctx, kit.Tenant, owner, 10); err != nil || !slices.Equal(keys, want) {
			t.Errorf("keys of %q: %q, %v", owner, keys, err)
		}
	}
}
