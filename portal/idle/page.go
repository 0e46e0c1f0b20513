package idle

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

// Page is how one cluster is used.
type Page struct {
	Tabs    page.ClusterTabs
	Now     time.Time
	Cluster app.Cluster
	View    idle.View
}

// word is the state for people.
func (c Page) word() string {
	return map[string]string{"none": "No idle policy", "off": "Turned off", "not_measured": "Not measured", "unknown": "Not measured yet", "in_use": "In use",
		"idle": "Idle", "warned": "Idle"}[c.View.State]
}

func (c Page) mark() string {
	switch c.View.State {
	case "in_use":
		return string(app.StepSucceeded)
	case "idle", "warned":
		return string(app.StepReady)
	}
	return string(app.StepWaiting)
}

// then says what happens, by the policy.
func (c Page) then() string {
	p := c.View.Policy
	switch p.Then {
	case template.IdleWarn:
		return "After " + p.After + ", its owner is warned."
	case template.IdleDelete:
		return "After " + p.After + ", its owner is warned. " + p.Grace + " later, the cluster is deleted with all its data."
	}
	return "After " + p.After + ", its owner is warned. " + p.Grace + " later, the cluster goes to sleep."
}

func (c Page) from() string {
	if c.View.FromTenant {
		return "The tenant's policy"
	}
	return "The template's policy"
}

// Warned reports whether a banner asks people to act.
func Warned(v *idle.View) bool { return v != nil && v.State == "warned" }

// BannerWords say what will happen to a cluster, and when.
func BannerWords(v idle.View, now time.Time) string {
	verb := idle.ActionWords(v.Policy.Then)
	if !v.ActAt.After(now) {
		return "Idle. It will " + verb + " now, unless it's used."
	}
	return "Idle. It will " + verb + " in " + humanize.Duration(v.ActAt.Sub(now)) + ", unless it's used before."
}

func stepText(v idle.View) string { return humanize.DurationField(v.KeepStep()) }

// PolicyForm is the form of the tenant's policy.
type PolicyForm struct {
	Admin                                            bool
	NoSSH                                            bool
	Then, After, Grace, Load, Ports, GPU, Owner, Max string
	Error                                            page.Complaint
	ErrorAt                                          string
	Saved                                            bool
	Policy                                           *idle.PolicyView
}

func (f PolicyForm) at(field string) page.Complaint {
	if f.ErrorAt == field {
		return f.Error
	}
	return page.Complaint{}
}

// other is an error of none of the fields.
func (f PolicyForm) other() page.Complaint {
	switch f.ErrorAt {
	case "after", "grace", "max_keep", "if.load_below", "if.no_connections_to", "if.gpu_below":
		return page.Complaint{}
	}
	return f.Error
}

var thenWords = []struct {
	Value template.IdleAction
	Words string
}{{"", "No policy"}, {template.IdleSleep, "Go to sleep"}, {template.IdleDelete, "Be deleted"}, {template.IdleWarn, "Only warn the owner"}}

var ownerWords = []struct {
	Value template.IdleChoice
	Words string
}{{template.IdleMayKeep, "Keep the cluster for a while"}, {template.IdleMayTurnOff, "Keep it, or turn the policy off"}, {template.IdleMayNothing, "Nothing"}}

func formOf(p *template.IdlePolicy) PolicyForm {
	if p == nil {
		return PolicyForm{NoSSH: true, After: "2h", Grace: "30m", Max: "1d", Owner: string(template.IdleMayKeep)}
	}
	f := PolicyForm{NoSSH: p.If.NoSSH, Then: string(p.Action()), After: humanize.DurationField(p.After), Grace: humanize.DurationField(p.GraceOr30m()),
		Owner: string(p.OwnerMay), Max: humanize.DurationField(p.KeepAtMost()), Policy: idle.ViewOf(*p)}
	if p.If.LoadBelow > 0 {
		f.Load = strconv.FormatFloat(p.If.LoadBelow, 'g', -1, 64)
	}
	if p.If.GPUBelow > 0 {
		f.GPU = strconv.Itoa(p.If.GPUBelow)
	}
	var ports []string
	for _, n := range p.If.NoConnections {
		ports = append(ports, strconv.Itoa(n))
	}
	f.Ports = strings.Join(ports, ", ")
	return f
}

func (p *Service) policy(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	d, err := p.Idle.IdlePolicy(r.Context(), a)
	if err != nil {
		return err
	}
	f := formOf(d)
	f.Saved = r.URL.Query().Has("saved")
	return p.showPolicy(w, r, a, http.StatusOK, f)
}

func (p *Service) showPolicy(w http.ResponseWriter, r *http.Request, a app.Actor, status int, f PolicyForm) error {
	fr := p.Frame(r, "Idle clusters")
	fr.At = "idle"
	f.Admin = a.May("SetIdlePolicy")
	p.Render(w, r, status, PolicyPage(fr, f))
	return nil
}

func (p *Service) savePolicy(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	get := func(field string) string { return strings.TrimSpace(r.PostForm.Get(field)) }
	f := PolicyForm{NoSSH: get("no_ssh") != "", Then: get("then"), After: get("after"), Grace: get("grace"), Load: get("load"), Ports: get("ports"),
		GPU:   get("gpu"),
		Owner: get("owner"), Max: get("max")}
	d, err := f.read()
	if err == nil {
		err = p.Idle.SetIdlePolicy(r.Context(), a, d)
	}
	var e *app.Error
	if errors.As(err, &e) && e.Code == app.EInvalid {
		f.Error, f.ErrorAt = page.Complaint{Message: e.Message, Hint: e.Hint}, e.Field
		return p.showPolicy(w, r, a, http.StatusUnprocessableEntity, f)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/idle?saved", http.StatusSeeOther)
	return nil
}

// read reads the form; nil for no policy.
func (f PolicyForm) read() (*template.IdlePolicy, error) {
	if f.Then == "" {
		return nil, nil
	}
	v := idle.PolicyView{After: f.After, Grace: f.Grace, MaxKeep: f.Max, Then: template.IdleAction(f.Then), OwnerMay: template.IdleChoice(f.Owner),
		If: template.IdleConditions{NoSSH: f.NoSSH}}
	wrong := func(field, message string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message}
	}
	var err error
	if f.Load != "" {
		if v.If.LoadBelow, err = strconv.ParseFloat(f.Load, 64); err != nil {
			return nil, wrong("if.load_below", "Enter a number, such as 0.1.")
		}
	}
	if f.GPU != "" {
		if v.If.GPUBelow, err = strconv.Atoi(strings.TrimSuffix(f.GPU, "%")); err != nil {
			return nil, wrong("if.gpu_below", "Enter a number from 1 to 100.")
		}
	}
	for _, text := range strings.FieldsFunc(f.Ports, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, wrong("if.no_connections_to", "Enter ports, separated by commas.")
		}
		v.If.NoConnections = append(v.If.NoConnections, n)
	}
	return v.Parse()
}

// Word says in few words how a cluster is used: "Idle for 2 h".
func Word(v idle.View, now time.Time) string {
	if (v.State == "idle" || v.State == "warned") && !v.IdleSince.IsZero() {
		return "Idle for " + humanize.Duration(now.Sub(v.IdleSince))
	}
	return Page{View: v}.word()
}
