package policy

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"muster/app"
	apppolicy "muster/app/policy"
	"muster/portal/page"
	"muster/portal/site"
)

func (p *Service) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showPolicies(w, r, a, http.StatusOK, List{})
}

func (p *Service) showPolicies(w http.ResponseWriter, r *http.Request, a app.Actor, status int, l List) error {
	var err error
	if l.Policies, err = p.Policies.PolicyList(r.Context(), a); err != nil {
		return err
	}
	if l.Zone == "" {
		if l.Zone, err = p.Policies.PolicyZone(r.Context(), a); err != nil {
			return err
		}
	}
	l.Edit = a.May("SavePolicy")
	f := p.AdminFrame(r, "Policies")
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

func (p *Service) Zone(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	zone := strings.TrimSpace(r.PostForm.Get("time_zone"))
	err := p.Policies.SetPolicyZone(r.Context(), a, zone)
	if app.CodeOf(err) == app.EInvalid {
		e := app.AsError(err)
		return p.showPolicies(w, r, a, site.StatusOf(err), List{Zone: zone, Zoned: page.Complaint{Message: e.Message, Hint: e.Hint}})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/policies", http.StatusSeeOther)
	return nil
}

func (p *Service) New(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !a.May("SavePolicy") {
		return &app.Error{Code: app.EForbidden, Message: "Only admins can create policies.", Hint: "Ask an admin of your tenant."}
	}
	list, err := p.Policies.PolicyList(r.Context(), a)
	if err != nil {
		return err
	}
	last := 0
	for _, q := range list {
		last = max(last, q.Order)
	}
	return p.showPolicy(w, r, a, http.StatusOK, Edit{New: true, Form: newForm(apppolicy.Policy{Order: last - last%10 + 10, Enabled: true, Effect: apppolicy.EffectRefuse})})
}

func (p *Service) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := chi.URLParam(r, "policy")
	versions, err := p.Policies.Policy(r.Context(), a, name)
	if err != nil {
		return err
	}
	e := Edit{Name: name, Versions: versions, Form: newForm(versions[0])}
	if versions[0].Deleted {
		e.Form.Version = "0"
	}
	return p.showPolicy(w, r, a, http.StatusOK, e)
}

func (p *Service) showPolicy(w http.ResponseWriter, r *http.Request, a app.Actor, status int, e Edit) error {
	e.Now, e.Edit = p.Now(), a.May("SavePolicy")
	e.Words = p.Policies.PolicyVariables()
	if !e.New && e.Versions == nil {
		var err error
		if e.Versions, err = p.Policies.Policy(r.Context(), a, e.Name); err != nil && app.CodeOf(err) != app.ENotFound {
			return err
		}
	}
	title := e.Name
	if e.New {
		title = "New policy"
	}
	f := p.AdminFrame(r, title)
	p.Render(w, r, status, EditPage(f, e))
	return nil
}

// policyForm is a policy form being parsed.
type policyForm struct {
	Edit
	policy apppolicy.Policy
}

func newPolicyForm(in url.Values) *policyForm {
	get := func(name string) string { return strings.TrimSpace(in.Get(name)) }
	f := &policyForm{}
	f.Errors = map[string]page.Complaint{}
	f.Name, f.New = get("was"), get("was") == ""
	f.Form = Form{
		Name: get("name"), About: get("about"), Order: get("order"), When: get("when"), Effect: get("effect"), Reason: get("reason"), LeaseCap: get("lease_cap"),
		Version: get("version"), Enabled: in.Get("enabled") != "", Count: get("count"), Group: get("group"), Role: get("role"), Expire: get("expire"),
		Remind: get("remind"), Escalate: get("escalate"), EscalateTo: get("escalate_to"), BreakGlass: get("break_glass"), High: in.Get("high") != "",
		User: get("t_user"), UserRole: get("t_role"), Groups: get("t_groups"), Template: get("t_template"), Nodes: get("t_nodes"), CPU: get("t_cpu"),
		CostPerHour: get("t_cost"), Lease: get("t_lease"), Provider: get("t_provider"), Hardware: get("t_hardware"), Past: get("past"),
		SetSize: get("set_size"), SetHardware: get("set_hardware"), SetProvider: get("set_provider"), SetLease: get("set_lease"),
		SetLabels: get("set_labels"),
	}
	t := f.Form
	f.policy = apppolicy.Policy{Name: t.Name, About: t.About, Enabled: t.Enabled, When: t.When, Effect: apppolicy.Effect(t.Effect), Reason: t.Reason, LeaseCap: t.LeaseCap}
	f.policy.Order = f.number("order", t.Order)
	f.policy.Version, _ = strconv.Atoi(t.Version)
	if f.policy.Effect == apppolicy.EffectRewrite {
		f.policy.Set = &apppolicy.Set{Size: t.SetSize, Hardware: t.SetHardware, Provider: t.SetProvider, Lease: t.SetLease,
			Labels: t.SetLabels}
	}
	if f.policy.Effect == apppolicy.EffectApprove || f.policy.Effect == apppolicy.EffectRewrite && (t.Group != "" || t.Role != "") {
		a := &apppolicy.Approval{Count: f.number("approval", t.Count), Group: t.Group, Role: app.Role(t.Role), High: t.High, EscalateTo: t.EscalateTo, BreakGlass: t.BreakGlass}
		a.ExpireAfter, a.RemindAfter, a.EscalateAfter = f.span("approval", t.Expire), f.span("approval", t.Remind), f.span("approval", t.Escalate)
		f.policy.Approval = a
	}
	return f
}

func (f *policyForm) number(field, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		f.Errors[field] = page.Complaint{Message: strconv.Quote(text) + " isn't a whole number.", Hint: "Enter a number such as 10."}
	}
	return n
}

