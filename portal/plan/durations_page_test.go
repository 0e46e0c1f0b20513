package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"muster/app"
	"muster/app/plan"
)

func TestDurationsOfAPlan(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{
		{ID: "n1.create", Node: "n1", Action: app.ActionCreate, Expected: 20 * time.Second, Runs: 9},
		{ID: "n2.create", Node: "n2", Action: app.ActionCreate, Expected: 40 * time.Second, Runs: 3},
		{ID: "all", Join: true},
		{ID: "n1.web.start", Node: "n1", Service: "web", Action: app.ActionStart, Expected: 5 * time.Second},
	}}
	kinds := DurationsOfPlan(p)
	if len(kinds) != 2 || kinds[0] != (StepDuration{Action: app.ActionCreate, Steps: 2, Expected: 40 * time.Second, Runs: 3}) ||
		kinds[1] != (StepDuration{Action: app.ActionStart, Service: "web", Steps: 1, Expected: 5 * time.Second}) {
		t.Errorf("%+v", kinds)
	}
	text := drawn(t, PacesPicture(kinds, false))
	for _, want := range []string{"create", "40 s", "3 runs", "web: start", "no history yet"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	if text := drawn(t, PacesPicture(DurationsOfPlan(plan.Plan{Steps: []plan.Step{{ID: "n1.create", Node: "n1"}}}), false)); text != "" {
		t.Errorf("without estimates there is %s", text)
	}
}

func TestDurationsOfARunningPlan(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	step := func(state app.StepState, took time.Duration) app.Step {
		return app.Step{Action: app.ActionConfirm, State: state, Expected: 30 * time.Second, StartedAt: at, EndedAt: at.Add(took)}
	}
	kinds := DurationsOfSteps([]app.Step{step(app.StepSucceeded, 10*time.Second), step(app.StepSucceeded, 20*time.Second), step(app.StepFailed, time.Hour),
		step(app.StepSucceeded, -time.Hour), {Action: app.ActionConfirm, State: app.StepWaiting}})
	if len(kinds) != 1 || kinds[0] != (StepDuration{Action: app.ActionConfirm, Steps: 5, Expected: 30 * time.Second, Ended: 2, Duration: 15 * time.Second}) {
		t.Errorf("%+v", kinds)
	}
	if kinds := DurationsOfSteps([]app.Step{{Action: app.ActionConfirm, State: app.StepWaiting}}); kinds != nil {
		t.Errorf("of plans without estimates there is nothing to say: %+v", kinds)
	}
}

func TestTakesStatesItsBasis(t *testing.T) {
	for want, e := range map[string]app.Expectation{
		"1 min to 3 min, from 37 earlier runs": {Typical: 2 * time.Minute, Low: time.Minute, High: 3 * time.Minute, Runs: 37},
		"estimated (no history yet)":           {Typical: 2 * time.Minute, Estimated: 2 * time.Minute},
	} {
		e.Low = min(e.Low, e.Typical)
		text := drawn(t, Takes(e.Typical, e))
		if !strings.Contains(text, want) || !strings.Contains(text, "2 min") {
			t.Errorf("%+v is %s", e, text)
		}
	}
	if text := drawn(t, Takes(0, app.Expectation{})); !strings.Contains(text, "–") {
		t.Errorf("nothing to expect is %s", text)
	}
}

func drawn(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
