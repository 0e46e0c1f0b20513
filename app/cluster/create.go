package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/policy"
	"muster/app/providervalue"
	"muster/app/resource"
	"muster/app/template"
	"muster/app/volume"
)

// CreateStore is what Creates needs of the database.
type CreateStore interface {
	// CreateCluster writes the cluster, its nodes, their intents, the operation with its plan, and an audit row.
	// EConflict where a live cluster of the tenant has the name. Where n.Request is set, it is kept too, and gets its number.
	CreateCluster(ctx context.Context, n NewCluster) (app.Operation, error)
	SaveRequest(ctx context.Context, n NewRequest) (Request, error)
	// NextClusterNumber returns a number that no cluster has had.
	NextClusterNumber(ctx context.Context) (int64, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	volume.UseStore
}

// CreatesConfig is what Creates is created from. Only what says so may be nil.
type CreatesConfig struct {
	Store     CreateStore
	Solver    layout.Solver
	Now       func() time.Time
	Keys      app.Keys
	Explainer layout.Explainer // nil: refusals are not explained further
	// Firewalls reports whether a type of provider makes firewalls for clusters; nil: not known, and no one is warned.
	Firewalls func(kind string) bool
	Volumes   volume.Kinds
	// Sleeps reports whether a type of provider can stop machines and keep them; nil: not known, and no one is warned.
	Sleeps    func(kind string) bool
	Resources *resource.Service
	Catalogs  *catalog.Service
	Policies  *policy.Service
	Solving   *layout.SolveLimit // shared by all that solve or plan for people
	Clusters  *Finder
	Plans     *Plans
	Preflight *Preflight
	Views     *Views
	Specs     *Specs
	Values    *providervalue.Service // nil: users set nothing of providers
	Images    Images                 // nil: machines are never started from baked images
}

// Creates previews, explains, requests and clones clusters.
type Creates struct {
	CreatesConfig
}

// NewCreates returns Creates on top of their needs.
func NewCreates(c CreatesConfig) *Creates { return &Creates{CreatesConfig: c} }

// Check refuses what can't be meant, whatever the catalog says, and trims the name.
func (r *CreateRequest) Check(actor app.Actor) error {
	if r.Name = strings.TrimSpace(r.Name); r.Name != "" {
		if err := app.CheckClusterName(r.Name); err != nil {
			return err
		}
	}
	if err := r.checkOwners(actor); err != nil {
		return err
	}
	if err := r.OnFailure.Check(); err != nil {
		return err
	}
	r.ProviderValues = r.ProviderValues.Clean()
	return r.PartialOverride.Check(r.OnFailure)
}

// checkOwners refuses a visibility that does not exist, and a group that the one who asks does not belong to.
func (r CreateRequest) checkOwners(actor app.Actor) error {
	if r.Visibility != "" {
		if err := r.Visibility.Check(); err != nil {
			return err
		}
	}
	if r.Group == "" || slices.Contains(actor.Groups, r.Group) {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Field: "group", Message: fmt.Sprintf("You aren't a member of the group %.70q.", r.Group), Hint: "Choose one of your groups."}
}

// Ask takes a request for a cluster. The layout is solved and the plan made again, policies are asked, and then it is one of
//
//   - accepted: request, cluster, nodes, intents, operation and plan are written in one transaction
//   - waiting for approvals: the request is written with all that is needed to run just what was shown; nothing is made
//   - refused by a policy: EForbidden, reason "policy", with the policy's own words. The request is kept nevertheless
//
// Request.Decision.Changes has what a policy changed. When r.PlanHash is set and the plan is another one by now, it is
// EConflict and nothing happens.
func (a *Creates) Ask(ctx context.Context, actor app.Actor, r CreateRequest) (Answer, error) {
	if err := actor.Authorize("Ask"); err != nil {
		return Answer{}, err
	}
	ctx = catalog.HoldCatalog(ctx)
	answer, err := a.submit(ctx, actor, r)
	if err != nil || answer.Request.Cluster == "" {
		return answer, err
	}
	v, err := a.Views.Cluster(ctx, actor, answer.Request.Cluster)
	v.Changes = answer.Request.Decision.Changes
	answer.Cluster = &v
	return answer, err
}

// SubmitRequest is Ask for those who need no more of the cluster than its id, which is Request.Cluster.
func (a *Creates) SubmitRequest(ctx context.Context, actor app.Actor, r CreateRequest) (Answer, error) {
	if err := actor.Authorize("SubmitRequest"); err != nil {
		return Answer{}, err
	}
	return a.submit(catalog.HoldCatalog(ctx), actor, r)
}

func (a *Creates) submit(ctx context.Context, actor app.Actor, r CreateRequest) (Answer, error) {
	if err := r.Check(actor); err != nil {
		return Answer{}, err
	}
	w, err := a.EvaluateRequest(ctx, actor, r, false)
	if err != nil {
		return Answer{}, err
	}
	if r.PlanHash != "" && r.PlanHash != w.Preview.PlanHash {
		return Answer{}, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan has changed since the preview because the catalog or the request changed.",
			Hint: "Check the new preview and submit again."}
	}
	q := a.RequestToKeep(actor, r, w)
	switch w.Decision.Outcome {
	case policy.OutcomeRefuse:
		q.Request.Status, q.Request.EndedAt, q.Request.Message = RequestRefused, q.Request.RequestedAt, w.Decision.Reason
		kept, err := a.Store.SaveRequest(ctx, q)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Request: kept}, RefusedBy(w.Decision, kept.ID)
	case policy.OutcomeApprove:
		q.Open(Keep(w), w.Decision.Needs)
		kept, err := a.Store.SaveRequest(ctx, q)
		return Answer{Request: kept, Warnings: w.Preview.Warnings}, err
	}
	n, err := a.DraftCluster(ctx, actor, w.Request, w.Draft, w.Preview)
	if err != nil {
		return Answer{}, err
	}
	q.Request.Status, q.Request.EndedAt, q.Request.Cluster = RequestAccepted, q.Request.RequestedAt, n.Cluster.ID
	n.Request = &q
	if _, err := a.Store.CreateCluster(ctx, n); err != nil {
		return Answer{}, err
	}
	return Answer{Request: q.Request, Warnings: w.Preview.Warnings}, nil
}

