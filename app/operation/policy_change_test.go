package operation_test

import (
	"context"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/policy"
	"muster/app/template"
)

// counting is a solver that counts what it is asked.
type counting struct {
	layout.Solver
	solves *int
}

func (c counting) Solve(ctx context.Context, all *template.Catalog, r layout.Request) (layout.Layout, error) {
	*c.solves++
	return c.Solver.Solve(ctx, all, r)
}

// answering are webhooks with the same answer to all.
type answering struct {
	answer policy.WebhookAnswer
	asked  []policy.WebhookQuestion
}

func (a *answering) AskAbout(_ context.Context, q policy.WebhookQuestion) ([]policy.WebhookAnswer, error) {
	a.asked = append(a.asked, q)
	return []policy.WebhookAnswer{a.answer}, nil
}

func capSize(limit string) policy.Policy {
	return policy.Policy{Name: "small-dev", Order: 1, Enabled: true, When: `kind in ["create", "resize"]`, Effect: policy.EffectRewrite, Reason: "At most " + limit + ".", Set: &policy.Set{Size: "min(nodes, " + limit + ")"}}
}

func TestAChangedRequestIsWhatIsShownApprovedAndRun(t *testing.T) {
	b := harness.New(t)
	solves := 0
	b.Services.Cluster.Creates.Solver = counting{b.Services.Cluster.Creates.Solver, &solves}
	ada, boss := b.Actor("ada", app.RoleUser), b.Actor("boss", app.RoleApprover)
	asks := harness.Asks("plain", 4, 0)
	if b.Ask(ada, asks); solves != 1 {
		t.Errorf("without policies it is solved %d times", solves)
	}
	p := capSize("3")
	p.Approval = &policy.Approval{Count: 1, Role: app.RoleApprover}
	b.Rules(p)
	solves = 0
	small := b.Ask(ada, harness.Asks("small", 2, 0))
	if solves != 1 || small.Cluster != nil || len(small.Request.Decision.Changes) != 0 {
		t.Errorf("what nothing changes is solved %d times: %+v", solves, small.Request.Decision)
	}
	asks = harness.Asks("web", 8, 0)
	v, err := b.Services.Cluster.Creates.Preview(t.Context(), ada, asks)
	if err != nil || v.Layout.Size() != 3 || v.Decision == nil || v.Decision.Text() != "approve: 1 approval from approvers, size 8 → 3" {
		t.Fatalf("the preview is %+v, %v", v.Decision, err)
	}
	solves, asks.PlanHash = 0, v.PlanHash
	r := b.Ask(ada, asks).Request
	if solves != 1 || r.Status != cluster.RequestWaiting || r.Spec.Size != 8 || r.Terms.Layout.Size() != 3 || r.Terms.PlanHash != v.PlanHash ||
		r.Facts.Nodes != 3 {
		t.Fatalf("solved %d times, it is %+v", solves, r)
	}
	// The policy is gone by then; what was approved runs.
	b.SQL(`UPDATE policies SET active = 0`)
	done, err := b.Approve(boss, r)
	if err != nil || done.Status != cluster.RequestAccepted {
		t.Fatal(done.Status, err)
	}
	if c, err := b.Services.Cluster.Views.Cluster(t.Context(), ada, done.Cluster); err != nil || c.Size != 3 {
		t.Errorf("%+v, %v", c.Cluster, err)
	}
}

