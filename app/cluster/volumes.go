package cluster

import (
	"cmp"
	"context"
	"fmt"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/app/volume"
)

// CheckVolumes refuses nodes whose volumes a provider can't make, or whose configuration says what no volume can be.
func CheckVolumes(spec *template.ProviderSpec, kinds volume.Kinds, nodes []plan.Node, d Definition, uses []volume.Use) ([]volume.Planned, error) {
	of := make([]volume.Node, len(nodes))
	for i, n := range nodes {
		of[i] = volume.Node{Name: n.Name, Services: n.Services}
	}
	price := 0.0
	if spec != nil {
		price = spec.VolumeCost / volume.HoursOfMonth
	}
	list, err := volume.Plan(of, d.Services, d.Config, uses, price)
	if err == nil {
		err = kinds.Check(spec, list)
	}
	return list, err
}

// NoVolumesOfOwn refuses volumes for a cluster with an account of its users' own: that account is forgotten with the cluster's last machine, and volumes may
// outlive it.
func NoVolumesOfOwn(own bool, planned []volume.Planned) error {
	if !own || len(planned) == 0 {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Reason: "no_volumes", Field: "provider_values",
		Message: fmt.Sprintf("Service %s needs volumes, which a cluster with credentials of its own can't have.", planned[0].Service),
		Hint:    "Leave out the credentials, or choose services that need no volumes."}
}

// addVolumes adds the kept volumes that the nodes of a new cluster get, and what the others will cost, to what is reserved.
func (a *Creates) addVolumes(ctx context.Context, actor app.Actor, r CreateRequest, n *NewCluster) error {
	nodes := make([]plan.Node, len(n.Nodes))
	for i, x := range n.Nodes {
		nodes[i] = plan.Node{Name: x.Node.Name, Services: x.Node.Services}
	}
	c, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return err
	}
	planned, err := CheckVolumes(c.Providers[n.Cluster.Provider], a.Volumes, nodes, n.Definition, r.Volumes)
	if err != nil {
		return err
	}
	n.Reservation.VolumeCost = volume.NewCost(planned)
	n.Reservation.CostPerHour += n.Reservation.VolumeCost
	n.Volumes, err = volume.CheckUses(ctx, a.Store, actor, n.Cluster.Provider, planned)
	for i := range n.Nodes {
		node := &n.Nodes[i].Node
		n.Nodes[i].NoPool = volume.MadeFirst(planned, node.Name)
		node.Zone = cmp.Or(volume.ZoneOf(n.Volumes, node.Name), node.Zone)
	}
	return err
}