// CreateCluster is Ask for programs that want a cluster now. EConflict, reason "waiting", where the request waits for
// approvals; it continues to do so.
func (a *Creates) CreateCluster(ctx context.Context, actor app.Actor, r CreateRequest) (View, error) {
	if err := actor.Authorize("CreateCluster"); err != nil {
		return View{}, err
	}
	answer, err := a.Ask(ctx, actor, r)
	switch {
	case err != nil:
		return View{}, err
	case answer.Cluster == nil:
		return View{}, &app.Error{Code: app.EConflict, Reason: "waiting", Message: fmt.Sprintf("Request %d is waiting for %s.", answer.Request.ID, answer.Request.approvers()),
			Hint: "Muster creates the cluster once it's approved."}
	}
	return *answer.Cluster, nil
}

// Evaluation is a request, prepared and judged. The request is as policies left it.
type Evaluation struct {
	Request  CreateRequest   `json:"-"`
	Draft    Draft           `json:"-"`
	Preview  Preview         `json:"-"`
	Facts    policy.Input    `json:"-"`
	Decision policy.Decision `json:"-"`
}

// EvaluateRequest prepares a request and asks the policies. A dry run is a preview.
func (a *Creates) EvaluateRequest(ctx context.Context, actor app.Actor, r CreateRequest, dry bool) (w Evaluation, err error) {
	w.Request = r
	c, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return w, err
	}
	t, err := c.TemplateFor(actor, r.Template)
	if err != nil {
		return w, err
	}
	if t != nil {
		if err := cmp.Or(label.CheckDescription(r.Description), label.Check(r.Labels)); err != nil {
			return w, err
		}
		r.Labels = t.Labels.Fill(r.Labels) // those that are required may come from policies
		w.Request = r
	}
	policies, err := a.Store.Policies(ctx, actor.Tenant)
	if err != nil {
		return w, err
	}
	zone, err := a.Policies.TimeZone(ctx, actor.Tenant)
	if err != nil {
		return w, err
	}
	v := policy.Evaluation{Policies: policies, DryRun: dry}
	if v.Facts, err = a.requested(actor, r, t); err != nil {
		return w, err
	}
	v.Facts.TimeZone = zone
	asked := policy.FieldsOf(v.Facts)
	v.Solve = func(ctx context.Context, f policy.Fields) (policy.Input, bool, error) {
		w.Request = r.with(f, asked)
		facts, err := a.workOut(ctx, actor, t, &w)
		facts.TimeZone = zone
		return facts, false, err
	}
	if w.Decision, w.Facts, err = a.Policies.Evaluate(ctx, v); err != nil {
		return w, err
	}
	if w.Decision.Outcome != policy.OutcomeRefuse {
		if err := a.Values.Check(ctx, actor.Tenant, w.Preview.Layout.Provider, r.ProviderValues, dry); err != nil {
			return w, err
		}
		if !dry {
			if w.Request.ProviderValues, err = a.Values.Version(ctx, actor.Tenant, w.Preview.Layout.Provider, r.ProviderValues); err != nil {
				return w, err
			}
		}
		own, err := a.Values.IsOwn(ctx, actor.Tenant, w.Preview.Layout.Provider, r.ProviderValues)
		if err == nil {
			err = NoVolumesOfOwn(own, w.Preview.Volumes)
		}
		if err != nil {
			return w, err
		}
	}
	if w.Decision.Outcome != policy.OutcomeRefuse && w.Decision.Lease != w.Facts.Lease {
		// Checked against the template's own rules, and priced. Layout and plan don't depend on it.
		lease := w.Decision.Lease
		w.Request.Lease = &lease
		if err := w.Preview.SetLease(w.Draft.Template, &lease); err != nil {
			return w, policy.Impossible(w.Decision.Changes, err)
		}
	}
	if w.Decision.Outcome != policy.OutcomeRefuse {
		if err := w.label(t); err != nil {
			return w, err
		}
	}
	if len(w.Decision.Said) > 0 {
		w.Preview.Decision = &w.Decision
	}
	return w, nil
}

