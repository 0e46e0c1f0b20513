package policy

import (
	"strconv"
	"time"

	"muster/app/policy"
	"muster/portal/page"
)

// List is the page of policies, in the order in which they are looked at.
type List struct {
	Policies []policy.Policy
	Zone     string
	Edit     bool // the reader may change them
	Zoned    page.Complaint
}

// Edit is the page on which a policy is written and tried.
type Edit struct {
	New      bool
	Edit     bool // the reader may change it
	Name     string
	Form     Form
	Versions []policy.Policy
	Words    []policy.PolicyWord
	Errors   map[string]page.Complaint
	Trial    *policy.Trial
	Now      time.Time
}

// Form is what was typed, as it was typed.
type Form struct {
	Name, About, Order, When, Effect, Reason, LeaseCap, Version string
	Enabled                                                     bool
	Count, Group, Role, Expire, Remind, Escalate, EscalateTo    string
	BreakGlass                                                  string
	High                                                        bool
	// The made-up request.
	User, UserRole, Groups, Template, Nodes, CPU, CostPerHour, Lease, Provider, Past string
}

// newForm fills the form in with a policy.
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

// spanField writes a duration as one would type it.
func spanField(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d%(24*time.Hour) == 0:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return d.String()
}

// Error returns the complaint about a field, empty where there is none.
func (e Edit) Error(field string) page.Complaint { return e.Errors[field] }

// Effects are what a policy can do, with a word for each.
var Effects = []page.Choice{
	{Value: "refuse", Label: "Refuse", Help: "with the reason below"},
	{Value: "approve", Label: "Want approval", Help: "people have to say yes first"},
	{Value: "rewrite", Label: "Cap the lease", Help: "and tell who asked"},
	{Value: "allow", Label: "Allow", Help: "nothing after it is looked at"},
}

// policyLine says what a policy does, in a line.
func policyLine(p policy.Policy) string {
	switch p.Effect {
	case policy.PolicyApprove:
		if p.Approval != nil {
			return "wants " + policy.Need{Approval: *p.Approval}.Words()
		}
	case policy.PolicyRewrite:
		return "caps the lease at " + p.LeaseCap
	case policy.PolicyRefuse:
		return "refuses: " + p.Reason
	case policy.PolicyAllow:
		return "allows; nothing after it is looked at"
	}
	return string(p.Effect)
}

func policyPath(name string) string { return "/admin/policies/" + name }
