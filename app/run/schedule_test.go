package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/template"
)

// world is a cluster with an action, a person who may use it, and a clock.
type world struct {
	Store
	ScheduleStore

	now       time.Time
	c         app.Cluster
	role      app.Role // of ben; "" is none
	outcome   policy.Outcome
	approval  bool
	failed    error
	schedules []ActionSchedule
	notices   []app.Notice
	ran       []string // by whom
}

func (w *world) AuthorizedCluster(_ context.Context, a app.Actor, useCase, _ string) (app.Cluster, error) {
	if err := a.Authorize(useCase); err != nil {
		return app.Cluster{}, err
	}
	if w.c.Access == app.AccessNone {
		return app.Cluster{}, app.Errorf(app.ENotFound, "Cluster %q doesn't exist.", w.c.ID)
	}
	return w.c, nil
}

func (w *world) Cluster(context.Context, string, string) (app.Cluster, error) { return w.c, nil }

func (w *world) User(_ context.Context, tenant, name string) (identity.User, error) {
	if w.role == "" {
		return identity.User{}, app.Errorf(app.ENotFound, "No user.")
	}
	return identity.User{Tenant: tenant, Name: name, Role: w.role}, nil
}

func (w *world) Definition(context.Context, string, string) (cluster.Definition, error) {
	return cluster.Definition{Actions: []template.SavedAction{{Name: "backup", Run: "true"}}}, nil
}

func (w *world) PreviewUpdate(context.Context, app.Actor, string, cluster.Update) (cluster.UpdatePreview, error) {
	p := cluster.UpdatePreview{PlanHash: "h"}
	if w.outcome != "" {
		p.Decision = &policy.Decision{Outcome: w.outcome}
	}
	return p, w.failed
}

func (w *world) Update(_ context.Context, a app.Actor, _ string, m cluster.Update) (cluster.UpdateAnswer, error) {
	w.ran = append(w.ran, a.User+" "+m.Action+" "+m.PlanHash)
	return cluster.UpdateAnswer{Operation: int64(len(w.ran))}, nil
}

func (w *world) AddActionSchedule(_ context.Context, _ app.Actor, s ActionSchedule, _ int) error {
	w.schedules = append(w.schedules, s)
	return nil
}

func (w *world) DueActionSchedules(_ context.Context, now time.Time, _ int) (due []ActionSchedule, err error) {
	for _, s := range w.schedules {
		if !s.Next.IsZero() && !s.Next.After(now) {
			due = append(due, s)
		}
	}
	return due, nil
}

func (w *world) ClaimActionSchedule(_ context.Context, s ActionSchedule, next time.Time) (bool, error) {
	is := &w.schedules[0]
	if is.Version != s.Version {
		return false, nil
	}
	is.Version++
	is.Next = next
	return true, nil
}

func (w *world) EndActionSchedule(_ context.Context, s ActionSchedule, n app.Notice) error {
	is := &w.schedules[0]
	is.LastResult, is.LastOperation, is.LastAt = s.LastResult, s.LastOperation, s.LastAt
	if n.Kind != "" {
		w.notices = append(w.notices, n)
	}
	return nil
}

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func newWorld() (*world, *Service) {
	w := &world{now: noon, role: app.RoleUser, c: app.Cluster{ID: "shop-1", Name: "shop", Tenant: "t", Owner: "ada",
		Status: app.ClusterActive, Access: app.AccessUser}}
	return w, New(Config{Store: w, Schedules: w, Now: func() time.Time { return w.now }, Updates: w, Clusters: w})
}

var ben = app.Actor{Tenant: "t", User: "ben", Role: app.RoleUser}

