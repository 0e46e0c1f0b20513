package operation

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"muster/app"
	"muster/app/bake"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	appplan "muster/app/plan"
	"muster/app/policy"
	"muster/app/providervalue"
	"muster/app/quarantine"
	"muster/app/resource"
	apptemplate "muster/app/template"
	"muster/app/volume"
	"muster/app/window"
)

// BuilderStore is what Builder needs of the database.
type BuilderStore interface {
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	LastNode(ctx context.Context, tenant string, cluster string) (int, error)
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	Volumes(ctx context.Context, tenant string, f volume.Filter) ([]volume.Volume, error)
	KeptMachines(ctx context.Context, tenant string, reader *app.ClusterReader, from string, limit int) ([]quarantine.Machine, error)
	ChooseVolumes(ctx context.Context, who app.Actor, cluster string, c apptemplate.VolumeChoice, now time.Time) error
}

// BuilderConfig is what Builder is created from. Only what says so may be nil.
type BuilderConfig struct {
	Store   BuilderStore
	Changer layout.Changer // nil: no cluster can be updated
	// DryRuns reports whether an automator can say what it would change; nil: none can.
	DryRuns func(automator string) bool
	// Sleeps reports whether machines of a type of provider can be stopped and kept; nil: not known, the steps will tell.
	Sleeps    func(kind string) bool
	Volumes   volume.Kinds
	Resources *resource.Service
	Catalogs  *catalog.Service
	Plans     *cluster.Plans
	Preflight *cluster.Preflight
	Views     *cluster.Views
	Keeping   *quarantine.Drafts
	// Images finds the baked images that new machines start from, and OwnAccount reports whether a cluster's machines are in an account that is its
	// user's, where there are none. nil: there are none anywhere.
	Images     cluster.Images
	OwnAccount func(ctx context.Context, tenant, cluster string) (bool, error)
}

// Builder works out what a change of a cluster does: which nodes, which work, in which order. It writes nothing.
type Builder struct {
	BuilderConfig
}

// NewBuilder returns Builder on top of their needs.
func NewBuilder(c BuilderConfig) *Builder { return &Builder{BuilderConfig: c} }

// updateBuilder is an update as it is worked out: the cluster as it is, and as it will be.
type updateBuilder struct {
	*standing
	ask     cluster.Update
	catalog *apptemplate.Catalog // as it is now; what the cluster has is its own, see view
	// definition is what steps are carried out by afterwards, with the entries of the services on the cluster.
	definition cluster.Definition
	nodes      updatedNodes
	named      map[string]bool // the nodes that were named
	last       int             // the greatest number that a node of the cluster ever had
	batch      int
	notes      []string
	planned    appplan.Request
	volumeCost float64              // per hour, of volumes that will be created
	volumes    []volume.Planned     // of the nodes that stay or are new
	chosen     *bake.Use            // the images that were chosen when it was shown, where it's worked out again
	again      bool                 // it was shown, and waited
	kept       quarantine.Selection // the failed machines that are kept
	reused     *reused              // the kept machine that is used again; nil: none
	run        *appplan.Run         // the command that is run; nil: none
	approval   bool                 // the template wants each run of its action to be approved
	preview    cluster.UpdatePreview
	facts      policy.Input
	decision   policy.Decision
	window     window.Wait
}

// kindsOfUpdate are what each kind does to the existing cluster. They fill in nodes, definition and notes.
var kindsOfUpdate = map[app.OperationKind]func(ctx context.Context, a *Builder, d *updateBuilder) error{
	app.OperationResize:         resize,
	app.OperationAddServices:    addServices,
	app.OperationRemoveServices: removeServices,
	app.OperationReconfigure:    reconfigure,
	app.OperationStart:          setRunning,
	app.OperationStop:           setRunning,
	app.OperationRestart:        setRunning,
	app.OperationUpgrade:        upgrade,
	app.OperationRepair:         repair,
	app.OperationCompare:        compare,
	app.OperationRun:            runCommand,
}

// workOut finds what an update does: which nodes, which work, in which order. Nothing is written.
func (a *Builder) workOut(ctx context.Context, c app.Cluster, m cluster.Update) (*updateBuilder, error) {
	return a.workOutFrom(ctx, c, m, nil)
}

