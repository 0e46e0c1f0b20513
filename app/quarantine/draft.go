package quarantine

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/template"
)

// DraftStore is what Drafts needs of the database.
type DraftStore interface {
	ClusterSecrets(ctx context.Context, tenant string, cluster string) (cluster.Secrets, error)
	// KeptCount counts the machines that a tenant keeps.
	KeptCount(ctx context.Context, tenant string) (int, error)
	// NextClusterNumber returns a number that no cluster has had.
	NextClusterNumber(ctx context.Context) (int64, error)
}

// DraftsConfig is what Drafts is created from.
type DraftsConfig struct {
	Store DraftStore
	Now   func() time.Time
	Keys  app.Keys
	Plans *cluster.Plans
}

// Drafts works out what is kept of operations before they are accepted.
type Drafts struct {
	DraftsConfig
}

// NewDrafts returns Drafts on top of their needs.
func NewDrafts(c DraftsConfig) *Drafts { return &Drafts{DraftsConfig: c} }

// Select decides which of the failed machines of a cluster are kept; see Choose.
func (a *Drafts) Select(ctx context.Context, tenant string, keep template.KeepTime, nodes []app.Node, failed map[string]string) (Selection, error) {
	if keep.For() == 0 || len(failed) == 0 {
		return Selection{}, nil
	}
	kept, err := a.Store.KeptCount(ctx, tenant)
	if err != nil {
		return Selection{}, err
	}
	return Choose(keep, nodes, failed, max(MostKept-kept, 0)), nil
}

// Draft makes up the clusters of the machines that are kept. Frees says that their nodes get no other machines in the same operation.
func (a *Drafts) Draft(ctx context.Context, c app.Cluster, d cluster.Definition, s Selection, frees bool) ([]cluster.KeptMachine, error) {
	if len(s.Machines) == 0 {
		return nil, nil
	}
	secrets, err := a.Store.ClusterSecrets(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	var all []cluster.KeptMachine
	for _, m := range s.Machines {
		k, err := a.draft(ctx, c, d, m, s.For)
		if err != nil {
			return nil, err
		}
		k.PublicKey, k.PrivateKey, k.Frees = secrets.PublicKey, secrets.PrivateKey, frees
		all = append(all, k)
	}
	return all, nil
}

func (a *Drafts) draft(ctx context.Context, c app.Cluster, d cluster.Definition, m Choice, length time.Duration) (k cluster.KeptMachine, err error) {
	number, err := a.Store.NextClusterNumber(ctx)
	if err != nil {
		return k, err
	}
	now, n := a.Now(), m.node
	id := app.ClusterID(keptName(c.Name, n.Name), number)
	flavor := d.Hardware[n.Hardware]
	// Its first rule is that there is none: only SSH is let in, from where the account says.
	k.Definition = cluster.Definition{Lease: &template.Lease{Initial: length, Max: template.MostKeepTime}, Services: map[string]*template.Service{},
		Hardware: map[string]template.Flavor{n.Hardware: flavor}, Images: map[string]template.Image{n.Image: d.Images[n.Image]}, Firewall: &template.Firewall{}}
	k.Cluster = app.Cluster{ID: id, Tenant: c.Tenant, Name: id, Owner: c.Owner, OwnerGroup: c.OwnerGroup, Visibility: c.Visibility, Template: c.Template,
		Provider: c.Provider, Size: 1, Services: []string{}, Status: app.ClusterPending, CostPerHour: flavor.CostPerHour, DNSSuffix: c.DNSSuffix, Labels: c.Labels,
		CreatedAt: now, ExpiresAt: now.Add(length), KeptFrom: c.ID, KeptNode: n.Name, KeptReason: m.Reason}
	node := app.Node{Cluster: id, Name: app.NodeName(1), Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: []string{}, Status: app.NodePlanned,
		SSHUser: cmp.Or(n.SSHUser, "root"), Hostname: app.Hostname(id, app.NodeName(1), c.DNSSuffix)}
	k.Nodes = []app.NewNode{{Node: node, Intent: strings.ToLower(rand.Text())}}
	p, err := a.Plans.Plan(ctx, c.Tenant, c.Provider, plan.Request{Kind: app.OperationCreate,
		Nodes: []plan.Node{{Name: node.Name, Zone: node.Zone, Hardware: node.Hardware, Image: node.Image, Kept: true}}})
	if err != nil {
		return k, err
	}
	k.Operation = cluster.NewOperation{Operation: app.Operation{Tenant: c.Tenant, Cluster: id, Kind: app.OperationCreate, PlanHash: p.Hash(),
		Requester: c.Owner, CreatedAt: now, Expected: p.Duration()}, Plan: p}
	k.Reservation = policy.ReservationOf(k.Cluster, k.Nodes, k.Definition.Hardware, nil)
	k.Reservation.Pool = true // a machine more, and no cluster more
	if k.HostKey, _, err = a.Keys.NewKey(n.Hostname); err != nil {
		return k, fmt.Errorf("host key of %s: %w", n.Hostname, err)
	}
	return k, nil
}

// keptName leaves room for what is put behind the cluster's name in an ID.
func keptName(cluster, node string) string {
	const most = 24
	if len(cluster) > most {
		cluster = strings.TrimRight(cluster[:most], "-_.")
	}
	return cluster + "-" + node + "-kept"
}
