package jobs_test

import (
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/providers/fake"
)

// What the first create took is what the second is expected to take.
func TestSecondCreateIsExpectedToTakeWhatTheFirstTook(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *app.Catalog) {
		c.Services["back"].Actions[app.ActionStart].Fields["script"] += "sleep 0.8\n"
		c.Services["front"].Actions[app.ActionInstall].Fields["script"] += "sleep 0.5\n"
		e.cloud.SetDelay(fake.Create, 300*time.Millisecond)
		e.cloud.SetBoot(900 * time.Millisecond)
	})
	ask := app.ClusterRequest{LayoutRequest: app.LayoutRequest{Template: "web", Size: 3}}
	guess, err := e.app.Preview(t.Context(), e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	if x := guess.Plan.Expects; x.Runs != 0 || x.Guessed != x.Typical || x.From() != "a guess: never done here" {
		t.Errorf("before anything was done: %+v", x)
	}
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	ran, err := e.app.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	took := busy(ran)

	known, err := e.app.Preview(t.Context(), e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	x := known.Plan.Expects
	// Steps of one kind take turns at the processor, and the typical one is shorter than the last to end.
	if off := (x.Typical - took).Abs(); off > took/3 {
		t.Errorf("steps of the first ran for %s, the second is expected to take %s", took, x.Typical)
	}
	if x.Runs == 0 || x.Guessed != 0 || x.Low > x.Typical || x.High < x.Typical || known.Duration != x.Typical {
		t.Errorf("%+v, %s", x, known.Duration)
	}
	if known.PlanHash != guess.PlanHash {
		t.Error("what was learned changed the hash of the plan: what was approved would not run")
	}
	// What was shown, before anything was known, still runs.
	ask.Name, ask.PlanHash = "again", guess.PlanHash
	second, err := e.app.CreateCluster(t.Context(), e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	if o := second.Operations[0]; o.Expects != x || o.Expected != x.Typical {
		t.Errorf("the preview said %+v, the operation says %+v and %s", x, o.Expects, o.Expected)
	}
	second = e.await(second.ID)
	e.want(second, app.ClusterActive)
	steps, err := e.app.Steps(t.Context(), e.admin, second.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.Service == "back" && s.Action == app.ActionStart && (s.Expected < 800*time.Millisecond || s.Expected > 4*time.Second) {
			t.Errorf("%s is expected to take %s", s.ID, s.Expected)
		}
	}
}

// busy is for how long at least one of the steps ran. What passes between them is how much else the host has to do.
func busy(steps []app.Step) (all time.Duration) {
	steps = slices.SortedFunc(slices.Values(steps), func(a, b app.Step) int { return a.StartedAt.Compare(b.StartedAt) })
	var end time.Time
	for _, s := range steps {
		if s.StartedAt.IsZero() || !s.EndedAt.After(end) {
			continue
		}
		begin := s.StartedAt
		if begin.Before(end) {
			begin = end
		}
		all, end = all+s.EndedAt.Sub(begin), s.EndedAt
	}
	return all
}
