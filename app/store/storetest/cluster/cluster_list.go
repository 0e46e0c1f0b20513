package cluster

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store/storetest/kit"
)

// clusterList: what filters let through, in which order, page by page, and how many there are.
func (t *storeTest) clusterList() {
	at := t.Clock.Now()
	for i, c := range []struct {
		name, owner, template, provider string
		cost                            float64
		lease                           time.Duration
	}{
		{"alpha", "ada", "hadoop", "sandbox", 0.5, 0},
		{"beta", "bob", "web", "ocean", 2, 3 * time.Hour},
		{"gamma", "ada", "web", "sandbox", 0.5, time.Hour},
		{"delta_1", "bob", "hadoop", "sandbox", 1, 0},
		{"deltb", "cleo", "hadoop", "ocean", 1, 2 * time.Hour},
	} {
		n := apptest.NewCluster(kit.Tenant, c.name, 1, at, apptest.Chain(1))
		n.Cluster.Owner, n.Cluster.Template, n.Cluster.Provider, n.Cluster.CostPerHour = c.owner, c.template, c.provider, c.cost
		if c.lease > 0 {
			n.Cluster.ExpiresAt = at.Add(c.lease)
		}
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
		if i == 0 {
			t.FailStep(t.Claim("w"), app.Retry{})
		}
	}
	if waiting, err := t.Store.WaitingByProvider(t.Ctx); err != nil || waiting["ocean"] != 2 || waiting["sandbox"] != 2 {
		t.Errorf("of providers wait %v, %v", waiting, err)
	}
	t.Drain()
	if waiting, err := t.Store.WaitingByProvider(t.Ctx); err != nil || len(waiting) != 0 {
		t.Errorf("nothing is in progress, and of providers wait %v, %v", waiting, err)
	}
	// What failed before it had a machine costs nothing.
	list, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Owner: "ada"})
	t.Must(err)
	for _, c := range list {
		if free := c.Status == app.ClusterFailed; free != (c.CostPerHour == 0) {
			t.Errorf("%s is %s and costs %v", c.Name, c.Status, c.CostPerHour)
		}
	}
	names := func(f app.ClusterFilter) string {
		t.Helper()
		list, err := t.Store.Clusters(t.Ctx, kit.Tenant, f)
		t.Must(err)
		all := []string{}
		for _, c := range list {
			if all = append(all, c.Name); c.Operation == nil || c.Operation.Cluster != c.ID {
				t.Errorf("%s comes with operation %+v", c.Name, c.Operation)
			}
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		what string
		f    app.ClusterFilter
		want string
	}{
		{"the newest first", app.ClusterFilter{}, "deltb delta_1 gamma beta alpha"},
		{"by name", app.ClusterFilter{Sort: app.SortName}, "alpha beta delta_1 deltb gamma"},
		{"the dearest first", app.ClusterFilter{Sort: app.SortCost}, "beta deltb delta_1 gamma alpha"},
		{"whose lease ends soonest", app.ClusterFilter{Sort: app.SortLease}, "gamma deltb beta delta_1 alpha"},
		{"of one owner", app.ClusterFilter{Owner: "ada"}, "gamma alpha"},
		{"of a template", app.ClusterFilter{Template: "hadoop"}, "deltb delta_1 alpha"},
		{"of a template at a provider", app.ClusterFilter{Template: "hadoop", Provider: "ocean"}, "deltb"},
		{"that failed", app.ClusterFilter{Status: app.ClusterFailed}, "alpha"},
		{"that have a text in their name, in any letters", app.ClusterFilter{Text: "ELT"}, "deltb delta_1"},
		{"of an owner's name", app.ClusterFilter{Text: "cle"}, "deltb"},
		{"of a template's name", app.ClusterFilter{Text: "web"}, "gamma beta"},
		{"with a letter that means more elsewhere", app.ClusterFilter{Text: "a_1"}, "delta_1"},
		{"with another", app.ClusterFilter{Text: "%"}, ""},
		{"with what looks like an escape", app.ClusterFilter{Text: "!"}, ""},
		{"by id", app.ClusterFilter{IDs: []string{"beta-1", "none", "alpha-1"}}, "beta alpha"},
		{"by no id", app.ClusterFilter{IDs: []string{}}, ""},
		{"that are gone", app.ClusterFilter{Status: app.ClusterDeleted}, ""},
		{"at most two", app.ClusterFilter{Limit: 2}, "deltb delta_1"},
	} {
		if got := names(c.f); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	// Page by page, none is left out and none comes twice, in every order.
	for _, order := range app.ClusterSorts {
		all, paged, after := names(app.ClusterFilter{Sort: order}), "", ""
		for range 6 {
			list, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Sort: order, Limit: 2, After: after})
			t.Must(err)
			for _, c := range list {
				paged += c.Name + " "
				after = c.ID
			}
			if len(list) < 2 {
				break
			}
		}
		if strings.TrimSpace(paged) != all {
			t.Errorf("by %q, pages have %q, want %q", order, paged, all)
		}
	}
	_, err = t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{After: "none"})
	t.Code(err, app.ENotFound)
	_, err = t.Store.Clusters(t.Ctx, "another", app.ClusterFilter{After: "beta-1"})
	t.Code(err, app.ENotFound)

	count := func(f app.ClusterFilter) string {
		t.Helper()
		c, err := t.Store.CountClusters(t.Ctx, kit.Tenant, f)
		t.Must(err)
		return fmt.Sprintf("%v %v", c.By, c.CostPerHour)
	}
	for want, f := range map[string]app.ClusterFilter{
		"map[active:4 failed:1] 4.5": {Status: app.ClusterFailed, Limit: 1, After: "beta-1"},
		"map[active:1 failed:1] 0.5": {Owner: "ada"},
		"map[active:2] 2":            {Text: "delt"},
		"map[] 0":                    {Owner: "unknown"},
	} {
		if got := count(f); got != want {
			t.Errorf("counted %s, want %s", got, want)
		}
	}
}
