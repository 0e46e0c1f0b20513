package cluster

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/dashboard"
	"muster/app/store/storetest/kit"
)

// home: what someone has, what needs a look first, and nothing of others.
func (t *storeTest) home() {
	at := t.Clock.Now()
	make := func(owner, name string, change func(*cluster.NewCluster)) {
		t.Helper()
		n := apptest.NewCluster(kit.Tenant, name, 1, at, apptest.Chain(1))
		n.Cluster.Owner, n.Cluster.CostPerHour = owner, 0.5
		if change != nil {
			change(&n)
		}
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
	}
	ends := func(d time.Duration) func(*cluster.NewCluster) {
		return func(n *cluster.NewCluster) { n.Cluster.ExpiresAt = at.Add(d) }
	}
	make("ada", "failed", nil)
	t.FailStep(t.Claim("w"), app.Retry{})
	for i := range 7 {
		make("ada", fmt.Sprintf("more%d", i), nil)
	}
	t.Drain()
	make("bob", "his", ends(time.Hour))
	make("ada", "soon", ends(2*time.Hour))
	make("ada", "sooner", ends(time.Hour))
	make("ada", "late", ends(100*time.Hour))
	t.Must(t.Store.Notify(t.Ctx, app.Notice{At: at, Tenant: kit.Tenant, Kind: app.NoticeLease, Users: []string{"ada"}, Title: "old"}))
	for _, n := range []app.Notice{{Users: []string{"ada"}, Title: "mine"}, {Users: []string{"adam"}, Title: "his"}, {Groups: []string{"data"}, Title: "ours"}} {
		n.At, n.Tenant, n.Kind = at, kit.Tenant, app.NoticeLease
		t.Must(t.Store.Notify(t.Ctx, n))
	}
	q := dashboard.Query{Tenant: kit.Tenant, Owner: "ada", Clusters: 7, EndsBy: at.Add(72 * time.Hour), Leases: 5, Notices: 5, AmongNotices: 3,
		Reader: app.NoticeReader{User: "ada", Groups: []string{"data"}}}
	h, err := t.Store.Home(t.Ctx, q)
	t.Must(err)
	if h.Live() != 11 || h.Standing[app.ClusterActive] != 7 || h.Standing[app.ClusterFailed] != 1 || h.Standing[app.ClusterPending] != 3 || h.CostPerHour != 5 { // the failed one has no machine
		t.Errorf("standing are %v, at %v an hour", h.Standing, h.CostPerHour)
	}
	names := ""
	for _, c := range h.Clusters {
		if names += c.Name + " "; c.Operation == nil || c.Operation.Cluster != c.ID {
			t.Errorf("%s comes with operation %+v", c.Name, c.Operation)
		}
	}
	if names != "failed late sooner soon more6 more5 more4 " {
		t.Errorf("the first are %s", names)
	}
	ending := ""
	for _, c := range h.Ending {
		ending += c.Name + " "
	}
	if ending != "sooner soon " {
		t.Errorf("what ends soon is %s", ending)
	}
	notified := ""
	for _, n := range h.Notices {
		notified += n.Title + " "
	}
	if notified != "ours mine " {
		t.Errorf("shown was %s", notified)
	}
	q.Leases, q.Clusters, q.Notices = 1, 1, 1
	h, err = t.Store.Home(t.Ctx, q)
	t.Must(err)
	if len(h.Clusters) != 1 || len(h.Ending) != 1 || h.Ending[0].Name != "sooner" || len(h.Notices) != 1 {
		t.Errorf("bounds do not hold: %d, %d, %d", len(h.Clusters), len(h.Ending), len(h.Notices))
	}
	q.Owner, q.Reader = "stranger", app.NoticeReader{User: "stranger"}
	h, err = t.Store.Home(t.Ctx, q)
	t.Must(err)
	if h.Live() != 0 || h.Clusters == nil || h.Ending == nil || h.Notices == nil || len(h.Clusters)+len(h.Ending)+len(h.Notices) != 0 {
		t.Errorf("someone with nothing has %+v", h)
	}
	q.Owner, q.Tenant = "ada", "t2"
	if h, err = t.Store.Home(t.Ctx, q); err != nil || h.Live() != 0 {
		t.Errorf("in another tenant: %+v, %v", h, err)
	}
}
