package idle

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// View is how a cluster is used, and what happens when.
type View struct {
	Cluster string      `json:"cluster"`
	Name    string      `json:"name"`
	Owner   string      `json:"owner"`
	Status  string      `json:"status"`           // of the cluster
	State   string      `json:"state"`            // none (no policy), off, not_measured, unknown, in_use, idle, or warned
	Policy  *PolicyView `json:"policy,omitempty"` // what holds
	// FromTenant says that the policy is the tenant's default.
	FromTenant bool      `json:"from_tenant,omitempty"`
	ActiveAt   time.Time `json:"active_at,omitzero"`  // when it was last in use
	IdleSince  time.Time `json:"idle_since,omitzero"` // absent while it's in use
	MeasuredAt time.Time `json:"measured_at,omitzero"`
	Reasons    []string  `json:"reasons"`          // why it isn't idle: "n1: an SSH connection from 192.0.2.7"
	WarnAt     time.Time `json:"warn_at,omitzero"` // when the owner is warned, if it stays idle
	ActAt      time.Time `json:"act_at,omitzero"`  // when it sleeps or is deleted, if it stays idle
	KeptUntil  time.Time `json:"kept_until,omitzero"`
	KeptBy     string    `json:"kept_by,omitempty"`
	Note       string    `json:"note,omitempty"` // why the action didn't happen
	MayKeep    bool      `json:"may_keep"`       // by the one who asks
	MayTurnOff bool      `json:"may_turn_off"`
	// KeepSeconds is what a press of a button keeps it for, MostSeconds what is possible at once.
	KeepSeconds int64   `json:"keep_seconds,omitempty"`
	MostSeconds int64   `json:"max_keep_seconds,omitempty"`
	Saved       Savings `json:"saved"`
}

// PolicyView is a policy as the API writes it.
type PolicyView struct {
	If         template.IdleConditions `json:"if"`
	After      string                  `json:"after"`
	Grace      string                  `json:"grace,omitempty"`
	Then       template.IdleAction     `json:"then,omitempty"`
	OwnerMay   template.IdleChoice     `json:"owner_may,omitempty"`
	MaxKeep    string                  `json:"max_keep,omitempty"`
	Conditions []string                `json:"conditions,omitempty"` // in words
}

// ViewOf is a policy as the API writes it.
func ViewOf(p template.IdlePolicy) *PolicyView {
	v := &PolicyView{If: p.If, After: humanize.DurationField(p.After), Grace: humanize.DurationField(p.GraceOr30m()), Then: p.Action(), OwnerMay: p.OwnerMay,
		MaxKeep: humanize.DurationField(p.KeepAtMost()), Conditions: p.If.Words()}
	if v.OwnerMay == "" {
		v.OwnerMay = template.IdleMayKeep
	}
	return v
}

// KeepStep is what a press of a button keeps it for.
func (v View) KeepStep() time.Duration { return time.Duration(v.KeepSeconds) * time.Second }

// Sentence says how it is used, for people.
func (v View) Sentence(now time.Time) string {
	switch v.State {
	case "none":
		return "No idle policy."
	case "off":
		return "The idle policy is turned off for this cluster."
	case "not_measured":
		return "Use isn't measured while the cluster is " + v.Status + "."
	case "unknown":
		return "Not measured yet."
	case "in_use":
		text := "In use."
		for _, r := range v.Reasons {
			text += " " + humanize.Upper(r) + "."
		}
		return text
	}
	text := fmt.Sprintf("Idle for %s, since %s.", humanize.Duration(now.Sub(v.IdleSince)), app.Moment(v.IdleSince))
	verb := ActionWords(v.Policy.Then)
	switch {
	case v.Note != "":
		text += fmt.Sprintf(" It did not %s: %s", verb, v.Note)
	case v.State == "warned" && v.ActAt.After(now):
		text += fmt.Sprintf(" It will %s in %s, unless it's used before.", verb, humanize.Duration(v.ActAt.Sub(now)))
	case v.State == "warned":
		text += fmt.Sprintf(" It will %s now, unless it's used.", verb)
	case v.WarnAt.After(now) && v.Policy.Then == template.IdleWarn:
		text += fmt.Sprintf(" Its owner is warned in %s.", humanize.Duration(v.WarnAt.Sub(now)))
	case v.WarnAt.After(now):
		text += fmt.Sprintf(" If it stays idle, its owner is warned in %s, and it will %s %s later.", humanize.Duration(v.WarnAt.Sub(now)), verb, v.Policy.Grace)
	}
	return text
}