// label sets the labels of the request as policies left them. They may still lack one that the template requires, or break its rules.
func (w *Evaluation) label(t *template.Template) (err error) {
	changed := w.Decision.Labels != nil
	if changed {
		w.Request.Labels = w.Decision.Labels
	}
	if t != nil {
		w.Request.Labels, err = t.Labels.Complete(w.Request.Description, w.Request.Labels)
	}
	if changed {
		err = policy.Impossible(w.Decision.Changes, err)
	}
	return err
}

// workOut works the request out, and returns the facts of what comes of it.
func (a *Creates) workOut(ctx context.Context, actor app.Actor, t *template.Template, w *Evaluation) (f policy.Input, err error) {
	if t != nil {
		if err := t.CheckImmutable(w.Request.override(t)); err != nil {
			return f, err
		}
	}
	if w.Draft, w.Preview, err = a.Prepare(ctx, actor.Tenant, w.Request); err != nil {
		return f, err
	}
	claims, err := volume.CheckUses(ctx, a.Store, actor, w.Preview.Layout.Provider, w.Preview.Volumes)
	if err == nil {
		err = volume.CheckZones(claims, w.Request.Zone)
	}
	if err != nil {
		return f, err
	}
	if _, _, err := w.Draft.Definition.PartialResults.Resolved(w.Request.OnFailure, w.Request.PartialOverride, w.Preview.Layout.Size()); err != nil {
		return f, err
	}
	if err := a.Preflight.CheckSecretsOf(ctx, actor.Tenant, w.Request, w.Draft, w.Preview.Layout.Provider); err != nil {
		return f, err
	}
	return a.facts(actor, w.Request, w.Draft, w.Preview), nil
}

