package cluster

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	appcatalog "muster/app/catalog"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
	"muster/portal/page"
	planpage "muster/portal/plan"
	"muster/portal/policy"
	"muster/portal/quarantine"
	"muster/portal/quota"
	"muster/portal/site"
	templatepage "muster/portal/template"
)

// creates are the form for a new cluster and its preview.
type creates struct {
	*site.Site

	quota  *quota.Service
	policy *policy.Service
}

func (p *creates) routes() []site.Route {
	return []site.Route{
		site.Submit("/clusters", p.Create),
		site.Show("/clusters/new", p.New),
		site.Submit("/clusters/preview", p.Preview),
		site.Redirect("/clusters/preview", "/clusters/new"),
	}
}

func (p *creates) operations() []site.Operation {
	return []site.Operation{
		site.Post("/preview", p.APIPreview, site.About("Preview a new cluster")),
		site.Post("/explain", p.APIExplain, site.About("Explain why a request has no layout, and suggest fixes")),
	}
}

func (p *creates) New(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	ctx := appcatalog.HoldCatalog(r.Context())
	c, err := p.Catalogs.Catalog(ctx, a)
	if err != nil {
		return err
	}
	n := NewClusterForm(c, r.URL.Query(), a.Groups)
	n.providerValues(p.Values, nil, true)
	// The form starts with the smallest size of a template, or with a link's values, so there is a preview to show.
	if err := n.Preview(ctx, p.Creates, a); err != nil {
		return err
	}
	if r.Header.Get("Muster-Part") != "" {
		p.weighQuota(r, a, n)
		p.Render(w, r, http.StatusOK, quotaPart(n.View))
		return nil
	}
	if n.View.Preview != nil && a.May("CreateCluster") && p.quota.Later(r, a) {
		n.View.LeftLater = n.share()
	}
	p.show(w, r, http.StatusOK, n)
	return nil
}

func (p *creates) Preview(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	ctx := appcatalog.HoldCatalog(r.Context())
	c, err := p.Catalogs.Catalog(ctx, a)
	if err != nil {
		return err
	}
	n := NewClusterForm(c, r.PostForm, a.Groups)
	n.providerValues(p.Values, r.PostForm, true)
	if err := n.Preview(ctx, p.Creates, a); err != nil {
		return err
	}
	if r.Header.Get("HX-Request") != "" {
		p.weighQuota(r, a, n)
		n.View.Link = n.share()
		p.Render(w, r, http.StatusOK, CreatePart(n.View, n.changed))
		return nil
	}
	status := http.StatusOK
	if len(n.View.Errors) > 0 {
		status = http.StatusUnprocessableEntity
	}
	p.show(w, r, status, n)
	return nil
}

func (p *creates) show(w http.ResponseWriter, r *http.Request, status int, n *Form) {
	f := p.Frame(r, "New cluster")
	f.At, f.Htmx, f.Styles, f.Scripts = "new", true, []string{"user.css", "plan.css"}, []string{"new.js"}
	if n.View.LeftLater != "" {
		f.Scripts = append(f.Scripts, "home.js")
	} else if f.Actor != nil {
		p.weighQuota(r, *f.Actor, n)
	}
	n.View.Link = n.share()
	if status >= http.StatusBadRequest {
		n.View.Summary = n.summary()
	}
	p.Render(w, r, status, CreatePage(f, n.View))
}

// Form is the form for a new cluster while it's being filled in.
type Form struct {
	Catalog *template.Catalog
	groups  []string // of the actor
	View    Create
	request cluster.CreateRequest
	hash    string // of the plan that was previewed; "" without a preview
	changed bool   // the options belong to another template
}

// NewClusterForm reads what was typed, and sets the options. Nothing typed is lost, even if invalid;
// only the options of another template are reset.
func NewClusterForm(c *template.Catalog, in url.Values, groups []string) *Form {
	n := &Form{Catalog: c, groups: groups, hash: in.Get("plan_hash")}
	v := &n.View
	v.Errors = map[string]page.Complaint{}
	v.Templates = c.Offered()
	v.Template = c.Templates[in.Get("template")]
	if v.Template == nil && len(v.Templates) > 0 {
		if in.Get("template") != "" {
			n.complain("template", page.Complaint{Message: "Template " + strconv.Quote(in.Get("template")) + " doesn't exist.", Hint: "Choose a template below."})
		}
		v.Template = v.Templates[0]
	}
	v.Name = strings.TrimSpace(in.Get("name"))
	v.Size = strings.TrimSpace(in.Get("size"))
	if v.Template == nil {
		return n
	}
	if !in.Has("size") || n.follows(in.Get("options_of")) {
		v.Size = leastSize(v.Template)
	}
	n.options(in)
	n.read()
	return n
}

