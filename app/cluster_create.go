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

// Ask takes a request for a cluster. The layout is solved and the plan made anew, policies are asked, and then it is one of
//
//   - accepted: request, cluster, nodes, intents, operation and plan are written in one transaction
//   - waiting for approvals: the request is written with all that is needed to run just what was shown; nothing is made
//   - refused by a policy: EForbidden, reason "policy", with the policy's own words. The request is kept nevertheless
//
// What a policy changed stands in Request.Decision.Changes. When r.PlanHash is set and the plan is another one by now, it is
// EConflict and nothing happens.
func (a *App) Ask(ctx context.Context, actor Actor, r ClusterRequest) (Answer, error) {
	if err := actor.may("Ask"); err != nil {
		return Answer{}, err
	}
	ctx = HoldCatalog(ctx)
	answer, err := a.submit(ctx, actor, r)
	if err != nil || answer.Request.Cluster == "" {
		return answer, err
	}
	v, err := a.Cluster(ctx, actor, answer.Request.Cluster)
	answer.Cluster = &v
	return answer, err
}

// SubmitRequest is Ask for those who need no more of the cluster than its id, which is Request.Cluster.
func (a *App) SubmitRequest(ctx context.Context, actor Actor, r ClusterRequest) (Answer, error) {
	if err := actor.may("SubmitRequest"); err != nil {
		return Answer{}, err
	}
	return a.submit(HoldCatalog(ctx), actor, r)
}

func (a *App) submit(ctx context.Context, actor Actor, r ClusterRequest) (Answer, error) {
	if r.Name = strings.TrimSpace(r.Name); r.Name != "" {
		if err := CheckClusterName(r.Name); err != nil {
			return Answer{}, err
		}
	}
	if err := r.checkOwners(actor); err != nil {
		return Answer{}, err
	}
	if err := r.OnFailure.check(); err != nil {
		return Answer{}, err
	}
	if err := r.Survival.Check(r.OnFailure); err != nil {
		return Answer{}, err
	}
	w, err := a.weigh(ctx, actor, r)
	if err != nil {
		return Answer{}, err
	}
	if r.PlanHash != "" && r.PlanHash != w.preview.PlanHash {
		return Answer{}, &Error{Code: EConflict, Reason: "plan_changed", Message: "The plan is not the one that was shown: the catalog or the request has changed.",
			Hint: "Look at the new preview and ask again."}
	}
	q := a.newRequest(actor, r, w)
	switch w.decision.Outcome {
	case OutcomeRefuse:
		q.Request.Status, q.Request.EndedAt, q.Request.Message = RequestRefused, q.Request.AskedAt, w.decision.Reason
		kept, err := a.Store.KeepRequest(ctx, q)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Request: kept}, refusedBy(w.decision, kept.ID)
	case OutcomeApprove:
		q.open(keep(w), w.decision.Needs)
		kept, err := a.Store.KeepRequest(ctx, q)
		return Answer{Request: kept, Warnings: w.preview.Warnings}, err
	}
	n, err := a.newCluster(ctx, actor, w.request, w.draft, w.preview)
	if err != nil {
		return Answer{}, err
	}
	q.Request.Status, q.Request.EndedAt, q.Request.Cluster = RequestAccepted, q.Request.AskedAt, n.Cluster.ID
	n.Request = &q
	if _, err := a.Store.CreateCluster(ctx, n); err != nil {
		return Answer{}, err
	}
	return Answer{Request: q.Request, Warnings: w.preview.Warnings}, nil
}

// checkOwners refuses a visibility that does not exist, and a group that the one who asks does not belong to.
func (r ClusterRequest) checkOwners(actor Actor) error {
	if r.Visibility != "" {
		if err := r.Visibility.check(); err != nil {
			return err
		}
	}
	if r.Group == "" || slices.Contains(actor.Groups, r.Group) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "group", Message: fmt.Sprintf("You are not in the group %.70q.", r.Group), Hint: "A cluster can belong to a group of yours."}
}

// CreateCluster is Ask for programs that want a cluster now. EConflict, reason "waiting", where the request waits for
// approvals; it goes on doing so.
func (a *App) CreateCluster(ctx context.Context, actor Actor, r ClusterRequest) (ClusterView, error) {
	if err := actor.may("CreateCluster"); err != nil {
		return ClusterView{}, err
	}
	answer, err := a.Ask(ctx, actor, r)
	switch {
	case err != nil:
		return ClusterView{}, err
	case answer.Cluster == nil:
		return ClusterView{}, &Error{Code: EConflict, Reason: "waiting", Message: fmt.Sprintf("Request %d waits for %s.", answer.Request.ID, answer.Request.approvers()),
			Hint: "The cluster is made when they have approved."}
	}
	return *answer.Cluster, nil
}

// weighed is a request, prepared and judged. The request is as policies left it.
type weighed struct {
	request  ClusterRequest
	draft    draft
	preview  Preview
	facts    Facts
	decision Decision
}

