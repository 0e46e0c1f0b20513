package jobs_test

import (
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
	"muster/providers/fake"
)

// What the first create took is what the second is expected to take.
func TestEstimateUsesThePreviousCreate(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["back"].Actions[app.ActionStart].Fields["script"] += "sleep 0.8\n"
		c.Services["front"].Actions[app.ActionInstall].Fields["script"] += "sleep 0.5\n"
		e.cloud.SetDelay(fake.Create, 300*time.Millisecond)
		e.cloud.SetBoot(900 * time.Millisecond)
	})
	ask := cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 3}}
	guess, err := e.app.Cluster.Creates.Preview(t.Context(), e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	if x := guess.Plan.Expects; x.Runs != 0 || x.Estimated != x.Typical || x.From() != "estimated (no history yet)" {
		t.Errorf("before anything was done: %+v", x)
	}
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	ran, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	known, err := e.app.Cluster.Creates.Preview(t.Context(), e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	x := known.Plan.Expects
	// Steps of one kind take turns at the processor: the typical one is neither shorter than the shortest nor longer than the longest.
	if least, most := path(ran, slices.Min[[]time.Duration]), path(ran, slices.Max[[]time.Duration]); x.Typical < least*2/3 || x.Typical > most*4/3 {
		t.Errorf("the first took between %s and %s, the second is expected to take %s", least, most, x.Typical)
	}
	if x.Runs == 0 || x.Estimated != 0 || x.Low > x.Typical || x.High < x.Typical || known.Duration != x.Typical {
		t.Errorf("%+v, %s", x, known.Duration)
	}
	if known.PlanHash != guess.PlanHash {
		t.Error("what was learned changed the hash of the plan: what was approved would not run")
	}
	// What was shown, before anything was known, still runs.
	ask.Name, ask.PlanHash = "again", guess.PlanHash
	second, err := e.app.Cluster.Creates.CreateCluster(t.Context(), e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	if o := second.Operations[0]; o.Expects != x || o.Expected != x.Typical {
		t.Errorf("the preview said %+v, the operation says %+v and %s", x, o.Expects, o.Expected)
	}
	second = e.await(second.ID)
	e.want(second, app.ClusterActive)
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, second.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var began time.Duration // what the first start of back took, the only one that was known
	for _, s := range ran {
		if s.Service == "back" && s.Action == app.ActionStart {
			began = s.EndedAt.Sub(s.StartedAt)
		}
	}
	for _, s := range steps {
		if s.Service == "back" && s.Action == app.ActionStart && (s.Expected < 800*time.Millisecond || s.Expected > began*4/3) {
			t.Errorf("%s is expected to take %s, and took %s", s.ID, s.Expected, began)
		}
	}
}

// path is how long the longest chain of steps that wait for each other takes, where each takes what one picks of all of its kind.
func path(steps []app.Step, pick func([]time.Duration) time.Duration) (longest time.Duration) {
	kinds := map[string][]time.Duration{}
	kind := func(s app.Step) string { return s.Service + " " + string(s.Action) }
	for _, s := range steps {
		kinds[kind(s)] = append(kinds[kind(s)], s.EndedAt.Sub(s.StartedAt))
	}
	ends := map[int]time.Duration{}
	var end func(s app.Step) time.Duration
	end = func(s app.Step) time.Duration {
		if _, known := ends[s.Index]; !known {
			var begin time.Duration
			for _, n := range s.Needs {
				begin = max(begin, end(steps[slices.IndexFunc(steps, func(s app.Step) bool { return s.Index == n })]))
			}
			ends[s.Index] = begin + pick(kinds[kind(s)])
		}
		return ends[s.Index]
	}
	for _, s := range steps {
		longest = max(longest, end(s))
	}
	return longest
}