// follows reports whether to reset the size to the new template's smallest: if it was the smallest of the former template, or if the
// new one doesn't allow it. Other sizes are kept.
func (n *Form) follows(before string) bool {
	t := n.View.Template
	if before == "" || before == t.Name {
		return false
	}
	was := n.Catalog.Templates[before]
	size, err := strconv.Atoi(n.View.Size)
	return err != nil || was != nil && n.View.Size == leastSize(was) || !t.Constraints.Size.Allows(size)
}

// leastSize is the initial value of the size field; "" if a parameter sets the size.
func leastSize(t *template.Template) string {
	if parameterSets(t, "size") {
		return ""
	}
	return strconv.Itoa(t.Constraints.Size.Least())
}

// options sets the options that depend on the template.
func (n *Form) options(in url.Values) {
	v, t := &n.View, n.View.Template
	of := in.Get("options_of")
	n.changed = of != "" && of != t.Name
	typed := of == t.Name
	said := of == "" && in.Get("template") == t.Name // a link, which only has the values that differ
	if typed || said {
		v.Provider, v.Hardware, v.Image, v.Lease = in.Get("provider"), in.Get("hardware"), in.Get("image"), in.Get("lease")
		v.Prefer, v.OnFailure, v.MinAvailable = in.Get("prefer"), in.Get("on_failure"), strings.TrimSpace(in.Get("min_available"))
		v.KeepFailed = in.Get("keep_failed")
		v.Visibility, v.Group = in.Get("visibility"), in.Get("group")
		v.Description = strings.TrimSpace(oneLineEnd(in.Get("description")))
		v.Services = slices.DeleteFunc(slices.Clone(in["services"]), func(s string) bool { return s == "" })
	}
	if !typed && !(said && in.Has("services")) {
		v.Services = slices.Clone(t.Defaults.Services)
	}
	for _, s := range Allowed(n.Catalog.Services, t.Compatibility.Services, t.Defaults.Services) {
		v.AllServices = append(v.AllServices, page.Choice{Value: s, Label: n.Title("service", s), Help: n.Description(s)})
	}
	for _, s := range v.Services[:min(len(v.Services), maxLinked)] {
		if !slices.ContainsFunc(v.AllServices, func(c page.Choice) bool { return c.Value == s }) {
			v.AllServices = append(v.AllServices, page.Choice{Value: s, Label: s + notOffered})
		}
	}
	v.Providers = n.Choices("provider", site.Names(n.Catalog.Providers), t.Defaults.Provider, v.Provider)
	v.Hardwares = n.Choices("hardware", Allowed(n.Catalog.Hardware, t.Compatibility.Hardware, nil), t.Defaults.Hardware, v.Hardware)
	v.Images = n.Choices("image", Allowed(n.Catalog.Images, t.Compatibility.Images, nil), t.Defaults.Image, v.Image)
	v.Prefers, v.OnFailures = preferences(v.Prefer, t.Defaults.Prefer), FailureChoices(v.OnFailure, true, t.PartialResults)
	v.KeepFaileds = quarantine.Choices(v.KeepFailed, keepStandard(t.KeepFailed))
	v.Leases = leases(t.Lease, v.Lease)
	n.placeOptions(in, typed || said)
	v.Visibilities, v.Groups = visibilityChoices(v.Visibility), groupChoices(n.groups, v.Group)
	n.labels(in, typed, said)
	n.parameters(in, typed, said)
	v.Open = (typed || said) && (v.Provider != "" || v.Hardware != "" || v.Image != "" || v.Prefer != "" || v.OnFailure != "" || v.MinAvailable != "" ||
		v.KeepFailed != "" || v.Visibility != "" || v.Group != "" || v.Lease != "" || v.Description != "" || v.Labels != "" && !v.needsLabels() || len(v.Also)+len(v.AlsoKinds) > 0 ||
		!SameNames(v.Services, t.Defaults.Services))
}

// Choices returns the options of a select; the first one leaves the choice to the template.
func (n *Form) Choices(kind string, names []string, standard, chosen string) []page.Choice {
	first := page.Choice{Label: "Any", Chosen: chosen == ""}
	if standard != "" {
		first.Label = n.Title(kind, standard) + " (default)"
	}
	out := []page.Choice{first}
	for _, name := range names {
		if name != standard || name == chosen {
			out = append(out, page.Choice{Value: name, Label: n.Title(kind, name), Chosen: name == chosen})
		}
	}
	return withChosen(out, chosen)
}

