package app

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
)

// amended is an amendment as it is worked out: the cluster as it stands, and as it will be.
type amended struct {
	*standing
	ask     Amendment
	catalog *Catalog // as it is now; what the cluster has is its own, see view
	// definition is what steps are carried out by afterwards, with the entries of the services on the cluster.
	definition Definition
	nodes      []AmendedNode   // in number order, new ones last
	named      map[string]bool // the nodes that were named
	last       int             // the greatest number that a node of the cluster ever had
	batch      int
	notes      []string
	planned    PlanRequest
	preview    AmendPreview
	facts      Facts
	decision   Decision
}

// kindsOfAmendment are what each kind makes of what stands. They fill in nodes, definition and notes.
var kindsOfAmendment = map[OperationKind]func(ctx context.Context, a *App, d *amended) error{
	OperationResize:         resize,
	OperationAddServices:    addServices,
	OperationRemoveServices: removeServices,
	OperationReconfigure:    reconfigure,
	OperationStart:          setRunning,
	OperationStop:           setRunning,
	OperationRestart:        setRunning,
	OperationUpgrade:        upgrade,
	OperationRepair:         repair,
	OperationCompare:        compare,
}

// workOut finds what an amendment does: which nodes, which work, in which order. Nothing is written.
func (a *App) workOut(ctx context.Context, c Cluster, m Amendment) (*amended, error) {
	ctx, cancel := context.WithTimeout(ctx, solveTime)
	defer cancel()
	if err := m.check(); err != nil {
		return nil, err
	}
	s, err := a.standing(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := s.allows(m.Kind); err != nil {
		return nil, err
	}
	if len(s.nodes) == 0 {
		return nil, &Error{Code: EConflict, Reason: "no_nodes", Message: fmt.Sprintf("Nothing of cluster %q stands.", c.Name), Hint: "Delete it, and ask for a new one."}
	}
	d := newAmended(s, m)
	published, err := a.catalogOf(ctx, c.Tenant)
	if err != nil {
		return nil, err
	}
	d.catalog = s.view(published)
	if d.last, err = a.Store.LastNode(ctx, c.Tenant, c.ID); err != nil {
		return nil, err
	}
	if err := s.was.CheckImmutable(m.override()); err != nil {
		return nil, err
	}
	if err := kindsOfAmendment[m.Kind](ctx, a, d); err != nil {
		return nil, err
	}
	if d.finishes() {
		if err := repair(ctx, a, d); err != nil {
			return nil, err
		}
		d.note("What the %s left undone is finished with the new configuration.", d.latest.Kind.Words())
	}
	left, err := a.common(ctx, d.Tenant, d.definition.Services, d.was.Services)
	if err != nil {
		return nil, err
	}
	d.notes = append(d.notes, left...)
	if err := a.pin(ctx, d.Tenant, d.definition.Services); err != nil { // of services that come; what stands keeps what it has
		return nil, err
	}
	if err := d.checkConfig(); err != nil {
		return nil, err
	}
	var template *Template
	if m.Kind == OperationUpgrade {
		template = published.Templates[d.Template]
	}
	if err := a.checkHost(published, c.Provider, d.definition.Services, d.was.Services, d.definition.Images, template, d.definition.Hooks); err != nil {
		return nil, err
	}
	if err := a.checkSecretsAfter(ctx, d); err != nil {
		return nil, err
	}
	d.reach()
	if d.anyNode(NodeNew, NodeReplaced) {
		if err := a.checkIsolation(ctx, published.Providers[c.Provider]); err != nil {
			return nil, err
		}
	}
	d.keepStopped()
	if err := d.checkMachines(ctx, a); err != nil {
		return nil, err
	}
	return d, a.planAmended(ctx, d)
}

// finishes tells whether the amendment is another configuration, with which what an operation left undone is brought to its end.
func (d *amended) finishes() bool {
	return d.ask.Kind == OperationReconfigure && d.Status == ClusterFailed
}

// kind is what is carried out. What finishes another operation is a repair, whatever it was asked as: it can't be rolled back.
func (d *amended) kind() OperationKind {
	if d.finishes() {
		return OperationRepair
	}
	return d.ask.Kind
}

// checkSecretsAfter refuses what needs secrets that the tenant does not have, those of the provider where machines are touched.
func (a *App) checkSecretsAfter(ctx context.Context, d *amended) error {
	provider := ""
	if d.anyNode(NodeNew, NodeReplaced, NodeGone) {
		provider = d.Provider
	}
	return a.checkSecretsOf(ctx, d.Tenant, ClusterRequest{LayoutRequest: LayoutRequest{Template: d.Template}}, draft{definition: d.definition}, provider)
}

// orNone gives a list that is there, since one that is not would be written as null.
func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

func newAmended(s *standing, m Amendment) *amended {
	d := &amended{standing: s, ask: m, definition: s.was, batch: m.Batch, named: map[string]bool{}}
	for _, name := range m.Nodes {
		d.named[name] = true
	}
	d.definition.Services, d.definition.Hardware, d.definition.Images = maps.Clone(s.was.Services), maps.Clone(s.was.Hardware), maps.Clone(s.was.Images)
	for _, n := range s.nodes {
		d.nodes = append(d.nodes, AmendedNode{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: orNone(n.Services)})
	}
	return d
}

// view is the catalog as the cluster sees it: the services that it has are those that it was made from, all else is as it
// is published now.
func (s *standing) view(c *Catalog) *Catalog {
	v := *c
	v.Services = maps.Clone(c.Services)
	if v.Services == nil {
		v.Services = map[string]*Service{}
	}
	maps.Copy(v.Services, s.was.Services)
	return &v
}

func (d *amended) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// work says what is done to a service on a node, unless more is done to it already.
func (n *AmendedNode) work(service string, w ServiceWork) {
	if n.Work == nil {
		n.Work = map[string]ServiceWork{}
	}
	if slices.Index(serviceWorks, n.Work[service]) < slices.Index(serviceWorks, w) {
		n.Work[service] = w
	}
}

// stays tells whether the node is there before and after, on the same machine.
func (n *AmendedNode) stays() bool { return n.Change == "" }

// after gives the nodes that there are afterwards.
func (d *amended) after() []AmendedNode {
	return slices.DeleteFunc(slices.Clone(d.nodes), func(n AmendedNode) bool { return n.Change == NodeGone })
}

// servicesAfter gives the services on the cluster afterwards, sorted.
func (d *amended) servicesAfter() []string {
	all := map[string]bool{}
	for _, n := range d.after() {
		for _, s := range n.Services {
			all[s] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// anyNode tells whether there is a node with such a change.
func (d *amended) anyNode(changes ...NodeChange) bool {
	return slices.ContainsFunc(d.nodes, func(n AmendedNode) bool { return slices.Contains(changes, n.Change) })
}

// checkMachines refuses what needs machines that nobody could make.
func (d *amended) checkMachines(ctx context.Context, a *App) error {
	if !d.anyNode(NodeNew, NodeReplaced, NodeGone) {
		return nil
	}
	spec := d.catalog.Providers[d.Provider]
	if spec == nil {
		return &Error{Code: EConflict, Reason: "missing_provider", Message: fmt.Sprintf("The provider %s of cluster %q is not in the catalog any more.", d.Provider, d.Name),
			Hint: "Ask an admin to put it back. What needs no machines can be done meanwhile."}
	}
	return a.checkProvisioner(ctx, d.Tenant, spec)
}

// planAmended has the work ordered, and says what comes of it.
func (a *App) planAmended(ctx context.Context, d *amended) (err error) {
	names := d.namesLeft()
	nothing := !names && !d.redefined() && !slices.ContainsFunc(d.nodes, AmendedNode.Touched)
	r := PlanRequest{Kind: d.kind(), Names: names, Services: maps.Clone(d.was.Services), Config: d.definition.Config, Batch: d.batch, Fallbacks: d.definition.FallbackHardware}
	if r.Services == nil {
		r.Services = map[string]*Service{}
	}
	maps.Copy(r.Services, d.definition.Services)
	for _, n := range d.nodes {
		for _, s := range n.Removed {
			if r.Services[s] == nil {
				r.Services[s] = d.all[s]
			}
		}
	}
	if r.Between = d.definition.Batches; r.Between == nil && d.ask.AskBetween {
		r.Between = &Person{Ask: AskBetweenBatches}
	}
	for _, n := range d.nodes {
		r.Nodes = append(r.Nodes, PlanNode{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: n.Services, Change: n.Change, Added: n.Added, Removed: n.Removed, Work: n.Work,
			Lost: d.lost(n.Name)})
	}
	if !nothing {
		if r.Hooks, err = a.scripts(ctx, d.Tenant, d.kind(), d.definition); err != nil {
			return err
		}
	}
	plan, err := a.plan(ctx, d.Tenant, d.Provider, r)
	if err != nil {
		return err
	}
	d.planned = r
	if words := batchWords(d.batch, d.batched()); words != "" {
		d.note("%s", words)
	}
	extra, _ := d.extra(plan)
	if words := fallbackWords(plan.Fallbacks, d.cost(), d.cost()+extra); words != "" {
		d.note("%s", words)
	}
	after := d.after()
	changes := changesOf(d.was, d.definition)
	if len(changes) > mostChanges {
		d.note("%d more values change.", len(changes)-mostChanges)
		changes = changes[:mostChanges]
	}
	d.preview = AmendPreview{
		Kind: d.kind(), Nodes: d.nodes, Plan: plan, PlanHash: plan.Hash(), Duration: plan.Duration(), Changes: changes,
		Before: ClusterFigures{Nodes: len(d.standing.nodes), CostPerHour: d.CostPerHour}, After: ClusterFigures{Nodes: len(after), CostPerHour: d.cost()},
		Nothing: nothing,
	}
	if d.ask.Kind == OperationUpgrade && !d.preview.Nothing {
		d.preview.Template = d.Template
	}
	if d.preview.Nothing && (len(d.notes) == 0 || d.ask.Kind == OperationUpgrade) {
		d.note("The cluster is so already.")
	}
	d.preview.Notes = append([]string{}, d.notes...)
	return nil
}

// lost tells whether the machine of a node is gone, so that nothing can be done on it.
func (d *amended) lost(name string) bool {
	n := d.node(name)
	return n != nil && n.Lost()
}

// redefined tells whether the cluster is defined otherwise afterwards. What is only kept for later upgrades does not count.
func (d *amended) redefined() bool {
	was, is := d.was, d.definition
	was.Overrides, is.Overrides = nil, nil
	was.Parameters, is.Parameters = nil, nil
	return !writtenAlike(was, is)
}

// cost is what the cluster costs afterwards. What stands is priced as it was when it was made.
func (d *amended) cost() float64 {
	cost := d.CostPerHour
	for _, n := range d.nodes {
		switch n.Change {
		case NodeGone:
			if d.node(n.Name) == nil {
				continue // it counts no more since it began to be given back
			}
			cost -= d.was.Hardware[n.Hardware].CostPerHour
		case NodeNew:
			cost += d.definition.Hardware[n.Hardware].CostPerHour
		}
	}
	return max(0, math.Round(cost*1e9)/1e9)
}

// cpu counts the virtual cores afterwards; nodes of unknown size count as none.
func (d *amended) cpu() (n float64) {
	for _, node := range d.after() {
		n += d.definition.Hardware[node.Hardware].CPU
	}
	return n
}

// extra is by how much more per hour, and by how many cores, the cluster grows where its new machines have to be of the dearest and of the
// largest other hardware that they may be of.
func (d *amended) extra(p Plan) (cost, cpu float64) {
	for _, n := range d.nodes {
		if n.Change == NodeNew {
			is, most := d.definition.Hardware[n.Hardware], d.definition.highest(n.Hardware, p.Fallbacks)
			cost, cpu = cost+most.CostPerHour-is.CostPerHour, cpu+most.CPU-is.CPU
		}
	}
	return cost, cpu
}

// amendOffer is the offer for the new nodes of a cluster that stands.
func (a *App) amendOffer(ctx context.Context, d *amended) (*PoolOffer, error) {
	var nodes []NewNode
	for _, n := range d.nodes {
		if n.Change == NodeNew {
			nodes = append(nodes, NewNode{Node: Node{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone}})
		}
	}
	return a.poolOffer(ctx, d.Tenant, PoolWants(d.Provider, nodes, d.definition), d.preview.Plan)
}

// foreseeAmend does the same for the machines that an amendment adds.
func (a *App) foreseeAmend(ctx context.Context, tenant string, d *amended) (err error) {
	p := &d.preview
	needs := AccountNeeds{Each: len(d.definition.FallbackHardware) > 0}
	for _, n := range p.Nodes {
		if n.Change != NodeNew {
			continue
		}
		need := MachineNeed{Count: 1, Flavor: d.definition.Hardware[n.Hardware], Image: d.definition.Images[n.Image], Zone: n.Zone}
		at := slices.IndexFunc(needs.Machines, func(m MachineNeed) bool {
			return m.Flavor.Flavor == need.Flavor.Flavor && m.Image.Image == need.Image.Image && m.Zone == need.Zone
		})
		switch {
		case at < 0:
			needs.Machines = append(needs.Machines, need)
		case !needs.Each:
			needs.Machines[at].Count++
		}
	}
	if len(needs.Machines) == 0 || p.FromPools != nil && p.FromPools.Machines >= p.FromPools.Of {
		return nil
	}
	p.Account, p.Problems, err = a.askAccount(ctx, tenant, d.Provider, needs)
	return err
}
