package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// CreateCluster accepts a request: the layout is solved and the plan made anew, and cluster, nodes, intents, operation
// and plan are written in one transaction. When r.PlanHash is set and the plan is another one by now, it is EConflict
// and nothing happens.
func (a *App) CreateCluster(ctx context.Context, actor Actor, r ClusterRequest) (ClusterView, error) {
	if err := actor.may("CreateCluster"); err != nil {
		return ClusterView{}, err
	}
	if r.Name = strings.TrimSpace(r.Name); r.Name != "" {
		if err := checkClusterName(r.Name); err != nil {
			return ClusterView{}, err
		}
	}
	if err := r.OnFailure.check(); err != nil {
		return ClusterView{}, err
	}
	d, p, err := a.prepare(ctx, r)
	if err != nil {
		return ClusterView{}, err
	}
	if r.PlanHash != "" && r.PlanHash != p.PlanHash {
		return ClusterView{}, &Error{Code: EConflict, Reason: "plan_changed", Message: "The plan is not the one that was shown: the catalog or the request has changed.",
			Hint: "Look at the new preview and ask again."}
	}
	n, err := a.newCluster(ctx, actor, r, d, p)
	if err != nil {
		return ClusterView{}, err
	}
	if _, err := a.Store.CreateCluster(ctx, n); err != nil {
		return ClusterView{}, err
	}
	return a.Cluster(ctx, actor, n.Cluster.ID)
}

// newCluster gives names, keys and intents to everything.
func (a *App) newCluster(ctx context.Context, actor Actor, r ClusterRequest, d draft, p Preview) (NewCluster, error) {
	number, err := a.Store.NextClusterNumber(ctx)
	if err != nil {
		return NewCluster{}, err
	}
	now := a.Now()
	id := clusterID(firstOf(r.Name, r.Template), number)
	c := Cluster{
		ID: id, Tenant: actor.Tenant, Name: firstOf(r.Name, id), Owner: actor.User, Template: r.Template, Provider: p.Layout.Provider,
		Size: p.Layout.Size(), Status: ClusterPending, CostPerHour: p.Layout.CostPerHour, DNSSuffix: d.dnsSuffix, CreatedAt: now,
	}
	if p.Lease > 0 {
		c.ExpiresAt = now.Add(p.Lease)
	}
	for s := range d.definition.Services {
		c.Services = append(c.Services, s)
	}
	slices.Sort(c.Services)
	n := NewCluster{Cluster: c, Definition: d.definition, Operation: NewOperation{
		Operation: Operation{Tenant: actor.Tenant, Cluster: id, Kind: OperationCreate, PlanHash: p.PlanHash, OnFailure: r.OnFailure,
			Requester: actor.User, CreatedAt: now, Expected: p.Duration},
		Plan: p.Plan,
	}}
	if n.PrivateKey, n.PublicKey, err = a.Keys.NewKey("muster " + id); err != nil {
		return NewCluster{}, fmt.Errorf("key of cluster %s: %w", id, err)
	}
	for _, g := range p.Layout.Groups {
		for range g.Count {
			node := Node{Cluster: id, Name: NodeName(len(n.Nodes) + 1), Hardware: g.Hardware, Image: g.Image, Zone: g.Zone, Services: g.Services,
				Status: NodePlanned, SSHUser: firstOf(d.definition.Images[g.Image].SSHUser, "root")}
			node.Hostname = hostname(id, node.Name, d.dnsSuffix)
			n.Nodes = append(n.Nodes, NewNode{Node: node, Intent: strings.ToLower(rand.Text())})
		}
	}
	n.Reservation = ReservationOf(c, n.Nodes, d.definition.Hardware, actor.Groups)
	return n, a.giveHostKeys(n.Nodes)
}

// giveHostKeys makes a host key for every node, on all cores: for a big cluster this is most of the work.
func (a *App) giveHostKeys(nodes []NewNode) error {
	makers := runtime.GOMAXPROCS(0)
	errs := make([]error, makers)
	var all sync.WaitGroup
	for part := range makers {
		all.Go(func() {
			for i := part; i < len(nodes); i += makers {
				key, _, err := a.Keys.NewKey(nodes[i].Node.Hostname)
				if err != nil {
					errs[part] = fmt.Errorf("host key of %s: %w", nodes[i].Node.Hostname, err)
					return
				}
				nodes[i].HostKey = key
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
