package policy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/app/policy/cel"
)

// world is what a request would come to: every node costs 1 per hour, and 10 of hardware large.
type world struct {
	solves int
	sizes  []int
	big    bool // the solver chooses large where no hardware is asked for
	fails  func(apppolicy.Fields) error
}

func (w *world) solve(facts apppolicy.Input) func(context.Context, apppolicy.Fields) (apppolicy.Input, bool, error) {
	return func(_ context.Context, f apppolicy.Fields) (apppolicy.Input, bool, error) {
		w.solves++
		w.sizes = append(w.sizes, f.Size)
		if w.fails != nil {
			if err := w.fails(f); err != nil {
				return facts, false, err
			}
		}
		if f.Hardware == "" {
			if f.Hardware = "small"; w.big {
				f.Hardware = "large"
			}
		}
		price := map[string]float64{"small": 1, "medium": 2, "large": 10}[f.Hardware]
		facts.Nodes, facts.Hardware, facts.Provider, facts.CostPerHour, facts.Unsolved = f.Size, []string{f.Hardware}, f.Provider, price*float64(f.Size), false
		return facts, false, nil
	}
}

func requested(nodes int, hardware ...string) apppolicy.Input {
	return apppolicy.Input{Tenant: "default", Kind: app.OperationCreate, Nodes: nodes, Hardware: hardware, Provider: "cloud", Lease: 24 * time.Hour,
		Unsolved: true}
}

func sets(name string, order int, when string, set apppolicy.Set) apppolicy.Policy {
	p := rule(name, order, apppolicy.EffectRewrite, when)
	p.LeaseCap, p.Set = "", &set
	return p
}

type hooks []apppolicy.WebhookAnswer

func (h *hooks) AskAbout(context.Context, apppolicy.WebhookQuestion) ([]apppolicy.WebhookAnswer, error) {
	return append([]apppolicy.WebhookAnswer{}, *h...), nil
}

func changesText(d apppolicy.Decision) string {
	var all []string
	for _, c := range d.Changes {
		all = append(all, c.Policy+" "+c.Text())
	}
	return strings.Join(all, "; ")
}

// The rules of docs/policies.md about changes.
// labelled is a request with a label.
func labelled(f apppolicy.Input, key, value string) apppolicy.Input {
	f.Labels = map[string]string{key: value}
	return f
}

