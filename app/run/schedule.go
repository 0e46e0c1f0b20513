package run

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/schedule"
	"muster/app/template"
)

// ScheduleStore keeps schedules of actions.
type ScheduleStore interface {
	ActionSchedules(ctx context.Context, tenant, cluster string) ([]ActionSchedule, error)
	// AddActionSchedule is EConflict where the name is taken, and EQuota where the cluster has most already.
	AddActionSchedule(ctx context.Context, who app.Actor, s ActionSchedule, most int) error
	// PauseActionSchedule sets when one is due next, zero for a pause; ENotFound where it's gone.
	PauseActionSchedule(ctx context.Context, who app.Actor, s ActionSchedule, due, now time.Time) error
	DeleteActionSchedule(ctx context.Context, who app.Actor, s ActionSchedule, now time.Time) error
	// DueActionSchedules returns those due, of all tenants, the longest due first. It costs one look into an index.
	DueActionSchedules(ctx context.Context, now time.Time, limit int) ([]ActionSchedule, error)
	// ClaimActionSchedule has the caller alone run one that is due, and sets when it's due again.
	ClaimActionSchedule(ctx context.Context, s ActionSchedule, next time.Time) (bool, error)
	// EndActionSchedule keeps what has become of a run, and notifies, unless the schedule was changed since.
	EndActionSchedule(ctx context.Context, s ActionSchedule, n app.Notice) error
	Cluster(ctx context.Context, tenant, id string) (app.Cluster, error)
	User(ctx context.Context, tenant, name string) (identity.User, error)
}

// ActionSchedule has an action of a cluster's template run again and again, as the person who created it.
type ActionSchedule struct {
	Name       string         `json:"name"`
	Action     string         `json:"action"`
	Parameters map[string]any `json:"parameters,omitempty"`
	On         []string       `json:"on,omitempty"` // as of Ask
	// Every is the time between two runs, such as 6h, or the five fields of a crontab by the clock of Zone; "" is UTC.
	Every     string    `json:"every"`
	Zone      string    `json:"zone,omitempty"`
	Paused    bool      `json:"paused,omitempty"`
	Next      time.Time `json:"next,omitzero"` // zero while it's paused
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	// LastAt is when it was last due, LastOperation what was run then, and LastResult how that ended, or why nothing was run.
	LastAt        time.Time `json:"last_at,omitzero"`
	LastOperation int64     `json:"last_operation,omitempty"`
	LastResult    string    `json:"last_result,omitempty"`

	Tenant  string `json:"-"`
	Cluster string `json:"-"`
	Version int64  `json:"-"`
}

// Bounds of schedules of actions.
const (
	MostSchedules = 20 // of a cluster
	leastGap      = 10 * time.Minute
	mostGap       = 90 * 24 * time.Hour
	mostOn        = 1000
	dueAtOnce     = 100
)

var scheduleName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// NewSchedule is a schedule that is to be created.
type NewSchedule struct {
	Name       string         `json:"name,omitempty"` // "": that of the action
	Action     string         `json:"action"`
	Parameters map[string]any `json:"parameters,omitempty"`
	On         []string       `json:"on,omitempty"`
	Every      string         `json:"every"`
	Zone       string         `json:"zone,omitempty"`
}

// check refuses what no schedule can be.
func (s ActionSchedule) check(now time.Time) error {
	switch {
	case s.Action == "":
		return cluster.InvalidUpdate("action", "An action is required.", "See the cluster's actions: muster cluster actions.")
	case !scheduleName.MatchString(s.Name):
		return cluster.InvalidUpdate("name", fmt.Sprintf("Invalid name %.70q.", s.Name), "Use at most 63 lowercase letters, digits and hyphens.")
	case len(s.On) > mostOn:
		return &app.Error{Code: app.ETooLarge, Field: "on",
			Message: fmt.Sprintf("The list of nodes has more than %d entries.", mostOn), Hint: "Omit it to select all."}
	case cluster.ConfigSize(s.Parameters) > cluster.MostConfig:
		return cluster.TooMuchConfig(cluster.ConfigSize(s.Parameters))
	case s.byCron():
		return s.cron().Check(now)
	}
	if d, err := template.ParseLength(s.Every); err != nil || d < leastGap || d > mostGap {
		return cluster.InvalidUpdate("every", fmt.Sprintf("An action can't be run every %.40q.", s.Every),
			`Use 10m to 90d, or the five fields of a crontab, such as "0 3 * * *".`)
	}
	_, err := schedule.Location(s.Zone)
	return err
}

func (s ActionSchedule) byCron() bool {
	return strings.Contains(s.Every, " ") || strings.HasPrefix(s.Every, "@")
}

func (s ActionSchedule) cron() schedule.Cron {
	return schedule.Cron{Field: "every", Text: s.Every, Zone: s.Zone}
}

// after is when it's due next after a moment; zero for never.
func (s ActionSchedule) after(t time.Time) time.Time {
	if s.byCron() {
		return s.cron().After(t)
	}
	d, err := template.ParseLength(s.Every)
	if err != nil || d < leastGap {
		return time.Time{}
	}
	return t.Add(d)
}

// ask is the run of it.
func (s ActionSchedule) ask() Ask { return Ask{Action: s.Action, Parameters: s.Parameters, On: s.On} }