// workOutFrom is workOut where it was worked out before: the images are those that were chosen then.
func (a *Builder) workOutFrom(ctx context.Context, c app.Cluster, m cluster.Update, before *cluster.Definition) (*updateBuilder, error) {
	ctx, cancel := context.WithTimeout(ctx, layout.SolveTime)
	defer cancel()
	if err := m.Check(); err != nil {
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
		return nil, &app.Error{Code: app.EConflict, Reason: "no_nodes", Message: fmt.Sprintf("Cluster %q has no nodes.", c.Name), Hint: "Delete the cluster and create a new one."}
	}
	d := newUpdateBuilder(s, m)
	if before != nil {
		d.chosen, d.again = before.Baked, true
	}
	published, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return nil, err
	}
	d.catalog = s.view(published)
	if d.last, err = a.Store.LastNode(ctx, c.Tenant, c.ID); err != nil {
		return nil, err
	}
	if err := s.was.CheckImmutable(m.Override()); err != nil {
		return nil, err
	}
	if err := kindsOfUpdate[m.Kind](ctx, a, d); err != nil {
		return nil, err
	}
	if d.ask.Kind == app.OperationResize && d.ask.KeepFailed != "" {
		d.definition.KeepFailed = d.ask.KeepFailed.Kept() // what follows where it fails goes by that
	}
	if d.finishes() {
		if err := repair(ctx, a, d); err != nil {
			return nil, err
		}
		d.note("Finishes the remaining steps of %s with the new configuration.", d.latest.Kind.The())
	}
	left, err := a.Resources.Common(ctx, d.Tenant, d.definition.Services, d.was.Services)
	if err != nil {
		return nil, err
	}
	d.notes = append(d.notes, left...)
	if err := a.Resources.Pin(ctx, d.Tenant, d.definition.Services); err != nil { // of services that come; existing ones keep what they have
		return nil, err
	}
	if err := d.checkConfig(); err != nil {
		return nil, err
	}
	var template *apptemplate.Template
	if m.Kind == app.OperationUpgrade {
		template = published.Templates[d.Template]
	}
	if err := a.Catalogs.CheckHost(published, c.Provider, d.definition.Services, d.was.Services, d.definition.Images, template, d.definition.Hooks); err != nil {
		return nil, err
	}
	if err := a.checkSecretsAfter(ctx, d); err != nil {
		return nil, err
	}
	d.reach()
	if d.nodes.anyOf(appplan.NodeNew, appplan.NodeReplaced) {
		if err := a.Catalogs.CheckIsolation(ctx, published.Providers[c.Provider]); err != nil {
			return nil, err
		}
	}
	d.keepStopped()
	if err := d.checkMachines(ctx, a); err != nil {
		return nil, err
	}
	return d, a.planUpdated(ctx, d)
}

// finishes reports whether the update is another configuration, with which what an operation left undone is brought to its end.
func (d *updateBuilder) finishes() bool {
	return d.ask.Kind == app.OperationReconfigure && d.Status == app.ClusterFailed
}

// kind is what is carried out. What finishes another operation is a repair, whatever it was asked as: it can't be rolled back.
func (d *updateBuilder) kind() app.OperationKind {
	if d.finishes() {
		return app.OperationRepair
	}
	return d.ask.Kind
}

// checkSecretsAfter refuses what needs secrets that the tenant does not have, those of the provider where machines are touched.
func (a *Builder) checkSecretsAfter(ctx context.Context, d *updateBuilder) error {
	provider := ""
	if d.nodes.anyOf(appplan.NodeNew, appplan.NodeReplaced, appplan.NodeGone) {
		provider = d.Provider
	}
	return a.Preflight.CheckSecretsOf(ctx, d.Tenant, cluster.CreateRequest{Request: layout.Request{Template: d.Template}}, cluster.Draft{Definition: d.definition}, provider)
}

// orNone returns a list that is there, since one that is not would be written as null.
func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

func newUpdateBuilder(s *standing, m cluster.Update) *updateBuilder {
	d := &updateBuilder{standing: s, ask: m, definition: s.was, batch: m.Batch, named: map[string]bool{}}
	d.definition.Baked = nil // those of machines that exist aren't needed any more
	for _, name := range m.Nodes {
		d.named[name] = true
	}
	d.definition.Services, d.definition.Hardware, d.definition.Images = maps.Clone(s.was.Services), maps.Clone(s.was.Hardware), maps.Clone(s.was.Images)
	for _, n := range s.nodes {
		d.nodes = append(d.nodes, cluster.UpdatedNode{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: orNone(n.Services)})
	}
	return d
}

