package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// bench is one run of this command.
type bench struct {
	sizes
	budget time.Duration // to measure something short
	runs   int           // of what has a reference
	alone  bool          // without references
	out    io.Writer
	record *json.Encoder // nil: no JSON
	where  string        // the database of the portal's scenarios; "": a file for each
	filled bool          // with demo data, by someone else

	parent string // the latest figure that isn't part of another one
	over   int    // figures that exceed their limits
	failed error  // why a figure couldn't be calculated
}

// sizes is how much is measured.
type sizes struct {
	limits             bool // limits are for full sizes
	nodes, fewer       int  // of one big cluster, and of the one that it's compared with
	clusters, each     int  // how many at once, and their nodes
	shared             int  // how many at once that several servers work on
	machines, more     int  // with OpenSSH, and how many more scripts show what one costs
	waiting            int  // scripts at the same time
	makespan           int  // nodes
	copies, liveCopies int  // of the demo data's clusters
	looks              int  // at each page
	pages              int  // that stay open
	liveFor, liveRest  time.Duration
	readsFor           time.Duration
}

// machines is how many addresses fake nodes of OpenSSH have.
const machines = 200

var full = sizes{limits: true, nodes: 10_000, fewer: 1000, clusters: 1000, each: 10, shared: 100, machines: machines, more: 15, waiting: 5000, makespan: 60,
	copies: 400, liveCopies: 260, looks: 9, pages: 500, liveFor: 20 * time.Second, liveRest: 12 * time.Second,
	readsFor: 15 * time.Second}

// short is for tests, and for a look whether everything still works.
var short = sizes{nodes: 40, fewer: 10, clusters: 20, each: 2, shared: 10, machines: 4, more: 2, waiting: 20, makespan: 14,
	copies: 5, liveCopies: 5, looks: 1, pages: 10, liveFor: time.Second, liveRest: 300 * time.Millisecond,
	readsFor: time.Second}

// scenario measures something, and adds figures.
type scenario struct {
	name    string
	measure func(ctx context.Context, b *bench) error
}

// sideTimeout is how long one run of one side may take before it counts as failed.
const sideTimeout = 5 * time.Minute

// scenarioTimeout is a scenario's, with all runs.
const scenarioTimeout = time.Hour

// run measures and prints the scenarios whose names contain a text. It returns how many failed.
func (b *bench) run(ctx context.Context, scenarios []scenario, only string) (wrong int) {
	fmt.Fprintf(b.out, layout, "figure", "median", "", "limit", "spread and references, which were measured in turn with it")
	for _, s := range scenarios {
		if !strings.Contains(s.name, only) || ctx.Err() != nil {
			continue
		}
		if err := b.one(ctx, s); err != nil {
			fmt.Fprintf(b.out, "%-70s WRONG: %v\n", s.name, err)
			wrong++
		}
	}
	return wrong
}

func (b *bench) one(ctx context.Context, s scenario) error {
	ctx, cancel := context.WithTimeoutCause(ctx, scenarioTimeout, fmt.Errorf("not finished within %s", scenarioTimeout))
	defer cancel()
	b.failed = nil
	if err := s.measure(ctx, b); err != nil {
		return err
	}
	return b.failed
}

// add prints a figure, and notes it. What needs a side that was left out is left out too.
func (b *bench) add(f figure) {
	if slices.ContainsFunc(f.Runs, math.IsNaN) || f.Reference != nil && slices.ContainsFunc(f.Reference.Runs, math.IsNaN) {
		return
	}
	if err := f.complete(); err != nil {
		b.failed = err
		return
	}
	if !b.limits {
		f.Limit = 0
	}
	if f.over() {
		b.over++
	}
	fmt.Fprint(b.out, f.String())
	if part := strings.TrimSpace(f.Name); part != f.Name {
		f.Name = b.parent + ": " + part
	} else {
		b.parent = f.Name
	}
	if b.record != nil && b.failed == nil {
		b.failed = b.record.Encode(f)
	}
}

// value adds a figure that was measured once.
func (b *bench) value(name string, value float64, unit string, limit float64, note string) {
	b.add(figure{Name: name, Unit: unit, Runs: []float64{value}, Limit: limit, note: note})
}

// leftOut says what isn't measured, and why.
func (b *bench) leftOut(name, why string) {
	fmt.Fprintf(b.out, "%-70s left out: %s\n", name, why)
}

// side is one of the things that are measured in turn. What it returns is by quantity: "wall" and "cpu" in seconds, and so on.
type side struct {
	name      string
	reference bool // what Muster is compared with
	once      bool // takes too long for all runs
	run       func(ctx context.Context) (sample, error)
}

type sample map[string]float64

// round has one sample of each side, by its name.
type round map[string]sample

// alternate measures all sides one after the other, and that several times: what else the machine does in the meantime affects all.
func (b *bench) alternate(ctx context.Context, sides ...side) ([]round, error) {
	var all []round
	for i := range b.runs {
		r := round{}
		for _, s := range sides {
			switch {
			case s.reference && b.alone:
			case s.once && i > 0:
				r[s.name] = all[0][s.name]
			default:
				ctx, cancel := context.WithTimeoutCause(ctx, sideTimeout, fmt.Errorf("not finished within %s", sideTimeout))
				got, err := s.run(ctx)
				cancel()
				if err != nil {
					return nil, fmt.Errorf("%s: %w", s.name, err)
				}
				r[s.name] = got
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// of returns a quantity of a side; NaN if the side was left out.
func of(side, quantity string) func(round) float64 {
	return func(r round) float64 {
		if v, ok := r[side][quantity]; ok {
			return v
		}
		return math.NaN()
	}
}

func each(rounds []round, f func(round) float64) []float64 {
	all := make([]float64, len(rounds))
	for i, r := range rounds {
		all[i] = f(r)
	}
	return all
}

// compare returns a figure about the ratio of two quantities in the same round.
func compare(rounds []round, name, unit string, limit float64, value func(round) float64, with string, other func(round) float64) figure {
	return figure{Name: name, Unit: unit, Runs: each(rounds, value), Limit: limit, Reference: &reference{Name: with, Runs: each(rounds, other)}}
}

// machine is the first line of the JSON file.
type machine struct {
	Commit string `json:"commit"` // with "-dirty" after changes
	Cores  int    `json:"cores"`
	Used   int    `json:"cores_used"`
	CPU    string `json:"cpu"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Runs   int    `json:"runs_of_pairs"`
}

func describeMachine(ctx context.Context, runs int) machine {
	m := machine{Commit: "unknown", Cores: runtime.NumCPU(), Used: runtime.GOMAXPROCS(0), CPU: "unknown", Go: runtime.Version(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Runs: runs}
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*").Output(); err == nil {
		m.Commit = string(bytes.TrimSpace(out))
	}
	text, _ := os.ReadFile("/proc/cpuinfo") // Linux
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}