// maxLinked limits the values that a link may name besides those offered.
const maxLinked = 200

const notOffered = " (not available)"

// withChosen adds the chosen value if it isn't among the options, so that it isn't lost; its error is shown beside it.
func withChosen(out []page.Choice, chosen string) []page.Choice {
	if chosen == "" || slices.ContainsFunc(out, func(c page.Choice) bool { return c.Value == chosen }) {
		return out
	}
	return append(out, page.Choice{Value: chosen, Label: chosen + notOffered, Chosen: true})
}

// read fills the request, and notes errors.
func (n *Form) read() {
	v, t := &n.View, n.View.Template
	n.request = cluster.CreateRequest{Name: v.Name, PlanHash: n.hash}
	n.request.Template = t.Name
	n.request.Visibility, n.request.Group = app.Visibility(v.Visibility), v.Group
	n.readLabels()
	n.request.Provider, n.request.Hardware, n.request.Image = v.Provider, v.Hardware, v.Image
	switch n.request.Prefer = template.Preference(v.Prefer); n.request.Prefer {
	case "", template.PreferPacked, template.PreferCheapest, template.PreferSpread:
	default:
		n.complain("prefer", page.Complaint{Message: "Unknown placement.", Hint: "Choose one from the list."})
	}
	n.request.OnFailure, n.request.MinAvailable = app.FailureChoice(v.OnFailure), template.NodeShare(v.MinAvailable)
	if n.request.KeepFailed = template.KeepTime(v.KeepFailed); n.request.KeepFailed.Check() != nil {
		n.complain("keep_failed", page.Complaint{Message: "Unknown choice.", Hint: "Choose one from the list."})
		n.request.KeepFailed = ""
	}
	if !ChoosesFailure(v.OnFailure) {
		n.complain("on_failure", page.Complaint{Message: "Unknown choice.", Hint: "Choose one from the list."})
	} else if err := n.request.PartialOverride.Check(n.request.OnFailure); err != nil {
		e := app.AsError(err)
		n.complain("min_available", page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if v.Name != "" { // checked while typing; a missing name is an error only on submit
		if err := app.CheckClusterName(v.Name); err != nil {
			e := app.AsError(err)
			n.complain("name", page.Complaint{Message: e.Message, Hint: e.Hint})
		}
	}
	n.readPlaces()
	size, err := strconv.Atoi(v.Size)
	switch {
	case v.Size == "" && parameterSets(t, "size"):
	case v.Size == "":
		n.complain("size", page.Complaint{Message: "Enter the number of nodes.", Hint: "Choose " + page.Sizes(t.Constraints.Size) + "."})
	case err != nil || size < 1:
		n.complain("size", page.Complaint{Message: "The number of nodes must be a whole number of at least 1.", Hint: "Choose " + page.Sizes(t.Constraints.Size) + "."})
	}
	n.request.Size = size
	n.readParameters()
	switch {
	case len(v.Services) == 0 && len(t.Defaults.Services) > 0:
		n.complain("services", page.Complaint{Message: "No services selected.", Hint: "Select at least one service."})
	case !SameNames(v.Services, t.Defaults.Services):
		n.request.Services = v.Services
	}
	if v.Lease != "" {
		d, err := time.ParseDuration(v.Lease)
		if err != nil || d < 0 {
			n.complain("lease", page.Complaint{Message: "Invalid lease.", Hint: "Choose one from the list."})
		} else {
			n.request.Lease = &d
		}
	}
}

// complain notes a field's error. The first one counts; folded options are unfolded.
func (n *Form) complain(field string, c page.Complaint) {
	if _, ok := n.View.Errors[field]; ok {
		return
	}
	n.View.Errors[field] = c
	switch field {
	case "services", "provider", "hardware", "image", "prefer", "lease", "on_failure", "min_available", "keep_failed", "visibility", "group", "description", "places", "place_order":
		n.View.Open = true
	case "labels":
		n.View.Open = n.View.Open || !n.View.needsLabels()
	}
}

// Preview previews the create. Refusals become errors of the fields; any other error is returned.
func (n *Form) Preview(ctx context.Context, m site.Creates, a app.Actor) error {
	if n.View.Template == nil {
		return nil
	}
	for field := range n.View.Errors {
		// A layout doesn't depend on the name, so an invalid name doesn't hide it.
		if field != "name" && field != "" {
			return nil
		}
	}
	r := n.request
	r.PlanHash = "" // a preview computes the hash
	v, err := m.Preview(ctx, a, r)
	if err != nil {
		return n.refused(ctx, m, a, err)
	}
	n.View.Preview = planpage.NewPreview(v, n.Title)
	if v.Cheaper != nil {
		r.Prefer = v.Cheaper.Prefer
		n.View.Preview.Cheapest = planpage.Fix{Text: v.Cheaper.Text(), Link: n.link(&r.Request)}
	}
	return nil
}

// refused turns an error about the request into an error of the field concerned.
func (n *Form) refused(ctx context.Context, m site.Creates, a app.Actor, err error) error {
	e := app.AsError(err)
	switch e.Code {
	case app.EInvalid, app.ENotFound, app.EConflict, app.ENoLayout, app.ETooLarge, app.EForbidden, app.EQuota, app.ECapacity:
		n.complain(fieldOf(e), page.Complaint{Message: e.Message, Hint: e.Hint})
		if e.Code == app.ENoLayout || site.Reasons[e.Reason] != "" {
			n.explain(ctx, m, a)
		}
		return nil
	}
	return err
}

// explain adds why there is no layout, with links to what would work. If it fails, the error alone
// is shown.
func (n *Form) explain(ctx context.Context, m site.Creates, a app.Actor) {
	why, err := m.Explain(ctx, a, n.request)
	if err != nil {
		return
	}
	out := &planpage.Explanation{Minimal: why.Minimal}
	for _, p := range why.Problems {
		out.Problems = append(out.Problems, page.Complaint{Message: p.Message, Hint: p.Hint})
	}
	for _, c := range why.Conflict {
		out.Conflict = append(out.Conflict, page.Complaint{Message: c.Text, Hint: c.Origin})
	}
	for _, f := range why.Fixes {
		out.Fixes = append(out.Fixes, planpage.Fix{Text: f.Text, Link: n.link(f.Request)})
	}
	if len(out.Problems)+len(out.Conflict)+len(out.Fixes) > 0 {
		n.View.Explanation = out
	}
}

// link is the form's address with another layout request; "" for none. Fields that aren't part of a layout keep their values.
func (n *Form) link(r *layout.Request) string {
	t := (*template.Template)(nil)
	if r != nil {
		t = n.Catalog.Templates[r.Template]
	}
	if t == nil {
		return ""
	}
	in := url.Values{"template": {t.Name}, "options_of": {t.Name}, "size": {strconv.Itoa(r.Size)}, "services": r.Services}
	if len(r.Services) == 0 {
		in["services"] = t.Defaults.Services
	}
	for _, f := range n.View.Parameters {
		if f.Value != "" {
			in.Set(f.Field(), f.Value)
		}
	}
	for key, value := range map[string]string{
		"name": n.View.Name, "provider": r.Provider, "hardware": r.Hardware, "image": r.Image, "prefer": string(r.Prefer), "lease": n.View.Lease,
		"on_failure": n.View.OnFailure, "min_available": n.View.MinAvailable, "visibility": n.View.Visibility, "group": n.View.Group,
		"keep_failed": n.View.KeepFailed, "description": n.View.Description, "labels": n.View.Labels,
	} {
		if value != "" {
			in.Set(key, value)
		}
	}
	n.sharePlaces(in)
	return "/clusters/new?" + in.Encode()
}

// fields are the fields of the form that can have an error.
var fields = []string{"template", "name", "size", "services", "provider", "hardware", "image", "prefer", "lease", "on_failure", "min_available",
	"keep_failed", "visibility", "group",
	"description", "labels", "places", "place_order", "provider_values"}

func fieldOf(e *app.Error) string {
	// An error may name a part of a field, such as services[2].
	if name, ok := strings.CutPrefix(e.Field, "parameters."); ok {
		return templatepage.ParameterField{Parameter: template.Parameter{Name: name}}.Field()
	}
	field, _, _ := strings.Cut(e.Field, "[")
	field, _, _ = strings.Cut(field, ".")
	if slices.Contains(fields, field) {
		return field
	}
	return site.Reasons[e.Reason]
}

func (n *Form) Title(kind, name string) string { return site.TitlesOf(n.Catalog)(kind, name) }

func (n *Form) Description(service string) string {
	if e := n.Catalog.Services[service]; e != nil {
		return e.Description
	}
	return ""
}

// Allowed lists the entries that a template allows: those of its list, or all if the list is empty. Missing extra names
// are added.
func Allowed[V any](all map[string]V, list, extra []string) []string {
	out := slices.Clone(list)
	if len(out) == 0 {
		out = site.Names(all)
	}
	for _, e := range extra {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	slices.Sort(out)
	return out
}

func SameNames(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