// requested are the facts of a request as far as they are known without a layout. What is wrong with it is for Prepare to say.
func (a *Creates) requested(actor app.Actor, r CreateRequest, t *template.Template) (policy.Input, error) {
	f := policy.Input{
		Tenant: actor.Tenant, User: actor.Name(), Role: actor.Role, Groups: slices.Clone(actor.Groups), Via: actor.Via, Kind: app.OperationCreate,
		Name: r.Name, Template: r.Template, Labels: r.Labels, Now: a.Now(), Unsolved: true,
	}
	if t == nil {
		return f, nil
	}
	r, _, err := r.resolved(t)
	if err != nil {
		return f, err
	}
	f.Nodes, f.Provider, f.Services = r.Size, cmp.Or(r.Provider, t.Defaults.Provider), slices.Clone(r.Services)
	if len(f.Services) == 0 {
		f.Services = slices.Clone(t.Defaults.Services)
	}
	slices.Sort(f.Services)
	if h := cmp.Or(r.Hardware, t.Defaults.Hardware); h != "" {
		f.Hardware = []string{h}
	}
	f.Lease, _ = t.Lease.LengthFor(r.Lease) // Prepare says what is wrong with it
	return f, nil
}

// with returns the request with what policies changed.
func (r CreateRequest) with(f, asked policy.Fields) CreateRequest {
	if f.Size != asked.Size {
		r.Size = f.Size
	}
	if f.Hardware != asked.Hardware {
		r.Hardware = f.Hardware
	}
	if f.Provider != asked.Provider {
		r.Provider = f.Provider
	}
	return r
}

// facts are what policies see. Where machines may be of other hardware, that is the most that it may come to.
func (a *Creates) facts(actor app.Actor, r CreateRequest, d Draft, p Preview) policy.Input {
	f := policy.Input{
		Tenant: actor.Tenant, User: actor.Name(), Role: actor.Role, Groups: slices.Clone(actor.Groups), Via: actor.Via, Kind: app.OperationCreate,
		Name: r.Name, Template: r.Template, Nodes: p.Layout.Size(), Lease: p.Lease,
		CostPerHour: max(p.Layout.CostPerHour, p.Layout.MostPerHour) + volume.NewCost(p.Volumes),
		Provider:    p.Layout.Provider, CPU: d.mostCPU(p.Layout), Labels: r.Labels, Now: a.Now(),
	}
	for s := range d.Definition.Services {
		f.Services = append(f.Services, s)
	}
	for _, g := range p.Layout.Groups {
		f.Hardware = append(append(f.Hardware, g.Hardware), d.Definition.FallbackHardware[g.Hardware]...)
	}
	slices.Sort(f.Services)
	slices.Sort(f.Hardware)
	f.Hardware = slices.Compact(f.Hardware)
	return f
}

// RequestToKeep is what is kept of an asking, whatever becomes of it.
func (a *Creates) RequestToKeep(actor app.Actor, r CreateRequest, w Evaluation) NewRequest {
	r.Config, r.ProviderValues, r.PlanHash, r.Pool = nil, nil, "", nil // which may hold secrets, and are of no use later
	return NewRequest{Who: actor, Build: r.Build, Request: Request{
		Tenant: actor.Tenant, Kind: app.OperationCreate, Requester: actor.Name(), Owner: actor.User, Groups: actor.Groups, Via: actor.Via,
		RequestedAt: w.Facts.Now, Spec: r, Facts: w.Facts, Decision: w.Decision, Terms: TermsOf(w.Draft, w.Preview),
	}}
}

func TermsOf(d Draft, p Preview) Terms {
	return Terms{PlanHash: p.PlanHash, Layout: p.Layout, Steps: p.Plan.Acts(), Duration: p.Duration, People: p.Plan.PeopleInWords(), Expects: p.Plan.Expects, Lease: p.Lease,
		Cost: p.Cost, CPU: d.cpu(p.Layout), VolumeCost: volume.NewCost(p.Volumes)}
}

func Keep(w Evaluation) RequestPayload {
	k := RequestPayload{Request: w.Request, Definition: w.Draft.Definition, DNSSuffix: w.Draft.DnsSuffix, Layout: w.Preview.Layout, Lease: w.Preview.Lease,
		PlanHash: w.Preview.PlanHash, Hooks: w.Preview.Plan.Hooks, TenantCatalog: w.Draft.Catalog}
	k.Request.PlanHash, k.Request.Pool = "", nil
	return k
}

