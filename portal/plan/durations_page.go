package plan

import (
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/plan"
)

// StepDuration is how long steps of one kind take: those with the same action on the same service.
type StepDuration struct {
	Action   app.Action
	Service  string
	Steps    int
	Expected time.Duration // the longest of them
	Runs     int64         // the number of runs the estimate is based on; 0: none
	Ended    int           // of a started plan: how many have succeeded
	Duration time.Duration // their average duration
}

// Text names the kind: "create", "web: install".
func (p StepDuration) Text() string {
	if p.Service == "" {
		return string(p.Action)
	}
	return p.Service + ": " + string(p.Action)
}

// maxDurations is the most kinds that are shown.
const maxDurations = 100

type durationKinds struct {
	list []StepDuration
	at   map[string]int
}

func (k *durationKinds) of(action app.Action, service string) *StepDuration {
	name := service + "/" + string(action)
	i, ok := k.at[name]
	if !ok {
		if k.at == nil {
			k.at = map[string]int{}
		}
		i = len(k.list)
		k.at[name], k.list = i, append(k.list, StepDuration{Action: action, Service: service})
	}
	return &k.list[i]
}

// DurationsOfPlan returns the kinds of steps of a plan that hasn't started, in the order of their first steps.
func DurationsOfPlan(p plan.Plan) []StepDuration {
	var k durationKinds
	for _, s := range p.Steps {
		if s.Join || s.Expected == 0 {
			continue
		}
		kind := k.of(s.Action, s.Service)
		if kind.Steps++; s.Expected > kind.Expected {
			kind.Expected, kind.Runs = s.Expected, s.Runs
		}
	}
	return k.list[:min(len(k.list), maxDurations)]
}

// DurationsOfSteps returns those of a started plan, with the actual durations so far. Failed attempts aren't counted.
func DurationsOfSteps(steps []app.Step) []StepDuration {
	var k durationKinds
	known := false
	for _, s := range steps {
		if s.Join {
			continue
		}
		kind := k.of(s.Action, s.Service)
		kind.Steps++
		kind.Expected = max(kind.Expected, s.Expected)
		known = known || s.Expected > 0
		if took := s.EndedAt.Sub(s.StartedAt); s.State == app.StepSucceeded && !s.StartedAt.IsZero() && took >= 0 {
			kind.Duration += (took - kind.Duration) / time.Duration(kind.Ended+1)
			kind.Ended++
		}
	}
	if !known {
		return nil
	}
	return k.list[:min(len(k.list), maxDurations)]
}

func runsWords(n int64) string {
	if n == 0 {
		return "no history yet"
	}
	return humanize.Count(int(n), "run")
}

// takesFrom states the range of an estimate and what it's based on; "" if unknown.
func takesFrom(e app.Expectation) string {
	switch {
	case e.Typical <= 0:
		return ""
	case e.Low > 0 && e.Low < time.Second && e.High >= time.Second:
		return "up to " + humanize.Duration(e.High) + ", " + e.From()
	case e.Low > 0 && e.High > e.Low && humanize.Duration(e.Low) != humanize.Duration(e.High):
		return humanize.Duration(e.Low) + " to " + humanize.Duration(e.High) + ", " + e.From()
	}
	return e.From()
}