// ClusterIdle tells how a cluster is used, and what happens when.
func (a *Service) ClusterIdle(ctx context.Context, actor app.Actor, id string) (View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterIdle", id)
	if err != nil {
		return View{}, err
	}
	v := View{Cluster: c.ID, Name: c.Name, Owner: c.Owner, Status: string(c.Status), State: "none", Reasons: []string{}}
	s, err := a.Store.IdleState(ctx, c.Tenant, c.ID)
	if err != nil {
		return View{}, err
	}
	if v.Saved, err = a.saved(ctx, SavingsQuery{Tenant: c.Tenant, Cluster: c.ID, To: a.Now(), Limit: mostSavings}); err != nil {
		return View{}, err
	}
	v.Saved.Currency = c.Currency
	if s == nil || s.Policy.Then == template.IdleNothing || c.Status == app.ClusterDeleted {
		return v, nil
	}
	fill(&v, actor, c, *s, a.Now())
	return v, nil
}

func fill(v *View, actor app.Actor, c app.Cluster, s State, now time.Time) {
	v.Policy, v.FromTenant, v.State, v.Note = ViewOf(s.Policy), s.FromTenant, s.Word(c, now), s.Note
	if v.State != "off" && v.State != "not_measured" {
		v.ActiveAt, v.IdleSince, v.MeasuredAt, v.KeptUntil, v.KeptBy, v.ActAt = s.ActiveAt, s.IdleSince, s.MeasuredAt, s.KeptUntil, s.KeptBy, s.ActAt
		v.Reasons = append(v.Reasons, s.Reasons...)
		if s.WarnedAt.IsZero() && !s.IdleSince.IsZero() {
			v.WarnAt = s.DueAt
			if s.Policy.Action() != template.IdleWarn {
				v.ActAt = s.DueAt.Add(s.Policy.GraceOr30m())
			}
		}
	}
	if !v.KeptUntil.After(now) {
		v.KeptUntil, v.KeptBy = time.Time{}, ""
	}
	all := seesAll(actor, "KeepCluster")
	v.MayKeep = actor.MayIn("KeepCluster", c) && (all || s.Policy.MayKeep()) && c.Status == app.ClusterActive && !s.Disabled
	v.MayTurnOff = actor.MayIn("SetClusterIdle", c) && (all || s.Policy.MayTurnOff())
	if v.MayKeep {
		v.KeepSeconds, v.MostSeconds = int64(s.Policy.KeepStep().Seconds()), int64(keepLimit(all, s).Seconds())
	}
}

// seesAll reports whether the actor may do it with all clusters, which policies don't limit.
func seesAll(actor app.Actor, act string) bool {
	reach, _ := actor.Reach(act)
	return reach == app.All
}

func keepLimit(all bool, s State) time.Duration {
	if all {
		return template.MostIdleKeep
	}
	return s.Policy.KeepAtMost()
}

// KeepCluster says that a cluster is needed, whatever is measured: until then it is neither put to sleep nor deleted for being idle. For how long
// that can be is up to its policy; admins may go up to 30 days.
func (a *Service) KeepCluster(ctx context.Context, actor app.Actor, id string, by time.Duration) (View, error) {
	c, s, err := a.changing(ctx, actor, "KeepCluster", id)
	if err != nil {
		return View{}, err
	}
	all := seesAll(actor, "KeepCluster")
	switch limit := keepLimit(all, *s); {
	case !all && !s.Policy.MayKeep():
		return View{}, &app.Error{Code: app.EForbidden, Reason: "idle_policy", Message: fmt.Sprintf("The idle policy of %s doesn't let its owner keep it.", c.Name),
			Hint: "Use the cluster, or ask an admin to keep it."}
	case s.Disabled:
		return View{}, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("The idle policy of %s is turned off, so there is nothing to keep it from.", c.Name)}
	case by < time.Minute || by > limit:
		return View{}, &app.Error{Code: app.EInvalid, Field: "for", Message: fmt.Sprintf("A cluster can be kept for 1m to %s at a time, not %s.",
			humanize.DurationField(limit), humanize.DurationField(by)), Hint: "Keep it again later if you still need it."}
	}
	now := a.Now()
	if err := a.Store.ChangeIdle(ctx, Change{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: now, Until: now.Add(by)}); err != nil {
		return View{}, err
	}
	return a.ClusterIdle(ctx, actor, c.ID)
}