func TestPoliciesChangeRequests(t *testing.T) {
	size := func(name string, order int, text string) apppolicy.Policy {
		return sets(name, order, "true", apppolicy.Set{Size: text})
	}
	small := sets("small", 10, "true", apppolicy.Set{Hardware: `"small"`})
	refuse, allow, approve := apppolicy.EffectRefuse, apppolicy.EffectAllow, apppolicy.EffectApprove
	approved := size("a", 1, "min(nodes, 5)")
	approved.Approval = &apppolicy.Approval{Count: 2, Group: "ops"}
	for _, c := range []struct {
		name     string
		asked    apppolicy.Input
		big      bool
		policies []apppolicy.Policy
		hooks    hooks
		outcome  apppolicy.Outcome
		changes  string
		nodes    int
		hardware string
		lease    time.Duration // 0: a day
		solves   int
		says     string
	}{
		{name: "nothing", asked: requested(8), nodes: 8, hardware: "small", solves: 1},
		{name: "a size that is small enough", asked: requested(4), policies: []apppolicy.Policy{size("a", 1, "min(nodes, 5)")}, nodes: 4, hardware: "small",
			solves: 1},
		{name: "a size", asked: requested(8), policies: []apppolicy.Policy{size("a", 1, "min(nodes, 5)")}, changes: "a size 8 → 5", nodes: 5,
			hardware: "small", solves: 1},
		{name: "two sizes", asked: requested(8), policies: []apppolicy.Policy{size("a", 1, "min(nodes, 5)"), size("b", 2, "min(nodes, 3)")},
			changes: "a size 8 → 5; b size 5 → 3", nodes: 3, hardware: "small", solves: 1},
		{name: "hardware", asked: requested(2, "large"), policies: []apppolicy.Policy{small}, changes: "small hardware large → small", nodes: 2,
			hardware: "small", solves: 1},
		{name: "hardware that no one asked for", asked: requested(2), big: true, policies: []apppolicy.Policy{small}, changes: "small hardware any → small",
			nodes: 2, hardware: "small", solves: 1},
		{name: "allowed hardware", asked: requested(2, "medium"), policies: []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Hardware: `["small", "medium"]`})}, nodes: 2, hardware: "medium", solves: 1},
		{name: "hardware that is not allowed", asked: requested(2, "large"), policies: []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Hardware: `["small", "medium"]`})}, changes: "a hardware large → small", nodes: 2, hardware: "small", solves: 1},
		{name: "the solver's choice is allowed", asked: requested(2), policies: []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Hardware: `["small", "medium"]`})}, nodes: 2, hardware: "small", solves: 1},
		{name: "the solver's choice is not allowed", asked: requested(2), big: true, policies: []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Hardware: `["small", "medium"]`})}, changes: "a hardware large → small", nodes: 2, hardware: "small", solves: 2},
		{name: "by the solver's choice", asked: requested(2), big: true, policies: []apppolicy.Policy{sets("a", 1, `"large" in hardware`, apppolicy.Set{Hardware: `"small"`})}, changes: "a hardware large → small", nodes: 2, hardware: "small", solves: 2},
		{name: "by cost", asked: requested(8, "large"), policies: []apppolicy.Policy{sets("a", 1, `cost_per_hour > 50`, apppolicy.Set{Size: "5"})}, changes: "a size 8 → 5", nodes: 5, hardware: "large", solves: 2},
		{name: "a provider", asked: requested(4), policies: []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Provider: `nodes > 3 ? "cheap" : provider`})}, changes: "a provider cloud → cheap", nodes: 4, hardware: "small", solves: 1},
		{name: "a lease", asked: requested(1), policies: []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Lease: `min(lease, duration("8h"))`})}, changes: "a lease 1 d → 8 h", nodes: 1, hardware: "small", lease: 8 * time.Hour, solves: 1},
		{name: "labels", asked: labelled(requested(1), "team", "web"), policies: []apppolicy.Policy{
			sets("a", 1, "true", apppolicy.Set{Labels: `{"env": "dev", "team": labels["team"]}`}), sets("b", 2, "true", apppolicy.Set{Labels: `{"env": "qa"}`})},
			changes: "a labels none → env=dev; b labels env=dev → env=qa", nodes: 1, hardware: "small", solves: 1},
		{name: "labels with another size", asked: requested(8), policies: []apppolicy.Policy{
			sets("a", 1, "cost_per_hour > 1.0", apppolicy.Set{Size: "5", Labels: `{"env": "dev"}`})},
			changes: "a size 8 → 5; a labels none → env=dev", nodes: 5, hardware: "small", solves: 2},
		{name: "a lease that is longer than a cap", asked: requested(1), policies: []apppolicy.Policy{capped("a", 1, `duration("8h")`), sets("b", 2, "true", apppolicy.Set{Lease: `duration("48h")`})}, changes: "a lease 1 d → 8 h", nodes: 1, hardware: "small", lease: 8 * time.Hour, solves: 1},
		{name: "a refusal before sees the request as it was", asked: requested(8), policies: []apppolicy.Policy{rule("a", 1, refuse, "nodes > 6"),
			size("b", 2, "min(nodes, 5)")}, outcome: apppolicy.OutcomeRefuse, nodes: 8, hardware: "small", solves: 1, says: "says a"},
		{name: "a refusal after sees what is left", asked: requested(8), policies: []apppolicy.Policy{size("a", 1, "min(nodes, 5)"),
			rule("b", 2, refuse, "nodes > 6")}, changes: "a size 8 → 5", nodes: 5, hardware: "small", solves: 1},
		{name: "a refusal by cost sees what is left", asked: requested(8, "large"), policies: []apppolicy.Policy{rule("a", 1, refuse, "cost_per_hour > 10"),
			small}, changes: "small hardware large → small", nodes: 8, hardware: "small", solves: 1},
		{name: "an allowance before", asked: requested(8), policies: []apppolicy.Policy{rule("a", 1, allow, "true"), size("b", 2, "min(nodes, 5)")}, nodes: 8,
			hardware: "small", solves: 1},
		{name: "an allowance by cost before", asked: requested(8), policies: []apppolicy.Policy{rule("a", 1, allow, "cost_per_hour < 20"),
			size("b", 2, "min(nodes, 5)")}, nodes: 8, hardware: "small", solves: 1},
		{name: "an allowance by cost that does not apply", asked: requested(8, "large"), policies: []apppolicy.Policy{rule("a", 1, allow,
			"cost_per_hour < 20"), size("b", 2, "min(nodes, 5)")}, changes: "b size 8 → 5", nodes: 5, hardware: "large", solves: 2},
		{name: "an allowance after", asked: requested(8), policies: []apppolicy.Policy{size("a", 1, "min(nodes, 5)"), rule("b", 2, allow, "true")},
			changes: "a size 8 → 5", nodes: 5, hardware: "small", solves: 1},
		{name: "an approval of what was asked for", asked: requested(8), policies: []apppolicy.Policy{rule("a", 1, approve, "nodes > 6"),
			size("b", 2, "min(nodes, 5)")}, outcome: apppolicy.OutcomeApprove, changes: "b size 8 → 5", nodes: 5, hardware: "small", solves: 1},
		{name: "an approval of what is left", asked: requested(8), policies: []apppolicy.Policy{size("a", 1, "min(nodes, 5)"),
			rule("b", 2, approve, "nodes > 6")}, changes: "a size 8 → 5", nodes: 5, hardware: "small", solves: 1},
		{name: "a change with approvals", asked: requested(8), policies: []apppolicy.Policy{approved}, outcome: apppolicy.OutcomeApprove,
			changes: "a size 8 → 5", nodes: 5, hardware: "small", solves: 1},
		{name: "a change that never ends", asked: requested(8), policies: []apppolicy.Policy{size("a", 1, "nodes - 1")}, outcome: apppolicy.OutcomeRefuse,
			changes: "a size 8 → 5", nodes: 6, hardware: "small", solves: 2, says: "Policy a would change the request again after its change: size 6 → 5."},
		{name: "two that do not agree", asked: requested(4), policies: []apppolicy.Policy{sets("a", 1, "nodes < 6", apppolicy.Set{Size: "7"}),
			sets("b", 2, "cost_per_hour > 6", apppolicy.Set{Size: "3"})}, outcome: apppolicy.OutcomeRefuse, changes: "a size 4 → 7; b size 7 → 3", nodes: 3, hardware: "small", solves: 2, says: "Policy a would change"},
		{name: "a size of nothing", asked: requested(4), policies: []apppolicy.Policy{size("a", 1, "nodes - 4")}, outcome: apppolicy.OutcomeRefuse, nodes: 4,
			hardware: "small", solves: 1, says: "set.size must be positive"},
		{name: "no hardware at all", asked: requested(4), policies: []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Hardware: "groups"})},
			outcome: apppolicy.OutcomeRefuse, nodes: 4, hardware: "small", solves: 1, says: "set.hardware is an empty list"},
		{name: "a webhook that allows", asked: requested(8), hooks: hooks{{Webhook: "cmdb"}}, nodes: 8, hardware: "small", solves: 1},
		{name: "a webhook that refuses", asked: requested(8), hooks: hooks{{Webhook: "cmdb", Refused: true, Reason: "No."}},
			policies: []apppolicy.Policy{rule("a", 1, allow, "true")}, outcome: apppolicy.OutcomeRefuse, nodes: 8, hardware: "small", solves: 1, says: "No."},
		{name: "a webhook that changes", asked: requested(8), hooks: hooks{{Webhook: "cmdb", Set: apppolicy.Values{Size: 6, Hardware: []string{"medium"},
			Lease: time.Hour}}}, changes: "webhook cmdb size 8 → 6; webhook cmdb hardware small → medium; webhook cmdb lease 1 d → 1 h", nodes: 6, hardware: "medium", lease: time.Hour, solves: 2},
		{name: "a webhook never goes beyond a cap", asked: requested(4), hooks: hooks{{Webhook: "cmdb", Set: apppolicy.Values{Size: 9}}},
			policies: []apppolicy.Policy{size("a", 1, "min(nodes, 5)")}, changes: "webhook cmdb size 4 → 9; a size 9 → 5", nodes: 5, hardware: "small", solves: 2},
		{name: "a webhook with approvals", asked: requested(4), hooks: hooks{{Webhook: "cmdb", Approval: &apppolicy.Approval{Count: 1, Group: "ops"}}},
			outcome: apppolicy.OutcomeApprove, nodes: 4, hardware: "small", solves: 1},
		{name: "a webhook that did not answer", asked: requested(4), hooks: hooks{{Webhook: "cmdb", Ignored: "Ignored."}}, nodes: 4, hardware: "small", solves: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{big: c.big}
			s := apppolicy.New(apppolicy.Config{Policies: cel.New(), Webhooks: &c.hooks})
			d, facts, err := s.Evaluate(t.Context(), apppolicy.Evaluation{Policies: c.policies, Facts: c.asked, Solve: w.solve(c.asked)})
			if err != nil {
				t.Fatal(err)
			}
			if c.outcome == "" {
				c.outcome = apppolicy.OutcomeAccept
			}
			if c.lease == 0 {
				c.lease = 24 * time.Hour
			}
			if d.Outcome != c.outcome || changesText(d) != c.changes || facts.Nodes != c.nodes || facts.Hardware[0] != c.hardware || d.Lease != c.lease ||
				w.solves != c.solves || !strings.Contains(d.Reason, c.says) {
				t.Errorf("%s (%s), changes %q, %d nodes of %v, lease %s, solved %d times", d.Outcome, d.Reason, changesText(d), facts.Nodes, facts.Hardware,
					d.Lease, w.solves)
			}
		})
	}
}

