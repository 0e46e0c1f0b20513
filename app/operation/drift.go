package operation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	apphealth "muster/app/health"
)

// DriftStore is what Drifts needs of the database.
type DriftStore interface {
	Definition(ctx context.Context, tenant string, cluster string) (appcluster.Definition, error)
	NodeReports(ctx context.Context, tenant string, cluster string, node string, limit int) ([]apphealth.NodeReport, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	// ServiceChanges returns what was found of a cluster's nodes that are not gone, by node number and service.
	ServiceChanges(ctx context.Context, tenant string, cluster string, limit int) ([]ServiceChanges, error)
}

// DriftsConfig is what Drifts is created from. Only what says so may be nil.
type DriftsConfig struct {
	Store DriftStore
	Now   func() time.Time
	// DryRuns reports whether an automator can say what it would change; nil: none can.
	DryRuns  func(automator string) bool
	Clusters *appcluster.Finder
	Views    *appcluster.Views
	Updates  *Updates
}

// Drifts compares clusters with what they should be.
type Drifts struct {
	DriftsConfig
}

// NewDrifts returns Drifts on top of their needs.
func NewDrifts(c DriftsConfig) *Drifts { return &Drifts{DriftsConfig: c} }

// Drift is where a cluster is not what it should be: as the catalog, the cloud, what services may assume of nodes, and the services
// themselves say.
type Drift struct {
	Cluster string      `json:"cluster"`
	At      time.Time   `json:"at"`
	Items   []DriftItem `json:"items"` // none: it is as it should be, as far as is known
	// Comparable reports whether what sets up some of its services can say what it would change: `muster cluster compare`.
	Comparable bool `json:"comparable"`
	// Notes say what could not be looked at, and why.
	Notes []string `json:"notes"`
}

// DriftFrom says from what a cluster has drifted.
type DriftFrom string

// What a cluster can drift from.
const (
	DriftCatalog DriftFrom = "catalog" // its template or a service is another one by now
	DriftCloud   DriftFrom = "cloud"   // machines are gone, or do not run
	DriftNode    DriftFrom = "node"    // a node is not what services may assume
	DriftService DriftFrom = "service" // what sets a service up would change something, as it said when it was last compared
	DriftHealth  DriftFrom = "health"  // a node is unhealthy or unreachable
)

// DriftItem is one such thing, with the update that would fix it; nil where none is known.
type DriftItem struct {
	From DriftFrom          `json:"from"`
	Node string             `json:"node,omitempty"`
	Text string             `json:"text"`
	Hint string             `json:"hint,omitempty"`
	Fix  *appcluster.Update `json:"fix,omitempty"`
}

// mostDrift is how many things of one kind are listed.
const mostDrift = 50

// DriftUnwatched is the note of a cluster whose health no one looks at.
const DriftUnwatched = "No health checks configured, so the state of the nodes is unknown."

// Drift compares a cluster with what it should be. Nothing is asked of the cloud or of nodes for it: it tells what is
// known; what tools would change, an operation of the kind compare has found.
func (a *Drifts) Drift(ctx context.Context, actor app.Actor, cluster string) (Drift, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Drift", cluster)
	if err != nil {
		return Drift{}, err
	}
	if err := actor.MayChange("Drift", c); err != nil {
		return Drift{}, err
	}
	if c.Status == app.ClusterDeleted {
		return Drift{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	d := Drift{Cluster: c.ID, At: a.Now(), Items: []DriftItem{}, Notes: []string{}}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return Drift{}, err
	}
	d.cloud(c, nodes)
	health, err := a.Views.ClusterHealth(ctx, c, nodes)
	if err != nil {
		return Drift{}, err
	}
	d.health(c, health, apphealth.LostNodes(c, nodes))
	reports, err := a.Store.NodeReports(ctx, actor.Tenant, c.ID, "", apphealth.MaxNodeReports)
	if err != nil {
		return Drift{}, err
	}
	d.contract(reports)
	changes, err := a.Store.ServiceChanges(ctx, actor.Tenant, c.ID, apphealth.MaxNodeReports)
	if err != nil {
		return Drift{}, err
	}
	d.services(changes)
	definition, err := a.Store.Definition(ctx, actor.Tenant, c.ID)
	if err != nil {
		return Drift{}, err
	}
	for _, s := range definition.Services {
		d.Comparable = d.Comparable || Compared(a.DryRuns, s) != ""
	}
	return d, a.driftFromCatalog(ctx, actor, c, &d)
}

func (d *Drift) add(i DriftItem) {
	same := 0
	for _, o := range d.Items {
		if o.From == i.From {
			same++
		}
	}
	switch {
	case same < mostDrift:
		d.Items = append(d.Items, i)
	case same == mostDrift:
		d.Notes = append(d.Notes, fmt.Sprintf("More items of this kind (%s) aren't listed.", i.From))
	}
}

func repairOf(node string) *appcluster.Update {
	return &appcluster.Update{Kind: app.OperationRepair, Nodes: []string{node}}
}

// cloud tells of machines that the reconciler has found to be lost.
func (d *Drift) cloud(c app.Cluster, nodes []app.Node) {
	for _, name := range apphealth.LostNodes(c, nodes) {
		d.add(DriftItem{From: DriftCloud, Node: name, Text: name + ": machine deleted or stopped at the provider.",
			Hint: "The cluster becomes active again when all machines run.", Fix: repairOf(name)})
	}
}

// health tells what health checks have found, as long as that is known to be so; of lost machines cloud tells.
func (d *Drift) health(c app.Cluster, h *apphealth.ClusterHealth, lost []string) {
	if h == nil {
		d.Notes = append(d.Notes, DriftUnwatched)
		return
	}
	if why := h.Stale(c, len(lost) > 0, h.Healthy+h.Unhealthy+h.Unreachable+h.Unknown, d.At); why != "" {
		d.Notes = append(d.Notes, why)
	}
	for _, n := range h.Nodes {
		if n.Ill() && !slices.Contains(lost, n.Node) {
			d.add(DriftItem{From: DriftHealth, Node: n.Node, Text: n.Text() + ".", Fix: repairOf(n.Node)})
		}
	}
}

// contract tells what a bootstrap found to be wrong with nodes.
func (d *Drift) contract(reports []apphealth.NodeReport) {
	for _, r := range reports {
		for _, c := range r.Checks {
			if c.OK {
				continue
			}
			i := DriftItem{From: DriftNode, Node: r.Node, Text: r.Node + ": " + c.String() + ".", Hint: c.Hint}
			if c.Level == apphealth.NodeRequired {
				i.Fix = repairOf(r.Node)
			}
			d.add(i)
		}
	}
}

// driftFromCatalog tells what an upgrade would change.
func (a *Drifts) driftFromCatalog(ctx context.Context, actor app.Actor, c app.Cluster, d *Drift) error {
	fix := &appcluster.Update{Kind: app.OperationUpgrade}
	p, err := a.Updates.PreviewUpdate(ctx, actor, c.ID, *fix)
	switch app.CodeOf(err) {
	case "":
	case app.EInternal, app.ETransient, app.ETimeout, app.ERateLimit:
		return err
	default:
		d.Notes = append(d.Notes, "Couldn't compare the cluster with the catalog: "+app.AsError(err).ForPeople())
		return nil
	}
	if p.NoChanges {
		return nil
	}
	for _, change := range p.Changes {
		d.add(DriftItem{From: DriftCatalog, Text: change.Text(), Fix: fix})
	}
	if len(p.Changes) == 0 {
		d.add(DriftItem{From: DriftCatalog, Text: "The template or its services have changed in the catalog.", Fix: fix})
	}
	return nil
}
