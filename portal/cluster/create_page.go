package cluster

import (
	"slices"

	"muster/app/policy"
	apptemplate "muster/app/template"
	"muster/portal/page"
	"muster/portal/plan"
	"muster/portal/quota"
	"muster/portal/template"
)

// Create is the form for a new cluster, with what was typed so far and, once it makes sense, the preview.
type Create struct {
	Templates []*apptemplate.Template
	Template  *apptemplate.Template // the chosen one; nil where there is none

	// What was typed, as it was typed.
	Name, Size, Provider, Hardware, Image, Prefer, Lease, OnFailure, AtLeast string
	Services                                                                 []string

	Parameters []template.ParameterField // of the template, with what was typed

	// What may be chosen.
	Providers, Hardwares, Images, AllServices, Prefers, Leases, OnFailures []page.Choice
	Visibility, Group                                                      string
	Visibilities, Groups                                                   []page.Choice // Groups is nil where there is none to choose

	// Errors by field. The key "" is for what fits no field.
	Errors  map[string]page.Complaint
	Notice  string // said above the preview, such as that the plan has changed
	Preview *plan.Preview
	Open    bool // the advanced part is unfolded

	Link    string         // to the form as it is filled in
	Summary []FieldError   // what is to be put right, of a form that was sent
	Adds    policy.Amounts // what the cluster would take of quotas
	Fit     *plan.Fix      // what the quota leaves room for, where that is less

	Explanation *plan.Explanation  // why there is no preview; nil where that is not known
	Left        []policy.QuotaLine // what is left for the actor, the tightest limit of each measure
}

// FieldError is what is wrong with a field, for the list above a form.
type FieldError struct{ Field, Title, Message string }

// foldTemplates is from how many templates on the choice is folded behind the chosen one.
const foldTemplates = 6

// others are the templates beside the chosen one.
func (f Create) others() (list []*apptemplate.Template) {
	for _, t := range f.Templates {
		if t != f.Template {
			list = append(list, t)
		}
	}
	return list
}

// quotaChange is a limit before and after.
type quotaChange struct {
	quota.Bar
	After float64
}

// changes are the limits that apply, with what the cluster would take of each.
func (f Create) changes() (list []quotaChange) {
	for _, l := range f.Left {
		list = append(list, quotaChange{quota.Bar{Measure: l.Measure, Used: l.Used, Limit: l.Limit}, l.Used + f.Adds.Of(l.Measure)})
	}
	return list
}

// Over tells whether the limit would be broken.
func (q quotaChange) Over() bool { return q.After > q.Limit*(1+1e-9)+1e-9 }

// Words say what is used, what would be, and of how much.
func (q quotaChange) Words() string {
	s := quota.Amount(q.Used) + " → " + quota.Amount(q.After) + " of " + quota.Amount(q.Limit)
	if q.Over() {
		s += ", too much"
	}
	return s
}

func (q quotaChange) afterWidth() string { return quota.Bar{Used: q.After, Limit: q.Limit}.Width() }

// Error returns the complaint about a field, empty where there is none.
func (f Create) Error(field string) page.Complaint { return f.Errors[field] }

// SizeHint says how many nodes the template allows.
func (f Create) SizeHint() string {
	if f.Template == nil {
		return ""
	}
	return page.Sizes(f.Template.Constraints.Size)
}

// has tells whether a service is ticked.
func (f Create) has(service string) bool { return slices.Contains(f.Services, service) }
