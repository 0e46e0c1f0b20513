package policy

import (
	"strconv"
	"strings"
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
	SetSize, SetHardware, SetProvider, SetLease, SetLabels      string
	Enabled                                                     bool
	Count, Group, Role, Expire, Remind, Escalate, EscalateTo    string
	BreakGlass                                                  string
	High                                                        bool
	// The sample request.
	User, UserRole, Groups, Template, Nodes, CPU, CostPerHour, Lease, Provider, Hardware, Past string
}

// newForm is the form of a policy.
func newForm(p policy.Policy) Form {
	f := Form{Name: p.Name, About: p.About, Order: strconv.Itoa(p.Order), When: p.When, Effect: string(p.Effect), Reason: p.Reason, LeaseCap: p.LeaseCap,
		Version: strconv.Itoa(p.Version), Enabled: p.Enabled, Count: "1"}
	if p.Set != nil {
		f.SetSize, f.SetHardware, f.SetProvider, f.SetLease = p.Set.Size, p.Set.Hardware, p.Set.Provider, p.Set.Lease
		f.SetLabels = p.Set.Labels
	}
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

// changesWrong reports whether one of the changes has an error.
func (e Edit) changesWrong() bool {
	for _, field := range []string{"set", "lease_cap", "set_size", "set_hardware", "set_provider", "set_lease", "set_labels"} {
		if e.Error(field).Message != "" {
			return true
		}
	}
	return false
}

// Effects are the effects of policies, with their labels.
var Effects = []page.Choice{
	{Value: "refuse", Label: "Refuse", Help: "Reject the request with the reason below"},
	{Value: "approve", Label: "Require approval", Help: "Wait until enough people approve"},
	{Value: "rewrite", Label: "Change the request", Help: "Set or cap size, hardware, provider or lease, or add labels, as below"},
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
		return rewriteLine(p)
	case policy.EffectRefuse:
		return "refuses: " + p.Reason
	case policy.EffectAllow:
		return "allows and skips all policies below"
	}
	return string(p.Effect)
}

// rewriteLine says what a policy changes: "sets size to min(nodes, 5), caps the lease at duration("8h")".
func rewriteLine(p policy.Policy) string {
	var parts []string
	for _, f := range p.Set.Fields() {
		if *f.Text != "" {
			parts = append(parts, "sets "+string(f.Field)+" to "+*f.Text)
		}
	}
	if p.LeaseCap != "" {
		parts = append(parts, "caps the lease at "+p.LeaseCap)
	}
	if p.Approval != nil {
		parts = append(parts, "requires "+policy.RequiredApproval{Approval: *p.Approval}.Text())
	}
	return strings.Join(parts, ", ")
}

// effectWord is an effect as a state in the list: "requires approval".
func effectWord(e policy.Effect) string {
	switch e {
	case policy.EffectRefuse:
		return "refuses"
	case policy.EffectApprove:
		return "requires approval"
	case policy.EffectRewrite:
		return "changes requests"
	case policy.EffectAllow:
		return "allows"
	}
	return string(e)
}

func policyPath(name string) string { return "/admin/policies/" + name }