// DraftCluster returns names, keys and intents to everything.
func (a *Creates) DraftCluster(ctx context.Context, actor app.Actor, r CreateRequest, d Draft, p Preview) (NewCluster, error) {
	number, err := a.Store.NextClusterNumber(ctx)
	if err != nil {
		return NewCluster{}, err
	}
	now := a.Now()
	id := app.ClusterID(cmp.Or(r.Name, r.Template), number)
	c := app.Cluster{
		ID: id, Tenant: actor.Tenant, Name: cmp.Or(r.Name, id), Owner: actor.User, Template: r.Template, Provider: p.Layout.Provider,
		Size: p.Layout.Size(), Status: app.ClusterPending, CostPerHour: p.Layout.CostPerHour, DNSSuffix: d.DnsSuffix, CreatedAt: now,
		Visibility: r.Visibility, OwnerGroup: r.Group, Description: strings.TrimSpace(r.Description), Labels: r.Labels,
	}
	if p.Lease > 0 {
		c.ExpiresAt = now.Add(p.Lease)
	}
	for s := range d.Definition.Services {
		c.Services = append(c.Services, s)
	}
	slices.Sort(c.Services)
	choice, partial, err := d.Definition.PartialResults.Resolved(r.OnFailure, r.PartialOverride, c.Size)
	if err != nil {
		return NewCluster{}, err
	}
	n := NewCluster{Cluster: c, Definition: d.Definition, TenantCatalog: d.Catalog, Build: r.Build, Operation: NewOperation{
		Operation: app.Operation{Tenant: actor.Tenant, Cluster: id, Kind: app.OperationCreate, PlanHash: p.PlanHash, OnFailure: choice,
			MinAvailable: partial.MinAvailable.Of(c.Size), NoBackfill: partial.NoBackfill, Requester: actor.User, CreatedAt: now, Expected: p.Duration},
		Plan: p.Plan,
	}}
	if n.ProviderValues.Values, err = a.Values.Pin(ctx, actor.Tenant, c.Provider, r.ProviderValues); err != nil {
		return NewCluster{}, err
	}
	if n.ProviderValues.Account, err = a.Values.IsOwn(ctx, actor.Tenant, c.Provider, r.ProviderValues); err != nil {
		return NewCluster{}, err
	}
	if n.PrivateKey, n.PublicKey, err = a.Keys.NewKey("muster " + id); err != nil {
		return NewCluster{}, fmt.Errorf("key of cluster %s: %w", id, err)
	}
	for _, g := range p.Layout.Groups {
		for range g.Count {
			node := app.Node{Cluster: id, Name: app.NodeName(len(n.Nodes) + 1), Hardware: g.Hardware, Image: g.Image, Zone: g.Zone, Services: g.Services,
				Status: app.NodePlanned, SSHUser: cmp.Or(d.Definition.Images[g.Image].SSHUser, "root")}
			node.Hostname = app.Hostname(id, node.Name, d.DnsSuffix)
			n.Nodes = append(n.Nodes, app.NewNode{Node: node, Intent: strings.ToLower(rand.Text())})
		}
	}
	n.Reservation = policy.ReservationOf(c, n.Nodes, d.Definition.Hardware, actor.Groups)
	if err := a.addVolumes(ctx, actor, r, &n); err != nil {
		return NewCluster{}, err
	}
	return n, GiveHostKeys(a.Keys, n.Nodes)
}

// GiveHostKeys makes a host key for every node, on all cores: for a big cluster this is most of the work.
func GiveHostKeys(keys app.Keys, nodes []app.NewNode) error {
	makers := runtime.GOMAXPROCS(0)
	errs := make([]error, makers)
	var all sync.WaitGroup
	for part := range makers {
		all.Go(func() {
			for i := part; i < len(nodes); i += makers {
				key, _, err := keys.NewKey(nodes[i].Node.Hostname)
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
