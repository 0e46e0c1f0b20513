package policy_test

import (
	"strings"
	"testing"
	"time"

	apppolicy "muster/app/policy"
	"muster/app/policy/cel"
)

func rule(name string, order int, effect apppolicy.Effect, when string) apppolicy.Policy {
	p := apppolicy.Policy{Name: name, Order: order, Enabled: true, Effect: effect, When: when, Version: 1, Reason: "says " + name}
	switch effect {
	case apppolicy.EffectRewrite:
		p.LeaseCap = `duration("8h")`
	case apppolicy.EffectApprove:
		p.Approval = &apppolicy.Approval{Count: 1, Group: name}
	}
	return p
}

func capped(name string, order int, cap string) apppolicy.Policy {
	p := rule(name, order, apppolicy.EffectRewrite, "true")
	p.LeaseCap = cap
	return p
}

func off(p apppolicy.Policy) apppolicy.Policy {
	p.Enabled = false
	return p
}

// The rule of docs/policies.md: in order; what cannot be evaluated and what refuses ends it, and so does what allows; all
// others add up.
func TestPoliciesAreCombined(t *testing.T) {
	const day = 24 * time.Hour
	allow, refuse, approve := apppolicy.EffectAllow, apppolicy.EffectRefuse, apppolicy.EffectApprove
	for _, c := range []struct {
		name     string
		policies []apppolicy.Policy
		outcome  apppolicy.Outcome
		policy   string        // that refused or allowed
		needs    string        // groups
		lease    time.Duration // afterwards, of a day
		reason   string
	}{
		{"none", nil, apppolicy.OutcomeAccept, "", "", day, ""},
		{"none that applies", []apppolicy.Policy{rule("a", 1, refuse, "nodes > 100")}, apppolicy.OutcomeAccept, "", "", day, ""},
		{"one that is off", []apppolicy.Policy{off(rule("a", 1, refuse, "true"))}, apppolicy.OutcomeAccept, "", "", day, ""},
		{"one that is off and broken", []apppolicy.Policy{off(rule("a", 1, refuse, "nodes / 0 == 1"))}, apppolicy.OutcomeAccept, "", "", day, ""},
		{"a refusal", []apppolicy.Policy{rule("a", 1, refuse, "true")}, apppolicy.OutcomeRefuse, "a", "", day, "says a"},
		{"the first refusal tells why", []apppolicy.Policy{rule("b", 2, refuse, "true"), rule("a", 1, refuse, "true")}, apppolicy.OutcomeRefuse, "a", "", day, "says a"},
		{"a refusal after an approval wins", []apppolicy.Policy{rule("a", 1, approve, "true"), rule("b", 2, refuse, "true")}, apppolicy.OutcomeRefuse, "b", "", day, "says b"},
		{"a refusal before an allowance wins", []apppolicy.Policy{rule("a", 1, refuse, "true"), rule("b", 2, allow, "true")}, apppolicy.OutcomeRefuse, "a", "", day, "says a"},
		{"an allowance before a refusal wins", []apppolicy.Policy{rule("a", 1, allow, "true"), rule("b", 2, refuse, "true")}, apppolicy.OutcomeAccept, "a", "", day, ""},
		{"an allowance before an approval wins", []apppolicy.Policy{rule("a", 1, allow, "true"), rule("b", 2, approve, "true")}, apppolicy.OutcomeAccept, "a", "", day, ""},
		{"an approval before an allowance is kept", []apppolicy.Policy{rule("a", 1, approve, "true"), rule("b", 2, allow, "true")}, apppolicy.OutcomeApprove, "b", "a", day, ""},
		{"an allowance that does not apply changes nothing", []apppolicy.Policy{rule("a", 1, allow, "nodes > 100"), rule("b", 2, refuse, "true")}, apppolicy.OutcomeRefuse, "b", "", day, "says b"},
		{"approvals add up", []apppolicy.Policy{rule("a", 1, approve, "true"), rule("b", 2, approve, "true")}, apppolicy.OutcomeApprove, "", "a b", day, ""},
		{"the same order goes by name", []apppolicy.Policy{rule("b", 1, refuse, "true"), rule("a", 1, allow, "true")}, apppolicy.OutcomeAccept, "a", "", day, ""},
		{"a cap", []apppolicy.Policy{capped("a", 1, `duration("8h")`)}, apppolicy.OutcomeAccept, "", "", 8 * time.Hour, ""},
		{"the shortest cap", []apppolicy.Policy{capped("a", 1, `duration("8h")`), capped("b", 2, `duration("4h")`), capped("c", 3, `duration("6h")`)}, apppolicy.OutcomeAccept, "", "", 4 * time.Hour, ""},
		{"a cap beyond what was asked", []apppolicy.Policy{capped("a", 1, `duration("48h")`)}, apppolicy.OutcomeAccept, "", "", day, ""},
		{"a later one sees the cap", []apppolicy.Policy{capped("a", 1, `duration("8h")`), rule("b", 2, refuse, `lease > duration("12h")`)}, apppolicy.OutcomeAccept, "", "", 8 * time.Hour, ""},
		{"and its price", []apppolicy.Policy{capped("a", 1, `duration("8h")`), rule("b", 2, approve, `cost > 10`)}, apppolicy.OutcomeAccept, "", "", 8 * time.Hour, ""},
		{"an earlier one does not", []apppolicy.Policy{rule("a", 1, refuse, `lease > duration("12h")`), capped("b", 2, `duration("8h")`)}, apppolicy.OutcomeRefuse, "a", "", day, "says a"},
		{"a cap is kept when something after it allows", []apppolicy.Policy{capped("a", 1, `duration("8h")`), rule("b", 2, allow, "true")}, apppolicy.OutcomeAccept, "b", "", 8 * time.Hour, ""},
		{"what cannot be evaluated refuses, whatever it is for", []apppolicy.Policy{rule("a", 1, allow, "groups[9] == 'x'")}, apppolicy.OutcomeRefuse, "a", "", day, "couldn't be evaluated"},
		{"even what is for approval", []apppolicy.Policy{rule("a", 1, approve, "nodes / 0 == 1"), rule("b", 2, allow, "true")}, apppolicy.OutcomeRefuse, "a", "", day, "Policy a couldn't"},
		{"a cap of nothing refuses", []apppolicy.Policy{capped("a", 1, `duration("0s")`)}, apppolicy.OutcomeRefuse, "a", "", day, "couldn't be evaluated"},
		{"what is behind an allowance is not evaluated", []apppolicy.Policy{rule("a", 1, allow, "true"), rule("b", 2, refuse, "nodes / 0 == 1")}, apppolicy.OutcomeAccept, "a", "", day, ""},
		{"an unknown effect refuses", []apppolicy.Policy{rule("a", 1, "bless", "true")}, apppolicy.OutcomeRefuse, "a", "", day, "unknown effect"},
		{"an approval without approvers refuses", []apppolicy.Policy{{Name: "a", Enabled: true, Effect: approve, When: "true"}}, apppolicy.OutcomeRefuse, "a", "", day, "doesn't name any approvers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			apppolicy.SortPolicies(c.policies)
			d := apppolicy.Decide(t.Context(), cel.New(), c.policies, apppolicy.Input{Nodes: 4, CostPerHour: 1, Lease: day})
			var needs []string
			for _, n := range d.Needs {
				needs = append(needs, n.Group)
			}
			if d.Outcome != c.outcome || d.Policy != c.policy || strings.Join(needs, " ") != c.needs || d.Lease != c.lease || !strings.Contains(d.Reason, c.reason) || (c.reason == "") != (d.Reason == "") {
				t.Errorf("outcome %s by %q (%s), needs %v, lease %s", d.Outcome, d.Policy, d.Reason, needs, d.Lease)
			}
		})
	}
}

func TestInvalidPoliciesAcceptNothing(t *testing.T) {
	d := apppolicy.Decide(t.Context(), nil, []apppolicy.Policy{rule("a", 1, apppolicy.EffectAllow, "true")}, apppolicy.Input{})
	if d.Outcome != apppolicy.OutcomeRefuse {
		t.Errorf("without an engine: %+v", d)
	}
}

func TestALeaseWithoutEndIsCapped(t *testing.T) {
	d := apppolicy.Decide(t.Context(), cel.New(), []apppolicy.Policy{capped("a", 1, `duration("8h")`)}, apppolicy.Input{})
	if d.Lease != 8*time.Hour || len(d.Changes) != 1 || d.Changes[0].From != time.Duration(0) || d.Changes[0].Reason != "says a" {
		t.Errorf("%+v", d)
	}
}
