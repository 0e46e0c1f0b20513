package idle

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Saving is a time that a cluster slept because it was idle.
type Saving struct {
	Cluster   string    `json:"cluster"`
	Name      string    `json:"name"`
	Owner     string    `json:"owner"`
	Operation int64     `json:"operation"` // that put it to sleep
	PerHour   float64   `json:"per_hour"`  // what it costs more while it runs
	From      time.Time `json:"from"`
	Until     time.Time `json:"until,omitzero"` // absent while it sleeps
	Hours     float64   `json:"hours"`          // within the time that was asked for
	Saved     float64   `json:"saved"`
}

// Savings are what was saved by putting idle clusters to sleep.
type Savings struct {
	Hours    float64  `json:"hours"`
	Saved    float64  `json:"saved"`
	Currency string   `json:"currency"`
	Lines    []Saving `json:"lines,omitempty"` // the latest first
}

// SavingsQuery asks for what was saved within a time.
type SavingsQuery struct {
	Tenant   string
	Cluster  string             // "" for all
	Owner    string             // "" for all
	Reader   *app.ClusterReader // nil: all
	From, To time.Time
	Limit    int
}

// mostSavings is how many are added up.
const mostSavings = 10_000

// Within is what was saved within a time.
func (s Saving) Within(from, to time.Time) Saving {
	until := s.Until
	if until.IsZero() || until.After(to) {
		until = to
	}
	if s.From.After(from) {
		from = s.From
	}
	s.Hours = max(until.Sub(from).Hours(), 0)
	s.Saved = s.Hours * s.PerHour
	return s
}

func (a *Service) saved(ctx context.Context, q SavingsQuery) (out Savings, err error) {
	list, err := a.Store.IdleSavings(ctx, q)
	for _, s := range list {
		s = s.Within(q.From, q.To)
		out.Hours += s.Hours
		out.Saved += s.Saved
		out.Lines = append(out.Lines, s)
	}
	return out, err
}

// IdleSavings returns what was saved by putting idle clusters to sleep, from a time on; zero: the beginning of this month. It counts from when they
// slept until they were woken or deleted. What would have been used after a deletion isn't known, so deleted clusters save nothing. Users get it of
// their own clusters.
func (a *Service) IdleSavings(ctx context.Context, actor app.Actor, from, to time.Time) (Savings, error) {
	if err := actor.Authorize("IdleSavings"); err != nil {
		return Savings{}, err
	}
	now := a.Now()
	if from.IsZero() {
		from = app.MonthOf(now).Start
	}
	if to.IsZero() || to.After(now) {
		to = now
	}
	if from.After(to) {
		return Savings{}, &app.Error{Code: app.EInvalid, Field: "from", Message: "The start must be before the end.", Hint: "Choose a start in the past."}
	}
	q := SavingsQuery{Tenant: actor.Tenant, From: from, To: to, Limit: mostSavings}
	if reach, _ := actor.Reach("IdleSavings"); reach == app.Own {
		q.Owner = actor.User
	} else {
		reader, err := a.Clusters.ReaderOf(ctx, actor)
		if err != nil {
			return Savings{}, err
		}
		if !reader.SeesAll {
			q.Reader = reader
		}
	}
	out, err := a.saved(ctx, q)
	if err != nil {
		return Savings{}, err
	}
	out.Currency, err = a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	return out, err
}

// IdlePolicy returns the tenant's policy, for clusters whose templates say nothing; nil for none.
func (a *Service) IdlePolicy(ctx context.Context, actor app.Actor) (*template.IdlePolicy, error) {
	if err := actor.Authorize("IdlePolicy"); err != nil {
		return nil, err
	}
	return a.Store.DefaultIdlePolicy(ctx, actor.Tenant)
}

// SetIdlePolicy sets the tenant's policy, also for clusters that exist; nil takes it away. Scripts belong into templates, where it is known on which
// machines they run.
func (a *Service) SetIdlePolicy(ctx context.Context, actor app.Actor, p *template.IdlePolicy) error {
	if err := actor.Authorize("SetIdlePolicy"); err != nil {
		return err
	}
	if p != nil {
		if err := CheckDefault(*p); err != nil {
			return err
		}
		if p.Then == template.IdleNothing {
			p = nil
		}
	}
	return a.Store.SetDefaultIdlePolicy(ctx, actor, a.Now(), p)
}

// CheckDefault tells what is wrong with a tenant's policy: EInvalid, with Field as in the policy.
func CheckDefault(p template.IdlePolicy) error {
	if err := p.Check(); err != nil {
		e := app.AsError(err)
		hint := e.Hint
		if hint != "" {
			hint = humanize.Upper(hint) + "."
		}
		return &app.Error{Code: app.EInvalid, Field: e.Field, Hint: hint,
			Message: fmt.Sprintf("Invalid idle policy: %s: %s.", e.Field, e.Message)}
	}
	if p.If.Script != "" {
		return &app.Error{Code: app.EInvalid, Field: "if.script", Message: "A tenant's idle policy can't have a script.",
			Hint: "Put the script in a template's idle policy."}
	}
	return nil
}
