package plan

import (
	"math"
	"strings"
	"time"

	"muster/app"
)

// DurationKey names a kind of step whose durations are alike. Version tells states of what a service's action does apart; Type is the
// provider's. Fields that do not matter, such as the service of a machine action, are empty.
type DurationKey struct {
	Tenant   string // "": of the whole installation
	Action   app.Action
	Service  string // or the hook
	Version  string
	Provider string
	Type     string
	Hardware string
	Image    string
}

// kindParts separates the parts of a kind; no name has it.
const kindParts = "\x1f"

// Kind is the key without its tenant, as one text.
func (k DurationKey) Kind() string {
	return strings.Join([]string{string(k.Action), k.Service, k.Version, k.Provider, k.Type, k.Hardware, k.Image}, kindParts)
}

// wider returns the next wider kind, of which less is known for certain: the same in the whole installation, then the service's action
// wherever it is, or the machine's with that type of provider. It tells false where there is none.
func (k DurationKey) wider() (DurationKey, bool) {
	wide := DurationKey{Action: k.Action, Service: k.Service}
	if k.Service == "" {
		wide.Type = k.Type
	}
	switch {
	case k.Tenant != "":
		k.Tenant = ""
		return k, true
	case k != wide:
		return wide, true
	}
	return DurationKey{}, false
}

// Widths returns the kind and all that are wider, the narrowest first. There are three at most.
func (k DurationKey) Widths() []DurationKey {
	all := []DurationKey{k}
	for wider, ok := k.wider(); ok; wider, ok = wider.wider() {
		all = append(all, wider)
	}
	return all
}

// Tally is a running summary of how long something took. It goes by the logarithm, so that one time that was far off moves it
// little, and it forgets: the last twenty or so count.
type Tally struct {
	Runs   int64   // in all
	Mean   float64 // of the natural logarithm of the seconds
	Spread float64 // the variance of that
}

// The bounds of a tally. What took longer than the most is not true: a clock was set.
const (
	tallyMemory = 20
	leastTaken  = time.Millisecond
	mostTaken   = 24 * time.Hour
	// mostSurprise is by how much one time may differ, in the logarithm: what is more than 20 times as long, or as short, counts as
	// 20 times. So a clock that jumped does little, and a change is followed all the same.
	mostSurprise = 3
)

// Add takes in one more time. Times that cannot be, below 0 or beyond mostTaken, leave it as it is.
func (t Tally) Add(took time.Duration) Tally {
	if took < 0 || took > mostTaken {
		return t
	}
	x := math.Log(max(took, leastTaken).Seconds())
	if t.Runs <= 0 || math.IsNaN(t.Mean) || math.IsInf(t.Mean, 0) {
		return Tally{Runs: 1, Mean: x}
	}
	share := 1 / float64(min(t.Runs, tallyMemory-1)+1)
	off := max(-mostSurprise, min(mostSurprise, x-t.Mean))
	t.Mean += share * off
	t.Spread = (1 - share) * (t.Spread + share*off*off)
	if t.Runs < math.MaxInt64 {
		t.Runs++
	}
	return t
}

// What is expected before much is known: as if twice something had been seen that differs by half.
const (
	priorSpread = 0.25
	priorRuns   = 2
)

// Typical is how long it usually takes; 0 if unknown.
func (t Tally) Typical() time.Duration {
	if t.Runs <= 0 {
		return 0
	}
	return seconds(math.Exp(t.Mean))
}

// Range returns between what four of five times lie. It is wider where little is known.
func (t Tally) Range() (low, high time.Duration) {
	if t.Runs <= 0 {
		return 0, 0
	}
	n := float64(min(t.Runs, tallyMemory))
	off := 1.28 * math.Sqrt((t.Spread*n+priorSpread*priorRuns)/(n+priorRuns))
	return seconds(math.Exp(t.Mean - off)), seconds(math.Exp(t.Mean + off))
}

func seconds(s float64) time.Duration {
	return time.Duration(min(s, mostTaken.Seconds()) * float64(time.Second)).Round(time.Microsecond)
}

// DurationStats is what is known of a kind of step: how long an attempt took that was the first and succeeded, one that succeeded after
// others had failed, and one that failed. They are kept apart, since an attempt after another one may find most of the work done.
type DurationStats struct {
	Done, Again, Failed Tally
}

// usual is the tally to go by; its Runs are 0 if unknown.
func (p DurationStats) usual() Tally {
	if p.Done.Runs > 0 {
		return p.Done
	}
	return p.Again
}

// DurationStatsByKey are what is known, by kind of step. They are data: the same statistics lead to the same plan.
type DurationStatsByKey map[DurationKey]DurationStats

// Known returns the tally of the narrowest kind of which anything is known; its Runs are 0 where nothing is.
func (p DurationStatsByKey) Known(k DurationKey) Tally {
	if len(p) == 0 {
		return Tally{}
	}
	for _, k := range k.Widths() {
		if t := p[k].usual(); t.Runs > 0 {
			return t
		}
	}
	return Tally{}
}

// DurationSample is one attempt to be taken into the summaries.
type DurationSample struct {
	Duration time.Duration
	Failed   bool
	Attempt  int
}

// Add takes in an attempt.
func (p DurationStats) Add(a DurationSample) DurationStats {
	switch {
	case a.Failed:
		p.Failed = p.Failed.Add(a.Duration)
	case a.Attempt > 1:
		p.Again = p.Again.Add(a.Duration)
	default:
		p.Done = p.Done.Add(a.Duration)
	}
	return p
}
