package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
)

// Amend changes a cluster that stands, as PreviewAmend has shown. The change is worked out anew, policies are asked, and then it is
// one of
//
//   - accepted: operation, plan and what becomes of the cluster are written in one transaction
//   - waiting for approvals: the request is written; nothing is done
//   - refused by a policy: EForbidden, reason "policy", with the policy's own words. The request is kept nevertheless
//
// Where nothing is to be done, the answer is the cluster as it is. When m.PlanHash is set and the plan is another one by now, it
// is EConflict, reason "plan_changed", and nothing happens.
func (a *App) Amend(ctx context.Context, actor Actor, cluster string, m Amendment) (AmendAnswer, error) {
	c, err := a.look(ctx, actor, "Amend", cluster)
	if err != nil {
		return AmendAnswer{}, err
	}
	if err := actor.mayChange(m.Kind.useCase(), c); err != nil {
		return AmendAnswer{}, err
	}
	if m.TopUp {
		return AmendAnswer{}, wrongAmend("top_up", "Only Muster itself tops up.", "Leave top_up out; see cluster top-up.")
	}
	leave, err := a.solving.enter(ctx, c.Tenant)
	if err != nil {
		return AmendAnswer{}, err
	}
	defer leave()
	return a.amend(ctx, actor, c, m)
}

// amend is Amend of somebody who may.
func (a *App) amend(ctx context.Context, actor Actor, c Cluster, m Amendment) (AmendAnswer, error) {
	d, err := a.weighAmend(ctx, actor, c, m)
	if err != nil {
		return AmendAnswer{}, err
	}
	if m.PlanHash != "" && m.PlanHash != d.preview.PlanHash {
		return AmendAnswer{}, errPlanChanged
	}
	if d.preview.Nothing {
		return a.amendAnswer(ctx, actor, c, 0)
	}
	return a.take(ctx, actor, d)
}

// take does what was worked out and decided on: an operation begins, or a request is written.
func (a *App) take(ctx context.Context, actor Actor, d *amended) (AmendAnswer, error) {
	switch q := d.request(actor); d.decision.Outcome {
	case OutcomeRefuse:
		q.Request.Status, q.Request.EndedAt, q.Request.Message = RequestRefused, q.Request.AskedAt, d.decision.Reason
		kept, err := a.Store.KeepRequest(ctx, q)
		if err != nil {
			return AmendAnswer{}, err
		}
		return AmendAnswer{Request: &kept}, refusedBy(d.decision, kept.ID)
	case OutcomeApprove:
		q.open(d.keep(), d.decision.Needs)
		kept, err := a.Store.KeepRequest(ctx, q)
		if err != nil {
			return AmendAnswer{}, err
		}
		return AmendAnswer{Request: &kept}, nil
	}
	n, err := a.amendOperation(d, actor.User)
	if err != nil {
		return AmendAnswer{}, err
	}
	op, err := a.Store.SubmitOperation(ctx, n)
	if err != nil {
		return AmendAnswer{}, err
	}
	return a.amendAnswer(ctx, actor, d.Cluster, op.ID)
}

func (a *App) amendAnswer(ctx context.Context, actor Actor, c Cluster, operation int64) (AmendAnswer, error) {
	v, err := a.Cluster(ctx, actor, c.ID)
	return AmendAnswer{Cluster: &v, Operation: operation}, err
}

// refusedBy is what is told of a policy's no.
func refusedBy(d Decision, request int64) error {
	return &Error{Code: EForbidden, Reason: "policy", Message: d.Reason,
		Hint: fmt.Sprintf("That is what the policy %s says. Request %d keeps what was asked for.", d.Policy, request)}
}

// amendOperation makes what the store is to accept: the operation, and what it makes of the cluster.
func (a *App) amendOperation(d *amended, who string) (NewOperation, error) {
	p := d.preview
	choice, survival, err := d.onFailure()
	if err != nil {
		return NewOperation{}, err
	}
	n := NewOperation{
		Operation: Operation{Tenant: d.Tenant, Cluster: d.ID, Kind: p.Kind, PlanHash: p.PlanHash, OnFailure: choice, Requester: who,
			AtLeast: survival.AtLeast.Of(p.After.Nodes), NoTopUp: survival.NoTopUp, CreatedAt: a.Now(), Expected: p.Duration},
		Plan: p.Plan, Follows: d.latest.ID, TopUp: d.ask.TopUp,
	}
	if !d.redefined() && !slices.ContainsFunc(d.nodes, AmendedNode.moves) {
		return n, nil
	}
	change := &ClusterChange{Template: d.Template, Definition: d.definition, Size: p.After.Nodes, Services: d.servicesAfter(),
		CostPerHour: p.After.CostPerHour, Nodes: map[string][]string{}}
	// What is done to services that go, or to nodes that do, is done by the entries from before.
	change.Definition.Services = d.entries()
	for _, node := range d.nodes {
		switch {
		case node.Change == NodeNew:
			change.New = append(change.New, d.newNode(node))
		case node.Change == NodeGone:
			change.Leaving = append(change.Leaving, node.Name)
		case len(node.Removed) > 0 || node.Change == "" && len(without(node.Services, d.node(node.Name).Services)) > 0:
			change.Nodes[node.Name] = node.Services
		}
	}
	if len(change.New)+len(change.Leaving) > 0 {
		change.Reservation = Reservation{Nodes: p.After.Nodes, CPU: d.cpu(), CostPerHour: p.After.CostPerHour}
	}
	n.Change = change
	return n, a.giveHostKeys(change.New)
}

// onFailure is what happens where it fails. What the template says of machines that do not come is for growths only.
func (d *amended) onFailure() (FailureChoice, Survival, error) {
	if d.finishes() {
		return FailureLeave, Survival{}, nil // as of every repair
	}
	if d.ask.Kind != OperationResize || d.preview.After.Nodes <= d.preview.Before.Nodes {
		if d.ask.OnFailure == FailureStay || d.ask.OnFailure.GoesOn() {
			return FailureLeave, Survival{}, nil // where nothing grows all machines are there
		}
		return d.ask.OnFailure, Survival{}, nil
	}
	return d.definition.Survivors.settled(d.ask.OnFailure, d.ask.Survival, d.preview.After.Nodes)
}

// moves tells whether a node is made, goes, or has other services afterwards. Where services were left undone, they are among those
// that it had.
func (n AmendedNode) moves() bool {
	return n.Change == NodeNew || n.Change == NodeGone || len(n.Added)+len(n.Removed) > 0
}

// entries are those of the services before and after; those after win.
func (d *amended) entries() map[string]*Service {
	all := map[string]*Service{}
	for _, n := range d.nodes {
		for _, name := range n.Removed {
			all[name] = d.all[name]
		}
	}
	for name, s := range d.was.Services {
		all[name] = s
	}
	for name, s := range d.definition.Services {
		all[name] = s
	}
	return all
}

func (d *amended) newNode(n AmendedNode) NewNode {
	node := Node{Cluster: d.ID, Name: n.Name, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services, Status: NodePlanned,
		SSHUser: firstOf(d.definition.Images[n.Image].SSHUser, "root")}
	node.Hostname = hostname(d.ID, n.Name, d.DNSSuffix)
	return NewNode{Node: node, Intent: strings.ToLower(rand.Text())}
}

// without gives the names of a that are not in b.
func without(a, b []string) (out []string) {
	for _, name := range a {
		if !slices.Contains(b, name) {
			out = append(out, name)
		}
	}
	return out
}
