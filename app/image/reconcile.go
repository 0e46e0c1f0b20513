package image

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/bake"
	"muster/app/catalog"
	"muster/app/cluster"
	appplan "muster/app/plan"
	"muster/app/policy"
	"muster/app/template"
)

// BuildStore is what a reconciler needs of the database.
type BuildStore interface {
	// WaitingImages returns the next image of each account that none is built in.
	WaitingImages(ctx context.Context, limit int) ([]Image, error)
	// BuildImage accepts the cluster that an image is built in; false, and nothing happens, where another server was faster.
	BuildImage(ctx context.Context, id int64, n cluster.NewCluster) (bool, error)
	// FailImage notes why one that waits can't be built.
	FailImage(ctx context.Context, i Image, why string, now time.Time) error
	// EndBuilds notes those images as failed whose clusters have failed, and has their machines deleted; and has unused images deleted.
	EndBuilds(ctx context.Context, now time.Time) error
	// DueRules returns the rules that ask for images by now, each with the newest cluster of its template.
	DueRules(ctx context.Context, now time.Time) ([]DueRule, error)
	// RuleApplied has a rule left alone until there is another cluster.
	RuleApplied(ctx context.Context, r DueRule) error
	AddImages(ctx context.Context, who app.Actor, list []Image, now time.Time) ([]Image, error)
	NextClusterNumber(ctx context.Context) (int64, error)
	Definition(ctx context.Context, tenant, cluster string) (cluster.Definition, error)
	Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error)
}

// DueRule is a rule whose template was used often enough.
type DueRule struct {
	Rule
	Cluster  string
	Provider string
}

// ReconcilerConfig is what Reconciler is created from.
type ReconcilerConfig struct {
	Store    BuildStore
	Now      func() time.Time
	Finder   *Finder
	Catalogs *catalog.Service
	Plans    *cluster.Plans
	Keys     app.Keys
}

// Reconciler has images built and deleted.
type Reconciler struct{ ReconcilerConfig }

// NewReconciler returns one on top of what c holds.
func NewReconciler(c ReconcilerConfig) *Reconciler { return &Reconciler{ReconcilerConfig: c} }

// Baker is who acts by a rule.
const Baker = "bake rule"

const buildsAtOnce = 20

// ReconcileImages does what is due about images, of all tenants. Several servers may call it at the same time.
func (a *Reconciler) ReconcileImages(ctx context.Context) error {
	now := a.Now()
	errs := []error{a.Store.EndBuilds(ctx, now), a.applyRules(ctx, now)}
	waiting, err := a.Store.WaitingImages(ctx, buildsAtOnce)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, i := range waiting {
		if err := a.build(ctx, i, now); err != nil {
			errs = append(errs, fmt.Errorf("image %d of %s: %w", i.ID, i.Tenant, err))
		}
	}
	return errors.Join(errs...)
}

// applyRules adds the images that rules ask for: those that the newest cluster of a template could have started from.
func (a *Reconciler) applyRules(ctx context.Context, now time.Time) error {
	due, err := a.Store.DueRules(ctx, now)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range due {
		err := a.applyRule(ctx, r, now)
		if err == nil {
			err = a.Store.RuleApplied(ctx, r)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("bake rule of template %s of %s: %w", r.Template, r.Tenant, err))
		}
	}
	return errors.Join(errs...)
}

func (a *Reconciler) applyRule(ctx context.Context, r DueRule, now time.Time) error {
	c, err := a.Catalogs.CatalogOf(ctx, r.Tenant)
	if err != nil {
		return err
	}
	spec := c.Providers[r.Provider]
	if spec == nil || spec.NeedsOwn() || !a.Finder.Bakes(spec.Type) {
		return nil
	}
	d, err := a.Store.Definition(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return err
	}
	nodes, err := a.Store.Nodes(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return err
	}
	var list []appplan.Node
	for _, n := range nodes {
		list = append(list, appplan.Node{Name: n.Name, Zone: n.Zone, Hardware: n.Hardware, Image: n.Image, Services: n.Services})
	}
	images := a.Finder.recipes(r.Tenant, r.Template, r.Provider, a.Finder.groups(r.Tenant, spec, list, d, d.Hooks), d)
	for i := range images {
		images[i].CreatedBy, images[i].Keep = Baker, r.KeepUnused
	}
	if len(images) == 0 {
		return nil
	}
	_, err = a.Store.AddImages(ctx, app.System(r.Tenant, Baker), images, now)
	return err
}

