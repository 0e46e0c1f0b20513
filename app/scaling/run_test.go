package scaling

import (
	"context"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/template"
)

// world is a store with one cluster, and who changes its size.
type world struct {
	Store
	now      time.Time
	due      Due
	claimed  time.Time
	dies     bool // before the next move is written
	history  []Entry
	notices  []app.Notice
	next     time.Time
	asked    []cluster.Update
	answer   func() (cluster.UpdateAnswer, error)
	disabled bool
	number   float64
	queries  int
}

func (w *world) DueScaling(context.Context, time.Time, int) ([]Due, error) {
	if w.claimed.After(w.now) {
		return nil, nil
	}
	return []Due{w.due}, nil
}

func (w *world) ClaimScaling(_ context.Context, c Claim) (bool, error) {
	if c.Due.Version != w.due.Version || w.claimed.After(c.Now) {
		return false, nil
	}
	w.due.Version++
	w.claimed = c.Until
	return true, nil
}

func (w *world) MoveScaling(_ context.Context, m Move) (bool, error) {
	if w.dies {
		w.dies = false
		return false, context.Canceled
	}
	if m.Due.Version != w.due.Version {
		return false, nil
	}
	w.due.State, w.next, w.claimed = m.After, m.Next, time.Time{}
	w.history = append(w.history, m.Entries...)
	if m.Notice.Kind != "" {
		w.notices = append(w.notices, m.Notice)
	}
	return true, nil
}

func (w *world) User(context.Context, string, string) (identity.User, error) {
	u := identity.User{}
	u.Role = app.RoleUser
	if w.disabled {
		u.DisabledAt = w.now
	}
	return u, nil
}

func (w *world) Update(_ context.Context, _ app.Actor, _ string, m cluster.Update) (cluster.UpdateAnswer, error) {
	w.asked = append(w.asked, m)
	a, err := w.answer()
	if err == nil && a.Operation > 0 {
		w.due.Latest = LastOperation{ID: a.Operation, Status: app.OperationRunning, At: w.now}
		w.due.Cluster.Size, w.due.Cluster.Status = m.Size, app.ClusterPending
	}
	return a, err
}

func (w *world) PreviewUpdate(context.Context, app.Actor, string, cluster.Update) (cluster.UpdatePreview, error) {
	return cluster.UpdatePreview{}, nil
}

func (w *world) Query(context.Context, string, string) (float64, error) {
	w.queries++
	return w.number, nil
}

// ends ends the running operation.
func (w *world) ends(s app.OperationStatus) {
	w.due.Latest.Status, w.due.Cluster.Status = s, app.ClusterActive
	if s != app.OperationSucceeded {
		w.due.Latest.Error = "n4 failed."
		w.due.Cluster.Size = 3 // it's rolled back
	}
}

func newWorld(t *testing.T, change func(*template.ScalingPolicy)) (*world, func()) {
	p := &template.ScalingPolicy{Min: 1, Max: 6, CoolDownUp: "1m", CoolDownDown: "1m", Brake: 2,
		Metrics: []template.ScalingMetric{{Name: "load", URL: "https://p.example.com", Query: "x", Above: number(10), Below: number(2)}}}
	if change != nil {
		change(p)
	}
	w := &world{now: start, number: 50, due: Due{Cluster: app.Cluster{ID: "web-1", Tenant: "t", Name: "web", Owner: "ada", Size: 3, Status: app.ClusterActive},
		Kept: Kept{Version: 1, Rules: Rules{Template: p}}}}
	w.answer = func() (cluster.UpdateAnswer, error) { return cluster.UpdateAnswer{Operation: int64(len(w.asked))}, nil }
	s := New(Config{Store: w, Now: func() time.Time { return w.now }, Updates: w, Prometheus: w})
	return w, func() {
		t.Helper()
		if _, err := s.RunScaling(t.Context()); err != nil && w.claimed.IsZero() {
			t.Fatal(err)
		}
	}
}