// weigh prepares a request and asks the policies.
func (a *App) weigh(ctx context.Context, actor Actor, r ClusterRequest) (w weighed, err error) {
	w.request = r
	c, err := a.catalogOf(ctx, actor.Tenant)
	if err != nil {
		return w, err
	}
	if t, err := c.templateFor(actor, r.Template); err != nil {
		return w, err
	} else if t != nil {
		if err := t.CheckImmutable(r.override(t)); err != nil {
			return w, err
		}
	}
	if w.draft, w.preview, err = a.prepare(ctx, actor.Tenant, r); err != nil {
		return w, err
	}
	if _, _, err := w.draft.definition.Survivors.settled(r.OnFailure, r.Survival, w.preview.Layout.Size()); err != nil {
		return w, err
	}
	if err := a.checkSecretsOf(ctx, actor.Tenant, r, w.draft, w.preview.Layout.Provider); err != nil {
		return w, err
	}
	policies, err := a.Store.Policies(ctx, actor.Tenant)
	if err != nil {
		return w, err
	}
	if w.facts, err = a.facts(ctx, actor, r, w.draft, w.preview); err != nil {
		return w, err
	}
	w.decision = Decide(ctx, a.Policies, policies, w.facts)
	if w.decision.Outcome != OutcomeRefuse && len(w.decision.Changes) > 0 {
		// Checked against the template's own rules, and priced. Policies change leases only, so layout and plan stay as they are.
		lease := w.decision.Lease
		w.request.Lease = &lease
		if err := w.preview.setLease(w.draft.template, &lease); err != nil {
			return w, err
		}
	}
	if len(w.decision.Said) > 0 {
		w.preview.Decision = &w.decision
	}
	return w, nil
}

// facts are what policies see. Where machines may be of other hardware, that is the most that it may come to.
func (a *App) facts(ctx context.Context, actor Actor, r ClusterRequest, d draft, p Preview) (Facts, error) {
	zone, err := a.timeZone(ctx, actor.Tenant)
	f := Facts{
		Tenant: actor.Tenant, User: actor.Name(), Role: actor.Role, Groups: slices.Clone(actor.Groups), Via: actor.Via, Kind: OperationCreate,
		Name: r.Name, Template: r.Template, Nodes: p.Layout.Size(), CostPerHour: max(p.Layout.CostPerHour, p.Layout.MostPerHour), Lease: p.Lease,
		Provider: p.Layout.Provider, CPU: d.mostCPU(p.Layout), Now: a.Now(), TimeZone: zone,
	}
	for s := range d.definition.Services {
		f.Services = append(f.Services, s)
	}
	for _, g := range p.Layout.Groups {
		f.Hardware = append(append(f.Hardware, g.Hardware), d.definition.FallbackHardware[g.Hardware]...)
	}
	slices.Sort(f.Services)
	slices.Sort(f.Hardware)
	f.Hardware = slices.Compact(f.Hardware)
	return f, err
}

// newRequest is what is kept of an asking, whatever becomes of it.
func (a *App) newRequest(actor Actor, r ClusterRequest, w weighed) NewRequest {
	r.Config, r.PlanHash, r.Pool = nil, "", nil // which may hold secrets, and are of no use later
	return NewRequest{Who: actor, Build: r.Build, Request: Request{
		Tenant: actor.Tenant, Kind: OperationCreate, Requester: actor.Name(), Owner: actor.User, Groups: actor.Groups, Via: actor.Via,
		AskedAt: w.facts.Now, Asked: r, Facts: w.facts, Decision: w.decision, Terms: termsOf(w.draft, w.preview),
	}}
}

func termsOf(d draft, p Preview) Terms {
	return Terms{PlanHash: p.PlanHash, Layout: p.Layout, Steps: p.Plan.Acts(), Duration: p.Duration, People: p.Plan.PeopleInWords(), Expects: p.Plan.Expects, Lease: p.Lease, Cost: p.Cost, CPU: d.cpu(p.Layout)}
}

// cpu counts the virtual cores of a layout; nodes of unknown size count as none.
func (d draft) cpu(l Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.definition.Hardware[g.Hardware].CPU
	}
	return n
}

// mostCPU is cpu where the machines are of the largest hardware that they may be of.
func (d draft) mostCPU(l Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.definition.highest(g.Hardware, d.definition.FallbackHardware).CPU
	}
	return n
}

func keep(w weighed) Kept {
	k := Kept{Request: w.request, Definition: w.draft.definition, DNSSuffix: w.draft.dnsSuffix, Layout: w.preview.Layout, Lease: w.preview.Lease,
		PlanHash: w.preview.PlanHash, Hooks: w.preview.Plan.Hooks, OwnCatalog: w.draft.catalog}
	k.Request.PlanHash, k.Request.Pool = "", nil
	return k
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
		Visibility: r.Visibility, OwnerGroup: r.Group,
	}
	if p.Lease > 0 {
		c.ExpiresAt = now.Add(p.Lease)
	}
	for s := range d.definition.Services {
		c.Services = append(c.Services, s)
	}
	slices.Sort(c.Services)
	choice, survival, err := d.definition.Survivors.settled(r.OnFailure, r.Survival, c.Size)
	if err != nil {
		return NewCluster{}, err
	}
	n := NewCluster{Cluster: c, Definition: d.definition, OwnCatalog: d.catalog, Build: r.Build, Operation: NewOperation{
		Operation: Operation{Tenant: actor.Tenant, Cluster: id, Kind: OperationCreate, PlanHash: p.PlanHash, OnFailure: choice,
			AtLeast: survival.AtLeast.Of(c.Size), NoTopUp: survival.NoTopUp, Requester: actor.User, CreatedAt: now, Expected: p.Duration},
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