func TestAWebhookThatChangesItsMindChangesThePlan(t *testing.T) {
	b := harness.New(t)
	hooks := &answering{answer: policy.WebhookAnswer{Webhook: "cmdb", Set: policy.Values{Size: 3}, Reason: "Three."}}
	b.Services.Policy.Policies.Webhooks = hooks
	ada := b.Actor("ada", app.RoleUser)
	asks := harness.Asks("web", 2, 0)
	v, err := b.Services.Cluster.Creates.Preview(t.Context(), ada, asks)
	if err != nil || v.Layout.Size() != 3 || v.Decision.Changes[0].Sentence() != "Webhook cmdb: size 2 → 3. Three." {
		t.Fatalf("%+v, %v", v.Decision, err)
	}
	if q := hooks.asked[0]; len(hooks.asked) != 1 || !q.DryRun || q.Facts.Nodes != 2 || q.Facts.CostPerHour == 0 || q.Facts.User != "ada" {
		t.Errorf("it was asked %+v", hooks.asked)
	}
	asks.PlanHash, hooks.answer.Set.Size = v.PlanHash, 4
	if _, err := b.Services.Cluster.Creates.Ask(t.Context(), ada, asks); app.AsError(err).Reason != "plan_changed" || b.Clusters() != 0 {
		t.Errorf("the answer changed, and it is %v", err)
	}
	hooks.answer.Set.Size = 3
	if got, err := b.Services.Cluster.Creates.Ask(t.Context(), ada, asks); err != nil || got.Cluster.Size != 3 || len(got.Cluster.Changes) != 1 ||
		hooks.asked[2].DryRun {
		t.Errorf("%+v, %v", got.Cluster, err)
	}
	hooks.answer = policy.WebhookAnswer{Webhook: "cmdb", Refused: true, Reason: "No ticket."}
	if _, err := b.Services.Cluster.Creates.Ask(t.Context(), ada, harness.Asks("no", 1, 0)); app.CodeOf(err) != app.EForbidden ||
		app.AsError(err).Hint != "Denied by webhook cmdb. See request 2." {
		t.Errorf("%v", err)
	}
}

func TestResizesAreChangedButNeverTurnedRound(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(4, nil)
	hooks := &answering{answer: policy.WebhookAnswer{Webhook: "cmdb"}}
	f.Services.Policy.Policies.Webhooks = hooks
	f.Rules(capSize("5"))
	to := func(size int) (cluster.UpdatePreview, error) {
		return f.Services.Operation.Updates.PreviewUpdate(t.Context(), f.Who, "shop", cluster.Update{Kind: app.OperationResize, Size: size})
	}
	p, err := to(7)
	if err != nil || p.After.Nodes != 5 || p.Decision == nil || p.Decision.Changes[0].Text() != "size 7 → 5" {
		t.Fatalf("%+v, %v", p.Decision, err)
	}
	if q := hooks.asked[0]; !q.DryRun || q.Facts.Kind != app.OperationResize || q.Facts.Nodes != 5 || len(q.Changes) != 1 {
		t.Errorf("the webhook is asked %+v", q)
	}
	if p, err := to(3); err != nil || p.After.Nodes != 3 || p.Decision != nil {
		t.Errorf("a smaller one: %+v, %v", p.Decision, err)
	}
	f.Rules(capSize("4"))
	if _, err := to(7); app.AsError(err).Reason != "policy" || !strings.Contains(app.AsError(err).Message, `Policy small-dev: size 7 → 4. At most 4. The changed request isn't possible: Cluster "shop" has 4 nodes already.`) {
		t.Errorf("to as many as there are: %v", err)
	}
	f.Rules(capSize("3"))
	if _, err := to(7); app.AsError(err).Reason != "policy" {
		t.Errorf("to fewer than there are: %v", err)
	}
	f.Rules(capSize("5"))
	p, err = to(7)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", cluster.Update{Kind: app.OperationResize, Size: 7, PlanHash: p.PlanHash})
	if err != nil || a.Operation == 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	f.Work()
	if c := f.See("shop"); c.Size != 5 || len(c.Nodes) != 5 {
		t.Errorf("%d nodes", c.Size)
	}
	// What policies can't change stays as it was asked for, and webhooks are asked.
	hooks.answer.Set = policy.Values{Size: 9, Lease: 1}
	if p, err := f.Services.Operation.Updates.PreviewUpdate(t.Context(), f.Who, "shop", cluster.Update{Kind: app.OperationRestart}); err != nil ||
		p.Decision != nil || p.After.Nodes != 5 {
		t.Errorf("%+v, %v", p.Decision, err)
	}
}