// build begins with the cluster that an image is built in. What can't be built is noted; what fails for now is tried again.
func (a *Reconciler) build(ctx context.Context, i Image, now time.Time) error {
	n, err := a.clusterOf(ctx, i, now)
	if err == nil {
		_, err = a.Store.BuildImage(ctx, i.ID, n)
	}
	switch app.CodeOf(err) {
	case "":
		return nil
	case app.EInternal, app.ETransient, app.ETimeout, app.ECancelled:
		return err
	}
	return a.Store.FailImage(ctx, i, app.AsError(err).ForPeople(), now)
}

// clusterOf makes up the one-node cluster on whose machine an image is built. It is deleted when its time is over: as soon as the image is ready, or
// has failed.
func (a *Reconciler) clusterOf(ctx context.Context, i Image, now time.Time) (n cluster.NewCluster, err error) {
	c, revision, err := a.Catalogs.CatalogAt(ctx, i.Tenant, 0)
	if err != nil {
		return n, err
	}
	if c.Providers[i.Provider] == nil {
		return n, app.Errorf(app.EInvalid, "Provider %s is no longer in the catalog.", i.Provider)
	}
	if err := a.startBaked(ctx, &i, c.Providers[i.Provider]); err != nil {
		return n, err
	}
	number, err := a.Store.NextClusterNumber(ctx)
	if err != nil {
		return n, err
	}
	node, d := i.Recipe.Node, i.Recipe.Definition
	owner := "image:" + i.Template
	id := app.ClusterID("bake-"+i.Template, number)
	flavor := d.Hardware[node.Hardware]
	of := app.Cluster{ID: id, Tenant: i.Tenant, Name: id, Owner: owner, Template: owner, Provider: i.Provider, Size: 1, Services: node.Services,
		Status:      app.ClusterPending,
		CostPerHour: flavor.CostPerHour, DNSSuffix: app.DefaultDNSSuffix, CreatedAt: now, ExpiresAt: now.Add(buildTime),
		Description: "Builds a baked image of template " + i.Template + ", then is deleted."}
	is := app.Node{Cluster: id, Name: node.Name, Hardware: node.Hardware, Image: node.Image, Zone: node.Zone, Services: node.Services, Status: app.NodePlanned,
		SSHUser: cmp.Or(d.Images[node.Image].SSHUser, "root"), Hostname: app.Hostname(id, node.Name, app.DefaultDNSSuffix)}
	plan, err := a.Plans.Plan(ctx, i.Tenant, i.Provider, appplan.Request{Kind: app.OperationCreate, Nodes: []appplan.Node{node}, Services: d.Services,
		Config: d.Config})
	if err != nil {
		return n, err
	}
	if d.Services == nil {
		d.Services = map[string]*template.Service{}
	}
	n = cluster.NewCluster{Cluster: of, Definition: d, TenantCatalog: revision, Nodes: []app.NewNode{{Node: is, Intent: strings.ToLower(rand.Text())}},
		Operation: cluster.NewOperation{Operation: app.Operation{Tenant: i.Tenant, Cluster: id, Kind: app.OperationCreate, PlanHash: plan.Hash(),
			Requester: owner, CreatedAt: now,
			Expected: plan.Duration()}, Plan: plan}}
	if n.PrivateKey, n.PublicKey, err = a.Keys.NewKey("muster " + id); err != nil {
		return n, fmt.Errorf("key of %s: %w", id, err)
	}
	n.Reservation = policy.ReservationOf(of, n.Nodes, d.Hardware, nil)
	return n, cluster.GiveHostKeys(a.Keys, n.Nodes)
}

// startBaked has the machine of a build start from the longest shorter layer that exists, as machines of creates do.
func (a *Reconciler) startBaked(ctx context.Context, i *Image, p *template.ProviderSpec) error {
	r := &i.Recipe
	use, _, err := a.Finder.ForCreate(ctx, i.Tenant, i.Template, p, []appplan.Node{r.Node}, r.Definition, nil)
	from := use.Of(r.Node.Name)
	if err != nil || from == nil {
		return err
	}
	layer := r.Layer
	layer.From, r.Node.Baked, r.Definition.Baked = from, from.Services, &bake.Use{}
	r.Definition.Baked.Add(r.Node.Name, layer)
	return nil
}
