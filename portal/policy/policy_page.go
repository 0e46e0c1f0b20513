package policy

import (
	"strconv"
	"time"

	"muster/app/humanize"
	"muster/app/policy"
	"muster/portal/page"
)

// List is the page of policies, in the order of evaluation.
type List struct {
	Policies []policy.Policy
	Zone     string
	Edit     bool // the reader can change them
	Zoned    page.Complaint
}

// Edit is the page on which a policy is written and tested.
type Edit struct {
	New      bool
	Edit     bool // the reader can change it
	Name     string
	Form     Form
	Versions []policy.Policy
	Words    []policy.Variable
	Errors   map[string]page.Complaint
	Trial    *policy.TrialResult
	Now      time.Time
}

// Form is the input as typed.
type Form struct {
	Name, About, Order, When, Effect, Reason, LeaseCap, Version string
	Enabled                                                     bool
	Count, Group, Role, Expire, Remind, Escalate, EscalateTo    string
	BreakGlass                                                  string
	High                                                        bool
	// The sample request.
	User, UserRole, Groups, Template, Nodes, CPU, CostPerHour, Lease, Provider, Past string
}

// newForm is the form of a policy.
func newForm(p policy.Policy) Form {
	f := Form{Name: p.Name, About: p.About, Order: strconv.Itoa(p.Order), When: p.When, Effect: string(p.Effect), Reason: p.Reason, LeaseCap: p.LeaseCap,
		Version: strconv.Itoa(p.Version), Enabled: p.Enabled, Count: "1"}
	if a := p.Approval; a != nil {
		f.Count, f.Group, f.Role, f.High = strconv.Itoa(a.Count), a.Group, string(a.Role), a.High
		f.Expire, f.Remind, f.Escalate, f.EscalateTo, f.BreakGlass = spanField(a.ExpireAfter), spanField(a.RemindAfter), spanField(a.EscalateAfter), a.EscalateTo, a.BreakGlass
	}
	f.UserRole, f.Nodes, f.CostPerHour, f.Lease = "user", "10", "1.00", "8h"
	return f
}

// spanField writes a duration as a form takes it, "" for none.
func spanField(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return humanize.DurationField(d)
}

// Error returns the error of a field, if any.
func (e Edit) Error(field string) page.Complaint { return e.Errors[field] }

// Effects are the effects of policies, with their labels.
var Effects = []page.Choice{
	{Value: "refuse", Label: "Refuse", Help: "Reject the request with the reason below"},
	{Value: "approve", Label: "Require approval", Help: "Wait until enough people approve"},
	{Value: "rewrite", Label: "Cap the lease", Help: "Shorten the lease to the cap below"},
	{Value: "allow", Label: "Allow", Help: "Skip all policies below"},
}

// policyLine describes a policy in a line.
func policyLine(p policy.Policy) string {
	switch p.Effect {
	case policy.EffectApprove:
		if p.Approval != nil {
			return "requires " + policy.RequiredApproval{Approval: *p.Approval}.Text()
		}
	case policy.EffectRewrite:
		return "caps the lease at " + p.LeaseCap
	case policy.EffectRefuse:
		return "refuses: " + p.Reason
	case policy.EffectAllow:
		return "allows and skips all policies below"
	}
	return string(p.Effect)
}

// effectWord is an effect as a state in the list: "requires approval".
func effectWord(e policy.Effect) string {
	switch e {
	case policy.EffectRefuse:
		return "refuses"
	case policy.EffectApprove:
		return "requires approval"
	case policy.EffectRewrite:
		return "caps lease"
	case policy.EffectAllow:
		return "allows"
	}
	return string(e)
}

func policyPath(name string) string { return "/admin/policies/" + name }