func (f *policyForm) span(field, text string) time.Duration {
	d, err := parseSpan(text, field)
	if err != nil {
		e := app.AsError(err)
		f.Errors[field] = page.Complaint{Message: e.Message, Hint: e.Hint}
	}
	return d
}

// refused shows an error about the input beside its field; it returns any other error.
func (f *policyForm) refused(err error) error {
	e := app.AsError(err)
	switch e.Code {
	case app.EInvalid, app.EConflict, app.ETooLarge:
	default:
		return err
	}
	field, part, _ := strings.Cut(e.Field, ".")
	if field == "set" && part != "" {
		field = "set_" + part
	}
	switch field {
	case "name", "about", "order", "when", "effect", "reason", "lease_cap", "approval", "set", "set_size", "set_hardware", "set_provider", "set_lease",
		"set_labels":
	default:
		field = ""
	}
	f.Errors[field] = page.Complaint{Message: e.Message, Hint: e.Hint}
	return nil
}

func (p *Service) Save(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	f := newPolicyForm(r.PostForm)
	if len(f.Errors) > 0 {
		return p.showPolicy(w, r, a, http.StatusUnprocessableEntity, f.Edit)
	}
	saved, err := p.Policies.SavePolicy(r.Context(), a, f.policy)
	if err == nil {
		http.Redirect(w, r, "/admin/policies/"+saved.Name, http.StatusSeeOther)
		return nil
	}
	status := site.StatusOf(err)
	if err := f.refused(err); err != nil {
		return err
	}
	return p.showPolicy(w, r, a, status, f.Edit)
}

func (p *Service) Try(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	f := newPolicyForm(r.PostForm)
	t := f.try()
	if len(f.Errors) > 0 {
		return p.showPolicy(w, r, a, http.StatusUnprocessableEntity, f.Edit)
	}
	trial, err := p.Policies.TryPolicy(r.Context(), a, t)
	if err == nil {
		f.Trial = &trial
		return p.showPolicy(w, r, a, http.StatusOK, f.Edit)
	}
	status := site.StatusOf(err)
	if err := f.refused(err); err != nil {
		return err
	}
	return p.showPolicy(w, r, a, status, f.Edit)
}

// try parses the sample request.
func (f *policyForm) try() apppolicy.TrialRequest {
	t, made := f.Form, &apppolicy.Input{Groups: []string{}, Services: []string{}, Hardware: []string{}, Via: app.ViaPortal}
	wrong := func(what, text string) {
		f.Errors["try"] = page.Complaint{Message: what + " must be a number, not " + strconv.Quote(text) + ".", Hint: "Enter a number such as 10."}
	}
	real := func(what, text string) float64 {
		if text == "" {
			return 0
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || x < 0 || x > 1e12 {
			wrong(what, text)
		}
		return x
	}
	made.User, made.Role, made.Template, made.Provider = t.User, app.Role(t.UserRole), t.Template, t.Provider
	if t.Hardware != "" {
		made.Hardware = []string{t.Hardware}
	}
	for _, g := range strings.Split(t.Groups, ",") {
		if g = strings.TrimSpace(g); g != "" {
			made.Groups = append(made.Groups, g)
		}
	}
	made.CPU, made.CostPerHour, made.Nodes = real("CPU", t.CPU), real("Cost per hour", t.CostPerHour), int(real("Nodes", t.Nodes))
	var err error
	if made.Lease, err = parseSpan(t.Lease, "try"); err != nil {
		e := app.AsError(err)
		f.Errors["try"] = page.Complaint{Message: e.Message, Hint: e.Hint}
	}
	past := 0
	if t.Past != "" {
		if past, err = strconv.Atoi(t.Past); err != nil || past < 0 || past > 1000 {
			f.Errors["try"] = page.Complaint{Message: "Invalid number of recent requests " + strconv.Quote(t.Past) + ".", Hint: "Enter a number from 0 to 1000."}
		}
	}
	return apppolicy.TrialRequest{Policy: f.policy, Facts: made, Past: past}
}

func (p *Service) Delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.Policies.DeletePolicy(r.Context(), a, chi.URLParam(r, "policy")); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/policies", http.StatusSeeOther)
	return nil
}