func TestOnlyNewClustersAndResizesAreChanged(t *testing.T) {
	all := []apppolicy.Policy{sets("a", 1, "true", apppolicy.Set{Size: "2", Hardware: `"small"`, Provider: `"other"`, Lease: `duration("1h")`}), capped("b", 2, `duration("1h")`)}
	for kind, want := range map[app.OperationKind]string{
		app.OperationCreate: "a size 4 → 2; a hardware large → small; a provider cloud → other; a lease 1 d → 1 h",
		app.OperationResize: "a size 4 → 2; a hardware large → small", app.OperationRestart: "", app.OperationSleep: "", app.OperationUpgrade: ""} {
		f := requested(4, "large")
		f.Kind = kind
		w := &world{}
		d, _, err := apppolicy.New(apppolicy.Config{Policies: cel.New()}).Evaluate(t.Context(), apppolicy.Evaluation{Policies: all, Facts: f, Solve: w.solve(f)})
		if err != nil || changesText(d) != want || d.Outcome != apppolicy.OutcomeAccept {
			t.Errorf("%s: %q, %v", kind, changesText(d), err)
		}
		if d, _, _ := apppolicy.New(apppolicy.Config{Policies: cel.New()}).Evaluate(t.Context(), apppolicy.Evaluation{Policies: all, Facts: f, Solve: w.solve(f),
			Fixed: []apppolicy.Field{apppolicy.FieldSize}}); strings.Contains(changesText(d), "size") {
			t.Errorf("%s: what is fixed changes: %q", kind, changesText(d))
		}
	}
}