// A server is killed after it has submitted a resize and before it has written that: another one finds it, and none happens twice.
func TestAKilledServerResizesOnce(t *testing.T) {
	w, run := newWorld(t, nil)
	w.dies = true
	run()
	run() // it's claimed still
	if len(w.asked) != 1 || len(w.history) != 0 || w.asked[0].Size != 4 || w.asked[0].OnFailure != app.FailureRollBack {
		t.Fatalf("asked %+v, noted %+v", w.asked, w.history)
	}
	w.now = w.now.Add(claimFor + time.Second)
	run()
	if len(w.asked) != 1 || len(w.history) != 1 || w.history[0].Outcome != Started || w.history[0].Operation != 1 || !w.due.State.Awaited {
		t.Fatalf("asked %+v, noted %+v", w.asked, w.history)
	}
	w.ends(app.OperationSucceeded)
	w.now = w.now.Add(2 * time.Minute)
	run()
	if last := w.history[len(w.history)-1]; last.Outcome != Done && last.Outcome != CoolDown {
		t.Errorf("noted %+v", w.history)
	}
	if len(w.asked) != 1 {
		t.Errorf("within the cool-down it asked %+v", w.asked)
	}
	w.now = w.now.Add(2 * time.Minute)
	run()
	if len(w.asked) != 2 || w.asked[1].Size != 5 {
		t.Errorf("asked %+v", w.asked)
	}
}

func TestTheBrakeHoldsAfterFailures(t *testing.T) {
	w, run := newWorld(t, nil)
	for i := range 2 {
		run()
		if len(w.asked) != i+1 {
			t.Fatalf("asked %+v", w.asked)
		}
		w.ends(app.OperationFailed)
		w.now = w.now.Add(2 * time.Minute)
		run() // it's noted
		w.now = w.now.Add(2 * time.Minute)
	}
	if !w.due.State.Paused() || len(w.notices) != 1 || !strings.Contains(w.notices[0].Title, "paused after 2 failures") || w.notices[0].Users[0] != "ada" {
		t.Fatalf("%+v, %+v", w.due.State, w.notices)
	}
	queries := w.queries
	for range 5 {
		w.now = w.now.Add(10 * time.Minute)
		run()
	}
	if len(w.asked) != 2 || w.queries != queries || !w.next.IsZero() {
		t.Errorf("while it's paused, it asked %d times, measured, and is due at %s", len(w.asked), w.next)
	}
}

func TestWhatIsRefusedIsNoted(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		request  *cluster.Request
		disabled bool
		dry      bool
		want     Outcome
		failures int
	}{
		"a policy":            {err: &app.Error{Code: app.EForbidden, Reason: "policy", Message: "Too large."}, want: Refused, failures: 1},
		"a quota":             {err: &app.Error{Code: app.EQuota, Reason: "quota", Message: "At most 3."}, want: Quota, failures: 1},
		"a running operation": {err: &app.Error{Code: app.EConflict, Reason: "operation_running", Message: "Busy."}, want: Busy},
		"a constraint":        {err: &app.Error{Code: app.EInvalid, Message: "Choose at most 3."}, want: Failed, failures: 1},
		"an approval":         {request: &cluster.Request{ID: 7, Status: cluster.RequestWaiting}, want: Approval},
		"a window":            {request: &cluster.Request{ID: 7, Status: cluster.RequestScheduled}, want: Window},
		"a disabled owner":    {disabled: true, want: Refused, failures: 1},
		"a dry run":           {dry: true, want: DryRun},
	} {
		w, run := newWorld(t, func(p *template.ScalingPolicy) { p.DryRun = c.dry })
		w.disabled = c.disabled
		w.answer = func() (cluster.UpdateAnswer, error) { return cluster.UpdateAnswer{Request: c.request}, c.err }
		run()
		if len(w.history) != 1 || w.history[0].Outcome != c.want || w.due.State.Failures != c.failures || w.history[0].From != 3 || w.history[0].To != 4 {
			t.Errorf("%s: %+v, %d failures", name, w.history, w.due.State.Failures)
		}
		if (c.dry || c.disabled) != (len(w.asked) == 0) {
			t.Errorf("%s: asked %+v", name, w.asked)
		}
		if w.due.Request = 0; c.request != nil { // while it waits, nothing else is asked for
			w.due.Request = 7
			w.now = w.now.Add(time.Hour)
			if run(); len(w.asked) != 1 {
				t.Errorf("%s: asked %+v", name, w.asked)
			}
		}
	}
}
