package apptest

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/template"
)

// Chain is a plan that creates and confirms nodes and then starts a service on each, where every start waits for every
// confirm through a join.
func Chain(nodes int) plan.Plan {
	p := plan.Plan{Kind: app.OperationCreate}
	add := func(s plan.Step) int {
		s.Rank = time.Duration(100-len(p.Steps)) * time.Second
		p.Steps = append(p.Steps, s)
		return len(p.Steps) - 1
	}
	var confirmed []int
	for i := 1; i <= nodes; i++ {
		n := app.NodeName(i)
		created := add(plan.Step{ID: n + ".create", Node: n, Action: app.ActionCreate})
		confirmed = append(confirmed, add(plan.Step{ID: n + ".confirm", Node: n, Action: app.ActionConfirm, Needs: []int{created}}))
	}
	all := add(plan.Step{ID: "all.confirm", Join: true, Needs: confirmed})
	for i := 1; i <= nodes; i++ {
		n := app.NodeName(i)
		for _, s := range []string{"a", "b"} {
			add(plan.Step{ID: n + "." + s + ".start", Node: n, Service: s, Action: app.ActionStart, Needs: []int{all}})
		}
	}
	return p
}

// Remove is a plan that deletes nodes.
func Remove(nodes int) plan.Plan {
	p := plan.Plan{Kind: app.OperationDelete}
	for i := 1; i <= nodes; i++ {
		n := app.NodeName(i)
		p.Steps = append(p.Steps, plan.Step{ID: n + ".delete", Node: n, Action: app.ActionDelete, Rank: time.Second})
	}
	return p
}

// NewCluster is a cluster as a store takes it, with a plan over its nodes.
func NewCluster(tenant, name string, nodes int, at time.Time, p plan.Plan) cluster.NewCluster {
	c := cluster.NewCluster{
		Cluster: app.Cluster{ID: name + "-1", Tenant: tenant, Name: name, Owner: "ada", Template: "web", Provider: "cloud", Size: nodes,
			Services: []string{"a", "b"}, Status: app.ClusterPending, DNSSuffix: "internal", CreatedAt: at, CostPerHour: 0.25},
		Definition: cluster.Definition{Config: map[string]any{"port": "80"}, Services: map[string]*template.Service{}},
		PublicKey:  "ssh-ed25519 AAAA", PrivateKey: []byte("the cluster's private key"),
		Operation: cluster.NewOperation{Plan: p, Operation: app.Operation{Tenant: tenant, Cluster: name + "-1", Kind: p.Kind, PlanHash: p.Hash(),
			Requester: "ada", CreatedAt: at}},
	}
	for i := 1; i <= nodes; i++ {
		n := app.NodeName(i)
		c.Nodes = append(c.Nodes, app.NewNode{Intent: fmt.Sprintf("%s-%s-%s", tenant, name, n), HostKey: []byte("host key of " + n),
			Node: app.Node{Cluster: c.Cluster.ID, Name: n, Hostname: c.Cluster.ID + "-" + n + ".internal", Hardware: "small", Image: "host", Zone: "here",
				Services: []string{"a", "b"}, Status: app.NodePlanned, SSHUser: "root"}})
	}
	return c
}
