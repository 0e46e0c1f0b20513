package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Drift is where a cluster is not what it should be: as the catalog, the cloud, what services may assume of nodes, and the services
// themselves say.
type Drift struct {
	Cluster string      `json:"cluster"`
	At      time.Time   `json:"at"`
	Items   []DriftItem `json:"items" nullable:"false"` // none: it is as it should be, as far as is known
	// Comparable tells whether what sets up some of its services can say what it would change: `muster cluster compare`.
	Comparable bool `json:"comparable"`
	// Notes say what could not be looked at, and why.
	Notes []string `json:"notes" nullable:"false"`
}

// DriftFrom says from what a cluster has drifted.
type DriftFrom string

// What a cluster can drift from.
const (
	DriftCatalog DriftFrom = "catalog" // its template or a service is another one by now
	DriftCloud   DriftFrom = "cloud"   // machines are gone, or do not run
	DriftNode    DriftFrom = "node"    // a node is not what services may assume
	DriftService DriftFrom = "service" // what sets a service up would change something, as it said when it was last compared
	DriftHealth  DriftFrom = "health"  // a node is sick or unreachable
)

// DriftItem is one such thing, with the amendment that would mend it; nil where none is known.
type DriftItem struct {
	From DriftFrom  `json:"from"`
	Node string     `json:"node,omitempty"`
	Text string     `json:"text"`
	Hint string     `json:"hint,omitempty"`
	Mend *Amendment `json:"mend,omitempty"`
}

// mostDrift is how many things of one kind are told by themselves.
const mostDrift = 50

// DriftUnwatched is the note of a cluster whose health nobody looks at.
const DriftUnwatched = "No health checks configured, so the state of the nodes isn't known."

// Drift compares a cluster with what it should be. Nothing is asked of the cloud or of nodes for it: it tells what is
// known; what tools would change, an operation of the kind compare has found.
func (a *App) Drift(ctx context.Context, actor Actor, cluster string) (Drift, error) {
	c, err := a.look(ctx, actor, "Drift", cluster)
	if err != nil {
		return Drift{}, err
	}
	if err := actor.mayChange("Drift", c); err != nil {
		return Drift{}, err
	}
	if c.Status == ClusterDeleted {
		return Drift{}, Errorf(EConflict, "Cluster %q is gone.", c.Name)
	}
	d := Drift{Cluster: c.ID, At: a.Now(), Items: []DriftItem{}, Notes: []string{}}
	nodes, err := a.Store.Nodes(ctx, actor.Tenant, c.ID)
	if err != nil {
		return Drift{}, err
	}
	d.cloud(c, nodes)
	health, err := a.clusterHealth(ctx, c, nodes)
	if err != nil {
		return Drift{}, err
	}
	d.health(c, health, lostNodes(c, nodes))
	reports, err := a.Store.NodeReports(ctx, actor.Tenant, c.ID, "", maxNodeReports)
	if err != nil {
		return Drift{}, err
	}
	d.contract(reports)
	changes, err := a.Store.ServiceChanges(ctx, actor.Tenant, c.ID, maxNodeReports)
	if err != nil {
		return Drift{}, err
	}
	d.services(changes)
	definition, err := a.Store.Definition(ctx, actor.Tenant, c.ID)
	if err != nil {
		return Drift{}, err
	}
	for _, s := range definition.Services {
		d.Comparable = d.Comparable || a.compared(s) != ""
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
		d.Notes = append(d.Notes, fmt.Sprintf("There is more of this kind (%s) than is told.", i.From))
	}
}

func repairOf(node string) *Amendment {
	return &Amendment{Kind: OperationRepair, Nodes: []string{node}}
}

// cloud tells of machines that the reconciler has found to be lost.
func (d *Drift) cloud(c Cluster, nodes []Node) {
	for _, name := range lostNodes(c, nodes) {
		d.add(DriftItem{From: DriftCloud, Node: name, Text: name + ": its machine is gone from the provider, or does not run.",
			Hint: "The cluster becomes active again when all machines run.", Mend: repairOf(name)})
	}
}

// lostNodes gives the nodes whose machines a cluster is said to have lost.
func lostNodes(c Cluster, nodes []Node) (lost []string) {
	for _, n := range nodes {
		if n.Lost() {
			lost = append(lost, n.Name)
		}
	}
	list, is := strings.CutPrefix(c.Message, lostMachines)
	if len(lost) > 0 || !is || c.Status != ClusterFailed {
		return lost
	}
	list, _, _ = strings.Cut(list, ".")
	for _, name := range strings.Split(list, ", ") {
		if slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == name }) {
			lost = append(lost, name)
		}
	}
	return lost
}

// health tells what health checks have found, as long as that is known to be so; of lost machines cloud tells.
func (d *Drift) health(c Cluster, h *ClusterHealth, lost []string) {
	if h == nil {
		d.Notes = append(d.Notes, DriftUnwatched)
		return
	}
	if why := h.stale(c, len(lost) > 0, h.Healthy+h.Sick+h.Unreachable+h.Unknown, d.At); why != "" {
		d.Notes = append(d.Notes, why)
	}
	for _, n := range h.Nodes {
		if n.Ill() && !slices.Contains(lost, n.Node) {
			d.add(DriftItem{From: DriftHealth, Node: n.Node, Text: n.Words() + ".", Mend: repairOf(n.Node)})
		}
	}
}

// contract tells what a bootstrap found to be wrong with nodes.
func (d *Drift) contract(reports []NodeReport) {
	for _, r := range reports {
		for _, c := range r.Checks {
			if c.OK {
				continue
			}
			i := DriftItem{From: DriftNode, Node: r.Node, Text: r.Node + ": " + c.String() + ".", Hint: c.Hint}
			if c.Level == NodeRequired {
				i.Mend = repairOf(r.Node)
			}
			d.add(i)
		}
	}
}

// driftFromCatalog tells what an upgrade would change.
func (a *App) driftFromCatalog(ctx context.Context, actor Actor, c Cluster, d *Drift) error {
	mend := &Amendment{Kind: OperationUpgrade}
	p, err := a.PreviewAmend(ctx, actor, c.ID, *mend)
	switch CodeOf(err) {
	case "":
	case EInternal, ETransient, ETimeout, ERateLimit:
		return err
	default:
		d.Notes = append(d.Notes, "It could not be compared with the catalog: "+AsError(err).ForPeople())
		return nil
	}
	if p.Nothing {
		return nil
	}
	for _, change := range p.Changes {
		d.add(DriftItem{From: DriftCatalog, Text: change.words(), Mend: mend})
	}
	if len(p.Changes) == 0 {
		d.add(DriftItem{From: DriftCatalog, Text: "The catalog has another state of its template or services.", Mend: mend})
	}
	return nil
}

func (v ValueChange) words() string {
	switch {
	case v.Before == "" && v.After == "":
		return v.Path + " is another one in the catalog."
	case v.Before == "":
		return fmt.Sprintf("%s is new in the catalog: %s.", v.Path, CutText(v.After, 80))
	case v.After == "":
		return fmt.Sprintf("%s is not in the catalog any more; it was %s.", v.Path, CutText(v.Before, 80))
	}
	return fmt.Sprintf("%s is %s, and %s in the catalog.", v.Path, CutText(v.Before, 80), CutText(v.After, 80))
}
