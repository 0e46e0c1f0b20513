package planner

import (
	"math"
	"time"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// estimates say how long one attempt of an action usually takes. They do not depend on a service's time limit, which
// says when to give up and not what to expect. They are guesses, for what was never done before; see expect.
var estimates = map[app.Action]time.Duration{
	app.ActionCreate:     30 * time.Second,
	app.ActionConfirm:    20 * time.Second,
	app.ActionBootstrap:  10 * time.Second,
	app.ActionInstall:    30 * time.Second,
	app.ActionConfigure:  5 * time.Second,
	app.ActionInitialize: 10 * time.Second,
	app.ActionStart:      5 * time.Second,
	app.ActionReload:     5 * time.Second,
	app.ActionCheck:      5 * time.Second,
	app.ActionCompare:    10 * time.Second,
	app.ActionStop:       5 * time.Second,
	app.ActionRemove:     10 * time.Second,
	app.ActionDelete:     20 * time.Second,
	app.ActionNames:      2 * time.Second,
	app.ActionRun:        10 * time.Second,
	app.ActionHook:       10 * time.Second,
	app.ActionSleep:      10 * time.Second,
	app.ActionWake:       20 * time.Second,
	app.ActionAttach:     15 * time.Second,
	app.ActionDetach:     10 * time.Second,
	app.ActionIsolate:    5 * time.Second,
	app.ActionBake:       60 * time.Second,
}

// Of a guess no more is known than this: it may take half as long, or three times as long.
const (
	guessLow  = 0.5
	guessHigh = 3
)

// expect works out how long the steps of a finished plan take, each and from its start to the end of the plan, and how long all of it
// does. What is known of a kind of step comes from the request's duration statistics: the narrowest kind counts of which anything is known, and
// where nothing is, the guess.
func expect(p *plan.Plan, r plan.Request) {
	e := &expecting{request: r, nodes: map[string]*plan.Node{}, places: map[kind]int{}}
	for i := range r.Nodes {
		e.nodes[r.Nodes[i].Name] = &r.Nodes[i]
	}
	steps := p.Steps
	longest := make([]int, len(steps)) // by step: the step behind it on the longest path, counted from 1
	first := 0
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		if !s.Join && s.Node != "" && s.Asks == "" { // what waits for a person is separate
			s.DurationKey = e.place(*s)
			own := e.own[s.DurationKey-1]
			s.Expected, s.Runs = own.Typical, own.Runs
		}
		s.Rank = s.Expected
		if next := longest[i]; next > 0 {
			s.Rank += steps[next-1].Rank
		}
		for _, n := range s.Needs {
			if longest[n] == 0 || steps[longest[n]-1].Rank < s.Rank {
				longest[n] = i + 1
			}
		}
		if first == 0 || steps[first-1].Rank <= s.Rank {
			first = i + 1
		}
	}
	p.DurationKeys, p.Expects = e.kinds, app.Expectation{}
	var low, high float64 // squares: what takes longer than usual is not so all along the way
	for i := first; i > 0; i = longest[i-1] {
		if s := steps[i-1]; s.DurationKey > 0 {
			own := e.own[s.DurationKey-1]
			p.Expects.Typical += own.Typical
			p.Expects.Estimated += own.Estimated
			if own.Runs > 0 && (p.Expects.Runs == 0 || own.Runs < p.Expects.Runs) {
				p.Expects.Runs = own.Runs
			}
			low += square(own.Typical - own.Low)
			high += square(own.High - own.Typical)
		}
	}
	p.Expects.Low = max(0, p.Expects.Typical-root(low))
	p.Expects.High = p.Expects.Typical + root(high)
}

func square(d time.Duration) float64 { return d.Seconds() * d.Seconds() }
func root(x float64) time.Duration {
	return time.Duration(math.Sqrt(x) * float64(time.Second)).Round(time.Microsecond)
}

// expecting looks up kinds of steps, each once.
type expecting struct {
	request plan.Request
	nodes   map[string]*plan.Node
	places  map[kind]int // counted from 1
	kinds   []plan.DurationKey
	own     []app.Expectation // by kind
}

// kind is what a step's duration goes by within one plan.
type kind struct {
	action                         app.Action
	service, hook, hardware, image string
}

func (e *expecting) place(s plan.Step) int {
	k := kind{action: s.Action, service: s.Service}
	var node plan.Node
	if n := e.nodes[s.Node]; n != nil {
		node = *n
		k.hardware, k.image = n.Hardware, n.Image
	}
	if s.Action == app.ActionHook {
		k.hook = template.HookOfStepID(s.Node, s.ID)
	}
	at, ok := e.places[k]
	if !ok {
		key := e.request.DurationKey(node, s.Action, s.Service, k.hook)
		e.kinds, e.own = append(e.kinds, key), append(e.own, lookUp(e.request.DurationStats, key))
		at = len(e.kinds)
		e.places[k] = at
	}
	return at
}

func lookUp(known plan.DurationStatsByKey, k plan.DurationKey) app.Expectation {
	if t := known.Known(k); t.Runs > 0 {
		low, high := t.Range()
		return app.Expectation{Typical: t.Typical(), Low: low, High: high, Runs: t.Runs}
	}
	guess := estimates[k.Action]
	return app.Expectation{Typical: guess, Low: time.Duration(guessLow * float64(guess)), High: guessHigh * guess, Estimated: guess}
}
