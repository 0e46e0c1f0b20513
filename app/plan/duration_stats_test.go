package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
	"pgregory.net/rapid"
)

func tallied(times ...time.Duration) (t Tally) {
	for _, d := range times {
		t = t.Add(d)
	}
	return t
}

func near(got, want time.Duration, share float64) bool {
	return math.Abs(got.Seconds()-want.Seconds()) <= share*want.Seconds()
}

func TestTallyConverges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		usual := time.Duration(rapid.Int64Range(int64(5*time.Millisecond), int64(5*time.Hour)).Draw(rt, "usual"))
		var y Tally
		for i := range 60 {
			y = y.Add(time.Duration(float64(usual) * rapid.Float64Range(0.9, 1.1).Draw(rt, "times")))
			if y.Runs != int64(i+1) {
				rt.Fatalf("%d runs after %d", y.Runs, i+1)
			}
		}
		low, high := y.Range()
		if !near(y.Typical(), usual, 0.11) || low > y.Typical() || high < y.Typical() || low <= usual/2 || high >= 2*usual {
			rt.Fatalf("usually %s, and it is said to take %s (%s to %s)", usual, y.Typical(), low, high)
		}
	})
}

func TestTallyFollowsAChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := time.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(time.Hour)).Draw(rt, "before"))
		after := time.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(time.Hour)).Draw(rt, "after"))
		var y Tally
		for range rapid.IntRange(1, 5000).Draw(rt, "runs before") {
			y = y.Add(before)
		}
		// The greatest change is one of 360,000 times, which takes a while, since a single surprise counts little.
		for range 200 {
			y = y.Add(after)
		}
		if !near(y.Typical(), after, 0.1) {
			rt.Fatalf("it took %s, takes %s by now, and is said to take %s", before, after, y.Typical())
		}
	})
}

func TestTallyIgnoresClockChanges(t *testing.T) {
	y := tallied(30*time.Second, 31*time.Second, 29*time.Second)
	for range 100 {
		y = y.Add(30 * time.Second)
	}
	for _, wrong := range []time.Duration{-time.Nanosecond, -time.Hour, math.MinInt64, mostTaken + 1, math.MaxInt64} {
		if got := y.Add(wrong); got != y {
			t.Errorf("%s moves it from %+v to %+v", wrong, y, got)
		}
	}
	for _, far := range []time.Duration{0, mostTaken} {
		if got := y.Add(far).Typical(); !near(got, 30*time.Second, 0.2) {
			t.Errorf("a single %s moves 30 s to %s", far, got)
		}
	}
}

func TestTallyBoundsNothingOverflows(t *testing.T) {
	y := Tally{Runs: math.MaxInt64, Mean: math.Log(3), Spread: 0.1}.Add(3 * time.Second)
	if y.Runs != math.MaxInt64 || !near(y.Typical(), 3*time.Second, 0.01) {
		t.Errorf("after as many runs as can be counted: %+v", y)
	}
	rapid.Check(t, func(rt *rapid.T) {
		var y Tally
		for _, d := range rapid.SliceOfN(rapid.Int64(), 1, 100).Draw(rt, "times") {
			y = y.Add(time.Duration(d))
		}
		low, high := y.Range()
		if y.Runs > 0 && (math.IsNaN(y.Mean) || math.IsNaN(y.Spread) || y.Spread < 0 || low < 0 || low > y.Typical() || high < y.Typical() || high > mostTaken) {
			rt.Fatalf("%+v says %s (%s to %s)", y, y.Typical(), low, high)
		}
	})
	for _, spoilt := range []Tally{{Runs: 5, Mean: math.NaN()}, {Runs: 5, Mean: math.Inf(1)}, {Runs: -3}} {
		if got := spoilt.Add(time.Second); got.Runs != 1 || !near(got.Typical(), time.Second, 0.01) {
			t.Errorf("%+v becomes %+v", spoilt, got)
		}
	}
}

func TestDurationStatsSeparateFailuresAndRetries(t *testing.T) {
	var p DurationStats
	for range 10 {
		p = p.Add(DurationSample{Duration: 10 * time.Second, Attempt: 1})
		p = p.Add(DurationSample{Duration: time.Hour, Attempt: 1, Failed: true})
		p = p.Add(DurationSample{Duration: 10 * time.Millisecond, Attempt: 2})
	}
	if got := p.usual(); got.Runs != 10 || !near(got.Typical(), 10*time.Second, 0.001) || p.Failed.Runs != 10 || p.Again.Runs != 10 {
		t.Errorf("%+v", p)
	}
	if got := (DurationStats{Again: tallied(time.Second)}).usual(); got.Runs != 1 {
		t.Errorf("what never succeeded at once is known by what succeeded later: %+v", got)
	}
	if got := (DurationStats{Failed: tallied(time.Second)}).usual(); got.Runs != 0 {
		t.Errorf("what always failed is not known: %+v", got)
	}
}