func TestAnImpossibleChangeNamesItsPolicy(t *testing.T) {
	w := &world{fails: func(f apppolicy.Fields) error {
		if f.Hardware == "huge" {
			return app.Errorf(app.EInvalid, "Template web doesn't allow huge.")
		}
		return nil
	}}
	for name, policies := range map[string][]apppolicy.Policy{
		"before": {sets("gold", 1, "true", apppolicy.Set{Hardware: `"huge"`})}, "after": {sets("gold", 1, "cost_per_hour > 1", apppolicy.Set{Hardware: `"huge"`})}} {
		f := requested(4, "small")
		_, _, err := apppolicy.New(apppolicy.Config{Policies: cel.New()}).Evaluate(t.Context(), apppolicy.Evaluation{Policies: policies, Facts: f, Solve: w.solve(f)})
		if e := app.AsError(err); e.Code != app.EForbidden || e.Reason != "policy" || e.Message != "Policy gold: hardware small → huge. says gold. The changed request isn't possible: Template web doesn't allow huge." {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := requested(4, "huge")
	if _, _, err := apppolicy.New(apppolicy.Config{Policies: cel.New()}).Evaluate(t.Context(),
		apppolicy.Evaluation{Facts: f, Solve: w.solve(f)}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("without a policy: %v", err)
	}
}

// Whatever policies and webhooks there are: no result is larger than a cap that holds for all, it is the same every time, and a layout is solved
// at most twice, and once where nothing changed.
func TestChangesAreBoundedAndDeterministic(t *testing.T) {
	engine := cel.New()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 24))
		limit := 1 + r.IntN(6)
		policies := []apppolicy.Policy{sets("limit", 100, "true", apppolicy.Set{Size: fmt.Sprintf("min(nodes, %d)", limit)}), capped("short", 101, `duration("8h")`)}
		for i := range r.IntN(4) {
			when := []string{"true", "cost_per_hour > 5", "nodes > 3", `"large" in hardware`, `provider == "cloud"`}[r.IntN(5)]
			set := []apppolicy.Set{{Size: fmt.Sprint(1 + r.IntN(9))}, {Hardware: `["medium", "large"]`}, {Hardware: `"large"`}, {Provider: `"other"`}, {Lease: `duration("48h")`}}[r.IntN(5)]
			policies = append(policies, sets(fmt.Sprintf("p%d", i), r.IntN(90), when, set))
		}
		var answers hooks
		if r.IntN(2) == 0 {
			answers = hooks{{Webhook: "cmdb", Set: apppolicy.Values{Size: r.IntN(12), Lease: time.Duration(r.IntN(100)) * time.Hour}}}
		}
		apppolicy.SortPolicies(policies)
		f := requested(1+r.IntN(9), [][]string{nil, {"small"}, {"large"}}[r.IntN(3)]...)
		evaluate := func() (apppolicy.Decision, apppolicy.Input, *world) {
			w := &world{big: seed%2 == 0}
			d, facts, err := apppolicy.New(apppolicy.Config{Policies: engine, Webhooks: &answers}).Evaluate(t.Context(),
				apppolicy.Evaluation{Policies: policies, Facts: f, Solve: w.solve(f)})
			if err != nil {
				t.Fatal(err)
			}
			return d, facts, w
		}
		d, facts, w := evaluate()
		if again, _, _ := evaluate(); !reflect.DeepEqual(d, again) {
			t.Fatalf("seed %d: %+v and then %+v", seed, d, again)
		}
		if d.Outcome != apppolicy.OutcomeRefuse && (facts.Nodes > limit || d.Lease > 8*time.Hour || d.Lease == 0) {
			t.Errorf("seed %d: %d nodes of at most %d, for %s: %s", seed, facts.Nodes, limit, d.Lease, changesText(d))
		}
		if w.solves > 2 || w.solves > 1 && len(d.Changes) == 0 {
			t.Errorf("seed %d: solved %d times for %q", seed, w.solves, changesText(d))
		}
	}
}