// view is the catalog as the cluster sees it: the services that it has are those that it was made from, all else is as it
// is published now.
func (s *standing) view(c *apptemplate.Catalog) *apptemplate.Catalog {
	v := *c
	v.Services = maps.Clone(c.Services)
	if v.Services == nil {
		v.Services = map[string]*apptemplate.Service{}
	}
	maps.Copy(v.Services, s.was.Services)
	return &v
}

func (d *updateBuilder) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// checkMachines refuses what needs machines that no one could make.
func (d *updateBuilder) checkMachines(ctx context.Context, a *Builder) error {
	if !d.nodes.anyOf(appplan.NodeNew, appplan.NodeReplaced, appplan.NodeGone) {
		return nil
	}
	spec := d.catalog.Providers[d.Provider]
	if spec == nil {
		return &app.Error{Code: app.EConflict, Reason: "missing_provider", Message: fmt.Sprintf("Provider %s of cluster %q is no longer in the catalog.", d.Provider, d.Name),
			Hint: "Ask an admin to restore it. Changes that need no machines still work."}
	}
	return a.Preflight.CheckProvisioner(ctx, d.Tenant, spec)
}

// planUpdated has the work ordered, and says what comes of it.
func (a *Builder) planUpdated(ctx context.Context, d *updateBuilder) (err error) {
	names := d.namesLeft()
	nothing := !names && !d.redefined() && !slices.ContainsFunc(d.nodes, cluster.UpdatedNode.Touched)
	r := appplan.Request{Kind: d.kind(), Names: names, Services: maps.Clone(d.was.Services), Config: d.definition.Config, Batch: d.batch, Fallbacks: d.definition.FallbackHardware}
	if r.Services == nil {
		r.Services = map[string]*apptemplate.Service{}
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
		r.Between = &apptemplate.Person{Ask: apptemplate.AskBetweenBatches}
	}
	for _, n := range d.nodes {
		r.Nodes = append(r.Nodes, appplan.Node{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: n.Services, Change: n.Change, Added: n.Added, Removed: n.Removed, Work: n.Work,
			Lost: d.lost(n.Name), Drained: n.Change == appplan.NodeReplaced && d.interrupted(n.Name)})
	}
	if slices.ContainsFunc(d.nodes, cluster.UpdatedNode.Touched) {
		if err := a.checkVolumes(ctx, d, r.Nodes); err != nil {
			return err
		}
		if err := checkReused(d); err != nil {
			return err
		}
	}
	planRun(d, &r)
	if !nothing {
		if r.Hooks, err = a.Plans.Scripts(ctx, d.Tenant, d.kind(), d.definition); err != nil {
			return err
		}
	}
	left, err := a.startBaked(ctx, d, r.Nodes)
	if err != nil {
		return err
	}
	plan, err := a.Plans.Plan(ctx, d.Tenant, d.Provider, r)
	if err != nil {
		return err
	}
	for _, words := range cluster.BakedNotes(plan, left) {
		d.note("%s", words)
	}
	d.planned = r
	if err := a.keepReplaced(ctx, d); err != nil {
		return err
	}
	plan.Keeps = d.kept.Nodes()
	if words := batchWords(d.batch, d.nodes.batched()); words != "" {
		d.note("%s", words)
	}
	extra, _ := d.extra(plan)
	if words := apptemplate.FallbackWords(plan.Fallbacks, d.cost(), d.cost()+extra, d.Currency); words != "" {
		d.note("%s", words)
	}
	after := d.nodes.after()
	changes := append(runChanges(d), cluster.ChangesOf(d.was, d.definition)...)
	if len(changes) > cluster.MostValueChanges {
		d.note("%d more values change.", len(changes)-cluster.MostValueChanges)
		changes = changes[:cluster.MostValueChanges]
	}
	d.preview = cluster.UpdatePreview{
		Kind: d.kind(), Nodes: d.nodes, Plan: plan, PlanHash: plan.Hash(), Duration: plan.Duration(), Changes: changes,
		Before: cluster.Figures{Nodes: len(d.standing.nodes), CostPerHour: d.CostPerHour, Currency: d.Currency}, After: cluster.Figures{Nodes: len(after), CostPerHour: d.cost(), Currency: d.Currency},
		NoChanges: nothing,
	}
	if d.ask.Kind == app.OperationUpgrade && !d.preview.NoChanges {
		d.preview.Template = d.Template
	}
	if d.preview.NoChanges && (len(d.notes) == 0 || d.ask.Kind == app.OperationUpgrade) {
		d.note("Nothing to change.")
	}
	d.preview.Notes = append([]string{}, d.notes...)
	return nil
}

