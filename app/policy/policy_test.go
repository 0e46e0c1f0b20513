package policy_test

import (
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/policy"
)

func TestPolicyTrialsUsePastRequests(t *testing.T) {
	b := harness.New(t)
	ada := b.Actor("ada", app.RoleUser)
	for i := range 6 {
		b.Ask(ada, harness.Asks(fmt.Sprintf("web%d", i), i+1, time.Hour))
	}
	draft := policy.Policy{Name: "small", Order: 1, Enabled: true, When: "nodes > 4", Effect: policy.EffectRefuse, Reason: "Too many."}
	admin := b.Actor("boss", app.RoleAdmin)
	made := policy.Input{User: "eve", Nodes: 9}
	trial, err := b.Services.Policy.Policies.TryPolicy(t.Context(), admin, policy.TrialRequest{Policy: draft, Facts: &made})
	if err != nil || trial.Requests != 6 || trial.Otherwise != 2 || len(trial.Cases) != 2 || trial.Cases[0].Old.Text() != "accept" || trial.Cases[0].New.Text() != "refuse: Too many." {
		t.Fatalf("%+v, %v", trial, err)
	}
	if trial.Now.Outcome != policy.OutcomeAccept || trial.Then.Outcome != policy.OutcomeRefuse {
		t.Errorf("the one that was made up: %+v, then %+v", trial.Now, trial.Then)
	}
	b.Rules(draft)
	if trial, err = b.Services.Policy.Policies.TryPolicy(t.Context(), admin, policy.TrialRequest{Policy: draft, Remove: true, Past: 3}); err != nil || trial.Requests != 3 || trial.Otherwise != 2 {
		t.Errorf("without it: %+v, %v", trial, err)
	}
	draft.When = "nodes >"
	if _, err = b.Services.Policy.Policies.TryPolicy(t.Context(), admin, policy.TrialRequest{Policy: draft}); app.AsError(err).Field != "when" {
		t.Errorf("half an expression: %v", err)
	}
	if _, err = b.Services.Policy.Policies.TryPolicy(t.Context(), ada, policy.TrialRequest{Policy: draft}); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a user tries: %v", err)
	}
}

func TestPoliciesKeepTheirVersions(t *testing.T) {
	b := harness.New(t)
	admin := b.Actor("boss", app.RoleAdmin)
	save := func(p policy.Policy) (policy.Policy, error) {
		return b.Services.Policy.Policies.SavePolicy(t.Context(), admin, p)
	}
	one, err := save(harness.FourEyes)
	if err != nil || one.Version != 1 || one.SavedBy != "boss" {
		t.Fatalf("%+v, %v", one, err)
	}
	two := one
	two.When = "nodes > 5"
	if two, err = save(two); err != nil || two.Version != 2 {
		t.Fatalf("%+v, %v", two, err)
	}
	if _, err := save(one); app.AsError(err).Reason != "version" {
		t.Errorf("an old version is saved: %v", err)
	}
	if err := b.Services.Policy.Policies.DeletePolicy(t.Context(), admin, one.Name); err != nil {
		t.Fatal(err)
	}
	if err := b.Services.Policy.Policies.DeletePolicy(t.Context(), admin, one.Name); app.CodeOf(err) != app.ENotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if list, err := b.Services.Policy.Policies.PolicyList(t.Context(), admin); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if four, err := save(harness.FourEyes); err != nil || four.Version != 4 {
		t.Errorf("%+v, %v", four, err)
	}
	all, err := b.Services.Policy.Policies.Policy(t.Context(), admin, one.Name)
	if err != nil || len(all) != 4 || !all[1].Deleted || all[2].When != "nodes > 5" || all[3].When != "nodes > 3" {
		t.Errorf("%+v, %v", all, err)
	}
	for name, p := range map[string]policy.Policy{
		"name":                  {Name: "Not So", When: "true", Effect: policy.EffectAllow},
		"when":                  {Name: "a", Effect: policy.EffectAllow},
		"effect":                {Name: "a", When: "true", Effect: "bless"},
		"reason":                {Name: "a", When: "true", Effect: policy.EffectRefuse},
		"set":                   {Name: "a", When: "true", Effect: policy.EffectRewrite},
		"approval":              {Name: "a", When: "true", Effect: policy.EffectApprove},
		"approval.count":        {Name: "a", When: "true", Effect: policy.EffectApprove, Approval: &policy.Approval{}},
		"approval.role":         {Name: "a", When: "true", Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1, Role: app.RoleViewer}},
		"approval.escalate_to":  {Name: "a", When: "true", Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1, EscalateAfter: time.Hour}},
		"approval.expire_after": {Name: "a", When: "true", Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1, ExpireAfter: time.Second}},
	} {
		if _, err := save(p); app.AsError(err).Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWeekdaysGoByTheTenantsZone(t *testing.T) {
	b := harness.New(t)
	admin := b.Actor("boss", app.RoleAdmin)
	if err := b.Services.Policy.Policies.SetPolicyZone(t.Context(), admin, "Mars/Olympus"); app.AsError(err).Field != "time_zone" {
		t.Errorf("an unknown tenant's zone: %v", err)
	}
	if err := b.Services.Policy.Policies.SetPolicyZone(t.Context(), admin, "Pacific/Kiritimati"); err != nil {
		t.Fatal(err)
	}
	hour := b.Clock.Now().In(harness.Must(time.LoadLocation("Pacific/Kiritimati"))).Hour()
	b.Rules(policy.Policy{Name: "now", Order: 1, Enabled: true, When: fmt.Sprintf(`hour == %d`, hour), Effect: policy.EffectRefuse, Reason: "Not at ${hour}."})
	if _, err := b.Services.Cluster.Creates.Ask(t.Context(), admin, harness.Asks("web", 1, 0)); app.AsError(err).Reason != "policy" {
		t.Errorf("%v", err)
	}
}