// SetClusterIdle turns the idle policy of a cluster off, or on again, where its policy lets the owner do so; admins always may.
func (a *Service) SetClusterIdle(ctx context.Context, actor app.Actor, id string, off bool) (View, error) {
	c, s, err := a.changing(ctx, actor, "SetClusterIdle", id)
	if err != nil {
		return View{}, err
	}
	if !seesAll(actor, "SetClusterIdle") && !s.Policy.MayTurnOff() {
		return View{}, &app.Error{Code: app.EForbidden, Reason: "idle_policy", Message: fmt.Sprintf("The idle policy of %s doesn't let its owner turn it off.", c.Name),
			Hint: "Keep the cluster for a while instead, or ask an admin."}
	}
	if err := a.Store.ChangeIdle(ctx, Change{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: a.Now(), Disable: off}); err != nil {
		return View{}, err
	}
	return a.ClusterIdle(ctx, actor, c.ID)
}

func (a *Service) changing(ctx context.Context, actor app.Actor, act, id string) (app.Cluster, *State, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, act, id)
	if err != nil {
		return c, nil, err
	}
	if err := actor.MayChange(act, c); err != nil {
		return c, nil, err
	}
	if c.Status == app.ClusterDeleted {
		return c, nil, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	s, err := a.Store.IdleState(ctx, c.Tenant, c.ID)
	if err == nil && (s == nil || s.Policy.Then == template.IdleNothing) {
		err = &app.Error{Code: app.EConflict, Message: fmt.Sprintf("Cluster %q has no idle policy.", c.Name),
			Hint: "It isn't put to sleep or deleted for being idle."}
	}
	return c, s, err
}

// mostWarnings is how many clusters are listed that are about to sleep or to be deleted.
const mostWarnings = 500

// IdleWarnings lists the clusters that are about to sleep or to be deleted because they are idle, soonest first.
func (a *Service) IdleWarnings(ctx context.Context, actor app.Actor) ([]View, error) {
	if err := actor.Authorize("IdleWarnings"); err != nil {
		return nil, err
	}
	reader, err := a.Clusters.ReaderOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	due, err := a.Store.IdleWarnings(ctx, *reader, mostWarnings)
	list := []View{}
	for _, d := range due {
		v := View{Cluster: d.Cluster.ID, Name: d.Cluster.Name, Owner: d.Cluster.Owner, Status: string(d.Cluster.Status), Reasons: []string{}}
		fill(&v, actor, d.Cluster, d.State, a.Now())
		list = append(list, v)
	}
	return list, err
}

// Parse reads a policy as the API and files write it. EInvalid names the field.
func (v PolicyView) Parse() (*template.IdlePolicy, error) {
	p := &template.IdlePolicy{If: v.If, Then: v.Then, OwnerMay: v.OwnerMay}
	for _, d := range []struct {
		field, text string
		into        *time.Duration
	}{{"after", v.After, &p.After}, {"grace", v.Grace, &p.Grace}, {"max_keep", v.MaxKeep, &p.MaxKeep}} {
		if d.text == "" {
			continue
		}
		length, err := template.ParseLength(d.text)
		if err == nil && length <= 0 {
			err = &app.Error{Code: app.EInvalid, Message: "The duration must be longer than 0.", Hint: "Use a form such as 90m, 4h or 1d."}
		}
		if err != nil {
			e := app.AsError(err)
			return nil, &app.Error{Code: app.EInvalid, Field: d.field, Message: e.Message, Hint: e.Hint}
		}
		*d.into = length
	}
	return p, nil
}

// Default is a tenant's policy, for clusters whose templates say nothing.
type Default struct {
	Policy *PolicyView `json:"policy,omitempty"` // absent for none
}

// DefaultOf is a tenant's policy as the API writes it.
func DefaultOf(p *template.IdlePolicy) Default {
	if p == nil {
		return Default{}
	}
	return Default{Policy: ViewOf(*p)}
}
