package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"muster/app"
	clusterpage "muster/portal/cluster"
	"muster/portal/page"
	planpage "muster/portal/plan"
)

// share is the address of the form as it is filled in, for somebody else to open. What is as the template has it is left out, and
// what is secret.
func (n *clusterForm) share() string {
	v, t := &n.view, n.view.Template
	if t == nil {
		return ""
	}
	q := url.Values{"template": {t.Name}}
	for key, value := range map[string]string{
		"name": v.Name, "size": v.Size, "provider": v.Provider, "hardware": v.Hardware, "image": v.Image, "prefer": v.Prefer, "lease": v.Lease,
		"on_failure": v.OnFailure, "at_least": v.AtLeast, "visibility": v.Visibility, "group": v.Group,
	} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if !sameNames(v.Services, t.Defaults.Services) {
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

// summary lists what is to be put right, in the order of the form, for those who have sent it.
func (n *clusterForm) summary() (list []clusterpage.FieldError) {
	titles := map[string]string{"template": "Template", "name": "Name", "size": "Nodes", "services": "Services", "provider": "Provider", "hardware": "Hardware",
		"image": "Image", "prefer": "Prefer", "lease": "Lease", "on_failure": "If it fails", "at_least": "Go on with at least", "visibility": "Who can see it", "group": "Owned together with"}
	order := slices.Clone(fields[:3])
	for _, f := range n.view.Parameters {
		order = append(order, f.Field())
		titles[f.Field()] = f.Title()
	}
	for _, field := range append(order, fields[3:]...) {
		if c, is := n.view.Errors[field]; is {
			list = append(list, clusterpage.FieldError{Field: field, Title: titles[field], Message: c.Message})
		}
	}
	return list
}

// weighQuota says what is left for the actor, and what the cluster would take of it.
func (p *Portal) weighQuota(r *http.Request, a app.Actor, n *clusterForm) {
	n.view.Left = p.quotaLeft(r, a)
	v := n.view.Preview
	if v == nil || len(n.view.Left) == 0 {
		return
	}
	n.view.Adds = app.Amounts{Clusters: 1, Nodes: float64(v.Layout.Size()), PerHour: v.Layout.CostPerHour}
	for _, g := range v.Layout.Groups {
		if h := n.catalog.Hardware[g.Hardware]; h != nil {
			n.view.Adds.CPU += h.Providers[v.Layout.Provider].CPU * float64(g.Count)
		}
	}
	taken := app.Reservation{CostPerHour: v.Layout.CostPerHour}
	if v.Lease > 0 {
		taken.Until = p.now().Add(v.Lease)
	}
	n.view.Adds.PerMonth = taken.Commits(p.now())
	n.view.Fit = n.fits(v.Layout.Size())
}

// fits leads to the form with as many nodes as the quota leaves room for, where these are too many; what each costs is taken to be
// the same. The page that it leads to says how it really is.
func (n *clusterForm) fits(size int) *planpage.Fix {
	most := float64(size)
	for _, l := range n.view.Left {
		if add := n.view.Adds.Of(l.Measure); add > l.Left*(1+1e-9)+1e-9 {
			most = min(most, float64(size)*l.Left/add)
		}
	}
	fit := int(most)
	if t := n.view.Template; fit == size || !t.Constraints.Size.Allows(fit) {
		return nil
	}
	smaller := *n
	smaller.view.Size = strconv.Itoa(fit)
	return &planpage.Fix{Text: page.Count(fit, "node") + " instead of " + strconv.Itoa(size), Link: smaller.share()}
}