func TestDurationStatsFallBackToWiderKinds(t *testing.T) {
	own := DurationKey{Tenant: "t1", Action: app.ActionInstall, Service: "web", Version: "v1", Provider: "cloud", Type: "fake", Hardware: "small", Image: "host"}
	all := own
	all.Tenant = ""
	wide := DurationKey{Action: app.ActionInstall, Service: "web"}
	if got := own.Widths(); len(got) != 3 || got[0] != own || got[1] != all || got[2] != wide {
		t.Fatalf("%+v", got)
	}
	machine := DurationKey{Tenant: "t1", Action: app.ActionCreate, Provider: "cloud", Type: "fake", Hardware: "small", Image: "host"}
	if got := machine.Widths(); len(got) != 3 || got[2] != (DurationKey{Action: app.ActionCreate, Type: "fake"}) {
		t.Fatalf("%+v", got)
	}
	known := DurationStatsByKey{wide: {Done: tallied(3 * time.Second)}}
	for _, more := range []struct {
		key  DurationKey
		want time.Duration
	}{{wide, 3 * time.Second}, {all, 2 * time.Second}, {own, time.Second}} {
		known[more.key] = DurationStats{Done: tallied(more.want)}
		if got := known.Known(own); !near(got.Typical(), more.want, 0.001) {
			t.Errorf("with %+v it takes %s", more.key, got.Typical())
		}
	}
	other := own
	other.Tenant, other.Service = "t2", "db"
	if got := known.Known(other); got.Runs != 0 {
		t.Errorf("what no one has done is known: %+v", got)
	}
	if a, b := (DurationKey{Action: "a", Service: "b"}).Kind(), (DurationKey{Action: "a", Version: "b"}).Kind(); a == b {
		t.Error("two kinds have one name")
	}
}

func TestExpectationsInWords(t *testing.T) {
	for want, e := range map[string]app.Expectation{
		"": {},
		"about 30 s (15 s to 1 min 30 s); estimated (no history yet)": {Typical: 30 * time.Second, Low: 15 * time.Second, High: 90 * time.Second, Estimated: 30 * time.Second},
		"about 2 min 10 s (2 min to 3 min); from 37 earlier runs":     {Typical: 131 * time.Second, Low: 119 * time.Second, High: 182 * time.Second, Runs: 37},
		"about 2 min; from 1 earlier run":                             {Typical: 2 * time.Minute, Low: 2 * time.Minute, High: 2 * time.Minute, Runs: 1},
		"about 1 min (50 s to 1 min 10 s); from 4 earlier runs; 10 s estimated (no history yet)": {Typical: time.Minute,
			Low: 50 * time.Second, High: 70 * time.Second, Runs: 4, Estimated: 10 * time.Second},
		"less than 1 s; from 9 earlier runs":             {Typical: 20 * time.Millisecond, High: 30 * time.Millisecond, Runs: 9},
		"less than 1 s (up to 3 s); from 9 earlier runs": {Typical: 20 * time.Millisecond, High: 3 * time.Second, Runs: 9},
	} {
		if got := e.Text(); got != want {
			t.Errorf("%+v:\n got %q\nwant %q", e, got, want)
		}
	}
}

// A request names all kinds that its plan may have, once, and no more for many nodes that are alike.
func TestKindsOfARequest(t *testing.T) {
	r := Request{Tenant: "t1", Provider: "cloud", ProviderType: "fake", Services: map[string]*template.Service{
		"web": {Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: {Automator: "shell"}, app.ActionStart: {Automator: "shell"}}, Health: &template.HealthCheck{TCP: "80"}}},
		Hooks: []template.OperationHook{{Name: "tell", When: template.HookAfter, Script: "true"}, {Name: "ask", When: template.HookBefore, SendTo: "x"}}}
	for range 1000 {
		r.Nodes = append(r.Nodes, Node{Name: "n", Hardware: "small", Image: "host", Services: []string{"web"}})
	}
	keys := r.DurationKeys()
	// Ten machine actions, of which three are about volumes and images, names, a hook, two actions of the service and its check, each in three widths; the hook and the service's have
	// their own.
	if len(keys) != 3*15 {
		t.Errorf("%d kinds", len(keys))
	}
	seen := map[DurationKey]bool{}
	var text []string
	for _, k := range keys {
		if seen[k] {
			t.Errorf("%+v is there twice", k)
		}
		seen[k] = true
		text = append(text, k.Tenant+"/"+string(k.Action)+"/"+k.Service)
	}
	for _, want := range []string{"t1/check/web", "/start/web", "t1/hook/tell", "/create/"} {
		if !strings.Contains(strings.Join(text, " ")+" ", want+" ") {
			t.Errorf("%s is missing in %v", want, text)
		}
	}
	changed := *r.Services["web"]
	changed.Actions = map[app.Action]*template.ServiceAction{app.ActionInstall: {Automator: "shell", Fields: map[string]string{"script": "more"}}, app.ActionStart: {Automator: "shell", Timeout: time.Hour}}
	now := r
	now.Services = map[string]*template.Service{"web": &changed}
	if r.DurationKey(r.Nodes[0], app.ActionInstall, "web", "") == now.DurationKey(r.Nodes[0], app.ActionInstall, "web", "") {
		t.Error("an action that does something else has the same kind")
	}
	if r.DurationKey(r.Nodes[0], app.ActionStart, "web", "") != now.DurationKey(r.Nodes[0], app.ActionStart, "web", "") {
		t.Error("a time limit makes another kind")
	}
}
