package cluster

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"muster/app"
	"muster/app/humanize"
	"muster/app/policy"
	planpage "muster/portal/plan"
)

// share is the address of the form with its current values, for someone else to open. Template defaults and secrets are left
// out.
func (n *Form) share() string {
	v, t := &n.View, n.View.Template
	if t == nil {
		return ""
	}
	q := url.Values{"template": {t.Name}}
	for key, value := range map[string]string{
		"name": v.Name, "size": v.Size, "provider": v.Provider, "hardware": v.Hardware, "image": v.Image, "prefer": v.Prefer, "lease": v.Lease,
		"keep_failed": v.KeepFailed,
		"on_failure":  v.OnFailure, "min_available": v.MinAvailable, "visibility": v.Visibility, "group": v.Group, "description": v.Description,
	} {
		if value != "" {
			q.Set(key, value)
		}
	}
	n.sharePlaces(q)
	if v.Labels != labelsAsked(t) {
		q.Set("labels", v.Labels)
	}
	if !SameNames(v.Services, t.Defaults.Services) {
		q["services"] = v.Services
		if len(v.Services) == 0 {
			q["services"] = []string{""}
		}
	}
	for _, f := range v.Parameters {
		if !f.Secret && f.Typed() {
			q.Set(f.Field(), f.Shared())
		}
	}
	return "/clusters/new?" + q.Encode()
}

// summary lists the errors of a submitted form, in the form's order.
func (n *Form) summary() (list []FieldError) {
	titles := map[string]string{"template": "Template", "name": "Name", "size": "Nodes", "services": "Services", "provider": "Provider", "hardware": "Hardware",
		"image": "Image", "prefer": "Placement", "lease": "Lease", "on_failure": "On failure", "min_available": "Minimum available", "visibility": "Visibility", "group": "Owner group",
		"keep_failed": "Failed machines", "description": "Description", "labels": "Labels", "places": "Places", "place_order": "Order"}
	order := slices.Clone(fields[:3])
	for _, f := range n.View.Parameters {
		order = append(order, f.Field())
		titles[f.Field()] = f.Title()
	}
	for _, field := range append(order, fields[3:]...) {
		if c, is := n.View.Errors[field]; is {
			list = append(list, FieldError{Field: field, Title: titles[field], Message: c.Message})
		}
	}
	return list
}

// weighQuota sets the actor's remaining quota, and what the cluster would use of it.
func (p *creates) weighQuota(r *http.Request, a app.Actor, n *Form) {
	n.View.Left = p.quota.Left(r, a)
	v := n.View.Preview
	if v == nil || len(n.View.Left) == 0 {
		return
	}
	n.View.Adds = policy.Amounts{Clusters: 1, Nodes: float64(v.Layout.Size()), PerHour: v.Layout.CostPerHour}
	for _, g := range v.Layout.Groups {
		if h := n.Catalog.Hardware[g.Hardware]; h != nil {
			n.View.Adds.CPU += h.Providers[v.Layout.Provider].CPU * float64(g.Count)
		}
	}
	taken := policy.Reservation{CostPerHour: v.Layout.CostPerHour}
	if v.Lease > 0 {
		taken.Until = p.Now().Add(v.Lease)
	}
	n.View.Adds.PerMonth = taken.Commits(p.Now())
	n.View.Fit = n.fits(v.Layout.Size())
}

// fits links to the form with as many nodes as the quota allows, if these are too many. It assumes that all nodes cost the same;
// the page it links to checks.
func (n *Form) fits(size int) *planpage.Fix {
	most := float64(size)
	for _, l := range n.View.Left {
		if add := n.View.Adds.Of(l.Measure); add > l.Remaining*(1+1e-9)+1e-9 {
			most = min(most, float64(size)*l.Remaining/add)
		}
	}
	fit := int(most)
	if t := n.View.Template; fit == size || !t.Constraints.Size.Allows(fit) {
		return nil
	}
	smaller := *n
	smaller.View.Size = strconv.Itoa(fit)
	return &planpage.Fix{Text: "Use " + humanize.Count(fit, "node") + " instead of " + strconv.Itoa(size), Link: smaller.share()}
}
