package cluster

import (
	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) tenants() {
	op := t.Create("web", 1)
	c := t.ClaimAs(app.WorkerID{Tenant: "t2", Name: "w"})
	if c != nil {
		t.Fatal("another tenant's worker was given the step")
	}
	_, err := t.Store.Cluster(t.Ctx, "t2", "web-1")
	t.Code(err, app.ENotFound)
	_, err = t.Store.ClusterSecrets(t.Ctx, "t2", "web-1")
	t.Code(err, app.ENotFound)
	_, err = t.Store.Definition(t.Ctx, "t2", "web-1")
	t.Code(err, app.ENotFound)
	nodes, err := t.Store.Nodes(t.Ctx, "t2", "web-1")
	t.Must(err)
	steps, err := t.Store.Steps(t.Ctx, "t2", op.ID)
	t.Must(err)
	events, err := t.Store.Events(t.Ctx, "t2", "web-1", 0, 10)
	t.Must(err)
	list, err := t.Store.Clusters(t.Ctx, "t2", app.ClusterFilter{Deleted: true})
	t.Must(err)
	if len(nodes)+len(steps)+len(events)+len(list) != 0 {
		t.Errorf("another tenant sees %d nodes, %d steps, %d events, %d clusters", len(nodes), len(steps), len(events), len(list))
	}
}

func (t *storeTest) names() {
	t.Create("web", 1)
	n := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.ID, n.Operation.Operation.Cluster = "web-2", "web-2"
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Code(err, app.EConflict)
	n = apptest.NewCluster(kit.Tenant, "web-1", 1, t.Clock.Now(), apptest.Chain(1)) // the name is another one's id
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.Code(err, app.EConflict)
	n = apptest.NewCluster(kit.Tenant, "w", 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.ID, n.Operation.Operation.Cluster, n.Nodes[0].Node.Cluster = "web", "web", "web" // the id is another one's name
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.Code(err, app.EConflict)
	_, err = t.Store.CreateCluster(t.Ctx, func() cluster.NewCluster {
		n := apptest.NewCluster("t2", "web", 1, t.Clock.Now(), apptest.Chain(1))
		n.Cluster.ID, n.Operation.Operation.Cluster, n.Nodes[0].Node.Cluster = "web-3", "web-3", "web-3"
		return n
	}())
	t.Must(err)
	list, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Name: "web"})
	t.Must(err)
	if len(list) != 1 || list[0].Operation == nil {
		t.Errorf("list %+v", list)
	}
	for owner, n := range map[string]int{list[0].Owner: 1, "stranger": 0} {
		if of, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Name: "web", Owner: owner}); err != nil || len(of) != n {
			t.Errorf("of %q: %+v, %v", owner, of, err)
		}
	}
	one, err := t.Store.NextClusterNumber(t.Ctx)
	t.Must(err)
	two, err := t.Store.NextClusterNumber(t.Ctx)
	t.Must(err)
	if two <= one {
		t.Errorf("numbers %d, %d do not grow", one, two)
	}
}