func TestASchedulesBounds(t *testing.T) {
	for _, k := range []struct {
		name string
		n    NewSchedule
		says string
	}{
		{"an interval", NewSchedule{Action: "backup", Every: "10m"}, ""},
		{"a crontab", NewSchedule{Action: "backup", Every: "0 3 * * *", Zone: "Europe/Berlin"}, ""},
		{"too often", NewSchedule{Action: "backup", Every: "9m"}, "can't be run every"},
		{"a crontab, too often", NewSchedule{Action: "backup", Every: "*/5 * * * *"}, "more than once in ten minutes"},
		{"too seldom", NewSchedule{Action: "backup", Every: "91d"}, "can't be run every"},
		{"no time", NewSchedule{Action: "backup"}, "can't be run every"},
		{"an unknown zone", NewSchedule{Action: "backup", Every: "0 3 * * *", Zone: "Mars"}, "Unknown time zone"},
		{"an unknown action", NewSchedule{Action: "bakup", Every: "1h"}, "bakup"},
		{"no action", NewSchedule{Every: "1h"}, "An action is required"},
		{"a name that can't be", NewSchedule{Action: "backup", Name: "../x", Every: "1h"}, "Invalid name"},
	} {
		w, s := newWorld()
		_, err := s.CreateActionSchedule(t.Context(), ben, "shop", k.n)
		if k.says == "" && (err != nil || len(w.schedules) != 1) || k.says != "" && (err == nil || !strings.Contains(app.AsError(err).Message, k.says) || len(w.schedules) > 0) {
			t.Errorf("%s: %v, and there are %d schedules", k.name, err, len(w.schedules))
		}
	}
	w, s := newWorld()
	w.outcome = policy.OutcomeApprove
	if _, err := s.CreateActionSchedule(t.Context(), ben, "shop", NewSchedule{Action: "backup",
		Every: "1h"}); app.CodeOf(err) != app.EForbidden || app.AsError(err).Reason != "approval" {
		t.Errorf("an action that needs an approval: %v", err)
	}
	w.outcome, w.c.Access = "", app.AccessReader
	if _, err := s.CreateActionSchedule(t.Context(), ben, "shop", NewSchedule{Action: "backup", Every: "1h"}); app.CodeOf(err) != app.EForbidden {
		t.Errorf("someone who may only look: %v", err)
	}
}

func TestWhatIsDueRunsOnceAndAsItsCreator(t *testing.T) {
	for _, k := range []struct {
		name   string
		change func(*world)
		says   string // "" where it runs
		notice bool
	}{
		{"all is well", func(*world) {}, "", false},
		{"the server was down for days", func(w *world) { w.now = w.now.Add(72 * time.Hour) }, "", false},
		{"the account is gone", func(w *world) { w.role = "" }, "The account ben was deleted", true},
		{"the role is lost", func(w *world) { w.role = app.RoleViewer }, "ben may no longer run it", true},
		{"access is lost", func(w *world) { w.c.Access = app.AccessNone }, "ben may no longer run it", true},
		{"access is less", func(w *world) { w.c.Access = app.AccessReader }, "ben may no longer run it", true},
		{"it sleeps", func(w *world) { w.c.Status = app.ClusterAsleep }, "the cluster was asleep", false},
		{"another operation", func(w *world) { w.c.Status = app.ClusterPending }, "another operation was running", false},
		{"approval is needed now", func(w *world) { w.outcome = policy.OutcomeApprove }, "requires approval", false},
		{"a policy refuses", func(w *world) { w.outcome = policy.OutcomeRefuse }, "A policy refuses", false},
		{"the nodes are gone", func(w *world) { w.failed = app.Errorf(app.EConflict, "The machines are gone.") }, "The machines are gone", false},
	} {
		t.Run(k.name, func(t *testing.T) {
			w, s := newWorld()
			if _, err := s.CreateActionSchedule(t.Context(), ben, "shop", NewSchedule{Action: "backup", Every: "24h"}); err != nil {
				t.Fatal(err)
			}
			if n, err := s.RunActionSchedules(t.Context()); n != 0 || err != nil {
				t.Fatalf("before it's due: %d, %v", n, err)
			}
			w.now = w.now.Add(24 * time.Hour)
			k.change(w)
			for range 3 { // as other servers, and later looks
				if _, err := s.RunActionSchedules(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			is := w.schedules[0]
			if k.says == "" && (len(w.ran) != 1 || w.ran[0] != "ben backup h" || is.LastOperation != 1 || is.LastResult != "") {
				t.Errorf("it ran %q, and the result is %+v", w.ran, is)
			}
			if k.says != "" && (len(w.ran) > 0 || !strings.HasPrefix(is.LastResult, "Skipped: ") || !strings.Contains(is.LastResult, k.says)) {
				t.Errorf("it ran %q, and the result is %q", w.ran, is.LastResult)
			}
			if !is.Next.Equal(w.now.Add(24 * time.Hour)) {
				t.Errorf("the next run is at %s", is.Next)
			}
			if (len(w.notices) == 1) != k.notice || k.notice && w.notices[0].Users[0] != "ada" {
				t.Errorf("notices: %+v", w.notices)
			}
			if w.now = w.now.Add(24 * time.Hour); k.notice { // the same again isn't news
				if _, err := s.RunActionSchedules(t.Context()); err != nil || len(w.notices) != 1 {
					t.Errorf("%v, and notices: %+v", err, w.notices)
				}
			}
		})
	}
}
