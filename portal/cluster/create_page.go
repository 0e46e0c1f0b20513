package cluster

import (
	"maps"
	"slices"

	"muster/app/humanize"
	"muster/app/policy"
	apptemplate "muster/app/template"
	"muster/portal/page"
	"muster/portal/plan"
	"muster/portal/quota"
	"muster/portal/template"
)

// Create is the form for a new cluster with what was typed so far and, once it's valid, the preview.
type Create struct {
	Templates []*apptemplate.Template
	Template  *apptemplate.Template // the chosen one; nil for none

	// The fields, as typed.
	Name, Size, Provider, Hardware, Image, Prefer, Lease, OnFailure, MinAvailable, KeepFailed string
	Services                                                                                  []string

	Parameters []template.ParameterField // the template's, as typed

	Description, Labels string // labels are a line each

	// The options.
	Providers, Hardwares, Images, AllServices, Prefers, Leases, OnFailures, KeepFaileds []page.Choice
	Visibility, Group                                                                   string
	Visibilities, Groups                                                                []page.Choice // Groups is nil if there are none to choose

	// The places to try besides the chosen provider and hardware.
	AlsoAt, AlsoHardware, Orders []page.Choice
	Also, AlsoKinds              []string
	Order                        string

	ProviderFields []providerFields // what users can set of providers

	// Errors by field. The key "" is for errors of no field.
	Errors  map[string]page.Complaint
	Notice  string // shown above the preview, such as that the plan has changed
	Preview *plan.Preview
	Open    bool // the advanced part is unfolded

	Link    string         // to the form with its current values
	Summary []FieldError   // the errors of a submitted form
	Adds    policy.Amounts // what the cluster would add to quota usage
	Fit     *plan.Fix      // the size that the quota allows, if smaller

	Explanation *plan.Explanation  // why there is no preview; nil if unknown
	LeftLater   string             // where a script loads it from after the page; "" where it's known
	Left        []policy.QuotaLine // the actor's remaining quota, by the tightest limit of each measure
}

// FieldError is the error of a field, for the list above a form.
type FieldError struct{ Field, Title, Message string }

// foldTemplates is the number of templates above which the others are folded behind the chosen one.
const foldTemplates = 6

// others are the templates besides the chosen one.
func (f Create) others() (list []*apptemplate.Template) {
	for _, t := range f.Templates {
		if t != f.Template {
			list = append(list, t)
		}
	}
	return list
}

// quotaChange is the usage of a limit before and after.
type quotaChange struct {
	quota.Bar
	After float64
}

// changes are the limits that apply, with the usage that the cluster would add.
func (f Create) changes() (list []quotaChange) {
	for _, l := range f.Left {
		list = append(list, quotaChange{quota.Bar{Measure: l.Measure, Used: l.Used, Limit: l.Limit, Currency: l.Currency}, l.Used + f.Adds.Of(l.Measure)})
	}
	return list
}

// Over reports whether the limit would be exceeded.
func (q quotaChange) Over() bool { return q.After > q.Limit*(1+1e-9)+1e-9 }

// Text states usage before and after, and the limit.
func (q quotaChange) Text() string {
	s := q.Amount(q.Used) + " → " + q.Amount(q.After) + " of " + q.Amount(q.Limit)
	if q.Over() {
		s += ", over the limit"
	}
	return s
}

func (q quotaChange) afterWidth() string { return quota.Bar{Used: q.After, Limit: q.Limit}.Width() }

// Error returns the error of a field; empty for none.
func (f Create) Error(field string) page.Complaint { return f.Errors[field] }

// SizeHint states how many nodes the template allows.
func (f Create) SizeHint() string {
	if f.Template == nil {
		return ""
	}
	return page.Sizes(f.Template.Constraints.Size)
}

// needsLabels reports whether the template requires labels, so that their field is not folded away.
func (f Create) needsLabels() bool {
	return f.Template != nil && f.Template.Labels != nil && len(f.Template.Labels.Required) > 0
}

// LabelHint says what labels are for, and which ones the template requires.
func (f Create) LabelHint() string {
	hint := "One per line, as key=value. Machines carry them as tags."
	if f.needsLabels() {
		hint += " Required: " + humanize.And(slices.Sorted(maps.Keys(f.Template.Labels.Required))) + "."
	}
	return hint
}

// has reports whether a service is selected.
func (f Create) has(service string) bool { return slices.Contains(f.Services, service) }