// lost reports whether the machine of a node is gone, so that nothing can be done on it.
func (d *updateBuilder) lost(name string) bool {
	n := d.node(name)
	return n != nil && n.Lost()
}

// interrupted reports whether the machine of a node runs, and is taken away by its provider.
func (d *updateBuilder) interrupted(name string) bool {
	n := d.node(name)
	return n != nil && n.Interrupted()
}

// redefined reports whether the cluster is defined otherwise afterwards. What is only kept for later upgrades does not count.
func (d *updateBuilder) redefined() bool {
	was, is := d.was, d.definition
	was.Overrides, is.Overrides = nil, nil
	was.Parameters, is.Parameters = nil, nil
	return !apptemplate.WrittenAlike(was, is)
}

// cost is what the cluster costs afterwards. Existing nodes keep their price.
func (d *updateBuilder) cost() float64 {
	cost := d.CostPerHour
	for _, n := range d.nodes {
		switch n.Change {
		case appplan.NodeGone:
			if d.node(n.Name) == nil {
				continue // it counts no more since it began to be given back
			}
			cost -= d.was.Hardware[n.Hardware].CostPerHour
		case appplan.NodeNew:
			cost += d.definition.Hardware[n.Hardware].CostPerHour
		}
	}
	return max(0, math.Round(cost*1e9)/1e9)
}

// cpu counts the virtual cores afterwards; nodes of unknown size count as none.
func (d *updateBuilder) cpu() (n float64) {
	for _, node := range d.nodes.after() {
		n += d.definition.Hardware[node.Hardware].CPU
	}
	return n
}

// extra is by how much more per hour, and by how many cores, the cluster grows where its new machines have to be of the dearest and of the
// largest other hardware that they may be of.
func (d *updateBuilder) extra(p appplan.Plan) (cost, cpu float64) {
	for _, n := range d.nodes {
		if n.Change == appplan.NodeNew {
			is, most := d.definition.Hardware[n.Hardware], d.definition.Highest(n.Hardware, p.Fallbacks)
			cost, cpu = cost+most.CostPerHour-is.CostPerHour, cpu+most.CPU-is.CPU
		}
	}
	return cost, cpu
}

// updateOffer is the offer for the new nodes of an existing cluster.
func (a *Updates) updateOffer(ctx context.Context, d *updateBuilder) (*cluster.PoolMatch, error) {
	var nodes []app.NewNode
	for _, n := range d.nodes {
		if n.Change == appplan.NodeNew {
			nodes = append(nodes, app.NewNode{Node: app.Node{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone},
				NoPool: noPool(d, n.Name)})
		}
	}
	return a.Plans.PoolMatch(ctx, d.Tenant, cluster.PoolWants(d.Provider, nodes, d.definition), d.preview.Plan)
}

// foreseeUpdate does the same for the machines that an update adds.
func (a *Updates) foreseeUpdate(ctx context.Context, tenant string, d *updateBuilder) (err error) {
	p := &d.preview
	needs := family.AccountNeeds{Each: len(d.definition.FallbackHardware) > 0}
	for _, n := range p.Nodes {
		if n.Change != appplan.NodeNew || d.reused != nil { // the machine exists
			continue
		}
		need := family.MachineNeed{Count: 1, Flavor: d.definition.Hardware[n.Hardware], Image: d.definition.Images[n.Image], Zone: n.Zone}
		at := slices.IndexFunc(needs.Machines, func(m family.MachineNeed) bool {
			return m.Flavor.Flavor == need.Flavor.Flavor && m.Image.Image == need.Image.Image && m.Zone == need.Zone
		})
		switch {
		case at < 0:
			needs.Machines = append(needs.Machines, need)
		case !needs.Each:
			needs.Machines[at].Count++
		}
	}
	if len(needs.Machines) == 0 || p.FromPools != nil && p.FromPools.Machines >= p.FromPools.Total {
		return nil
	}
	p.Account, p.Problems, err = a.Preflight.AskAccount(ctx, tenant, d.Provider, providervalue.Own{Cluster: d.ID}, needs)
	return err
}