// ActionSchedules returns the schedules of a cluster's actions, by name.
func (s *Service) ActionSchedules(ctx context.Context, actor app.Actor, id string) ([]ActionSchedule, error) {
	c, err := s.mayIn(ctx, actor, "ActionSchedules", id)
	if err != nil {
		return nil, err
	}
	all, err := s.Schedules.ActionSchedules(ctx, c.Tenant, c.ID)
	if err != nil || len(all) == 0 {
		return all, err
	}
	ops, err := s.Store.Operations(ctx, c.Tenant, c.ID)
	for i := range all {
		for _, o := range ops {
			if all[i].LastResult == "" && o.ID == all[i].LastOperation {
				all[i].LastResult = humanize.Upper(string(o.Status)) + "."
			}
		}
	}
	return all, err
}

// CreateActionSchedule has an action run again and again, each time as the actor, who must be allowed to run it then, too. What would need an
// approval now is EForbidden.
func (s *Service) CreateActionSchedule(ctx context.Context, actor app.Actor, id string, n NewSchedule) (ActionSchedule, error) {
	c, err := s.mayIn(ctx, actor, "CreateActionSchedule", id)
	switch {
	case err != nil:
		return ActionSchedule{}, err
	case c.Status == app.ClusterDeleted:
		return ActionSchedule{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	case actor.Home != "" && actor.Home != actor.Tenant:
		return ActionSchedule{}, &app.Error{Code: app.EForbidden,
			Message: "Your account is in another tenant, and a schedule runs as the account that created it.",
			Hint:    "Sign in with an account of this tenant."}
	}
	now := s.Now()
	a := ActionSchedule{Name: cmp.Or(strings.TrimSpace(n.Name), n.Action), Action: n.Action, Parameters: n.Parameters,
		On: n.On, Every: strings.TrimSpace(n.Every),
		Zone: strings.TrimSpace(n.Zone), CreatedBy: actor.User, CreatedAt: now, Tenant: c.Tenant, Cluster: c.ID}
	if err := a.check(now); err != nil {
		return ActionSchedule{}, err
	}
	if _, _, err := s.preview(ctx, actor, c, a.ask()); err != nil {
		return ActionSchedule{}, err
	}
	a.Next = a.after(now)
	return a, s.Schedules.AddActionSchedule(ctx, actor, a, MostSchedules)
}

// preview is what running an action would do now; EForbidden where the actor may not, or where it would need an approval.
func (s *Service) preview(ctx context.Context, actor app.Actor, c app.Cluster, ask Ask) (cluster.Update, string, error) {
	d, err := s.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil {
		return cluster.Update{}, "", err
	}
	a, err := template.ActionNamed(d.Actions, ask.Action)
	if err != nil {
		return cluster.Update{}, "", err
	}
	if err := cluster.MayAct(actor, c, a); err != nil {
		return cluster.Update{}, "", err
	}
	m, err := s.updateOf(ctx, c, ask)
	if err != nil {
		return m, "", err
	}
	p, err := s.Updates.PreviewUpdate(ctx, actor, c.ID, m)
	switch {
	case err != nil:
		return m, "", err
	case p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse:
		return m, "", &app.Error{Code: app.EForbidden, Reason: "policy", Message: fmt.Sprintf("A policy refuses action %s.", a.Name), Hint: p.Decision.Reason}
	case p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove:
		return m, "", &app.Error{Code: app.EForbidden, Reason: "approval",
			Message: fmt.Sprintf("Action %s requires approval, so it can't be run by a schedule.", a.Name),
			Hint:    "Run it yourself, or schedule another action."}
	}
	return m, p.PlanHash, nil
}

// PauseActionSchedule pauses a schedule, or resumes it, for who created it and for owners of the cluster.
func (s *Service) PauseActionSchedule(ctx context.Context, actor app.Actor, id, name string, pause bool) (ActionSchedule, error) {
	a, err := s.own(ctx, actor, "PauseActionSchedule", id, name)
	if err != nil {
		return a, err
	}
	now := s.Now()
	if a.Paused, a.Next = pause, (time.Time{}); !pause {
		a.Next = a.after(now)
	}
	return a, s.Schedules.PauseActionSchedule(ctx, actor, a, a.Next, now)
}

// DeleteActionSchedule deletes a schedule, for who created it and for owners of the cluster.
func (s *Service) DeleteActionSchedule(ctx context.Context, actor app.Actor, id, name string) error {
	a, err := s.own(ctx, actor, "DeleteActionSchedule", id, name)
	if err != nil {
		return err
	}
	return s.Schedules.DeleteActionSchedule(ctx, actor, a, s.Now())
}

// own finds a schedule that the actor may change.
func (s *Service) own(ctx context.Context, actor app.Actor, useCase, id, name string) (ActionSchedule, error) {
	c, err := s.mayIn(ctx, actor, useCase, id)
	if err != nil {
		return ActionSchedule{}, err
	}
	all, err := s.Schedules.ActionSchedules(ctx, c.Tenant, c.ID)
	if err != nil {
		return ActionSchedule{}, err
	}
	for _, a := range all {
		switch {
		case a.Name != name:
		case a.CreatedBy == actor.Name(), actor.MayIn("Update", c):
			return a, nil
		default:
			return a, &app.Error{Code: app.EForbidden, Reason: "not_owner", Message: fmt.Sprintf("Schedule %s was created by %s.", a.Name, a.CreatedBy),
				Hint: "Only they and the cluster's owners can change it."}
		}
	}
	return ActionSchedule{}, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Cluster %q has no schedule %.70q.", c.Name, name),
		Hint: "List its schedules: muster cluster action-schedule list " + c.Name}
}
