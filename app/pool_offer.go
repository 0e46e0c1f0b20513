package app

import (
	"fmt"
	"slices"
	"time"
)

// PoolOffer tells how many of the machines that are needed stand ready in pools at this moment. Whether they still do when it is accepted is not promised:
// what is not there is made as ever.
type PoolOffer struct {
	Machines int           `json:"machines"` // that come ready
	Of       int           `json:"of"`       // new machines in all
	Pools    []string      `json:"pools"`
	Duration time.Duration `json:"duration"` // estimate with them, on unlimited workers
	Instead  time.Duration `json:"instead"`  // without
}

// Words say it to people.
func (o PoolOffer) Words() string {
	from := "the pool " + AndList(o.Pools)
	if len(o.Pools) > 1 {
		from = "the pools " + AndList(o.Pools)
	}
	machines, come := "machines", "come"
	if o.Of == 1 {
		machines = "machine"
	}
	if o.Machines == 1 {
		come = "comes"
	}
	text := fmt.Sprintf("%d of %d %s %s ready from %s", o.Machines, o.Of, machines, come, from)
	if o.Duration >= o.Instead {
		return text + "."
	}
	return fmt.Sprintf("%s: about %s instead of %s.", text, Span(o.Duration), Span(o.Instead))
}

// DurationWith is Duration where steps take another time than was planned with. A step's own time is what its rank is more than that of what waits for it.
func (p Plan) DurationWith(take func(s PlanStep, planned time.Duration) time.Duration) (longest time.Duration) {
	behind, rest := make([]time.Duration, len(p.Steps)), make([]time.Duration, len(p.Steps))
	for i, s := range slices.Backward(p.Steps) {
		end := rest[i] + take(s, s.Rank-behind[i])
		longest = max(longest, end)
		for _, n := range s.Needs {
			behind[n], rest[n] = max(behind[n], s.Rank), max(rest[n], end)
		}
	}
	return longest
}
