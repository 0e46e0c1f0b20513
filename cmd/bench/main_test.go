package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// quick is a scenario that adds a figure of some runs, beside a reference if there are runs of one, or fails.
func quick(name string, limit float64, runs, other []float64, err error) scenario {
	return scenario{name: name, measure: func(_ context.Context, b *bench) error {
		if err == nil {
			f := figure{Name: name, Unit: "s", Runs: runs, Limit: limit}
			if len(other) > 0 {
				f.Reference = &reference{Name: "someone else", Runs: other}
			}
			b.add(f)
			b.value("  memory", 3, "MB", 0, "")
		}
		return err
	}}
}

func TestOutputSaysWhatIsOverAndWhatIsWrong(t *testing.T) {
	var out, record bytes.Buffer
	b := &bench{sizes: full, out: &out, record: json.NewEncoder(&record)}
	wrong := b.run(t.Context(), []scenario{
		quick("fast", 10, []float64{3, 2, 9}, nil, nil),
		quick("slow", 1, []float64{2, 2.1, 2.2}, nil, nil),
		quick("as fast as it must be", 0.5, []float64{4, 6, 5}, []float64{10, 10, 20}, nil),
		quick("slower than the reference may be", 0.5, []float64{6, 6, 6}, []float64{10, 10, 10}, nil),
		quick("without a limit", 0, []float64{1}, nil, nil),
		quick("without its reference", 1, []float64{1}, []float64{math.NaN()}, nil),
		quick("beside nothing", 1, []float64{1}, []float64{0}, nil),
		quick("mistaken", 1, nil, nil, errors.New("two and two are five")),
		{name: "missing", measure: func(_ context.Context, b *bench) error { b.leftOut("missing", "it isn't installed"); return nil }},
	}, "")
	if b.over != 2 || wrong != 2 {
		t.Errorf("%d over and %d wrong, expected 2 and 2", b.over, wrong)
	}
	for _, want := range []string{
		`(?m)^fast +3\.00 s +10\.0 s +2\.00 to 9\.00 in 3 runs; NOISY$`,
		`(?m)^slow +2\.10 s +1\.00 s +OVER ITS LIMIT; 2\.00 to 2\.20 in 3 runs$`,
		`(?m)^as fast as it must be +0\.400 x +0\.500 x +0\.250 to 0\.600 in 3 runs; NOISY; 5\.00 s; someone else: 10\.0 s$`,
		`(?m)^slower than the reference may be +0\.600 x +0\.500 x +OVER ITS LIMIT; 0\.600 to 0\.600 in 3 runs; 6\.00 s; someone else: 10\.0 s$`,
		`(?m)^without a limit +1\.00 s +- *$`,
		`(?m)^beside nothing +WRONG: .*the reference measured 0 s$`,
		`(?m)^mistaken +WRONG: two and two are five$`,
		`(?m)^missing +left out: it isn't installed$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("nothing is like %s:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "without its reference") {
		t.Errorf("what needs a reference that was left out isn't left out:\n%s", out.String())
	}
	var names []string
	for line := range strings.Lines(record.String()) {
		var f figure
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		if f.Name == "as fast as it must be" && (f.Ratio != 0.4 || f.Limit != 0.5 || f.Value != 5 || f.Reference.Value != 10 || !slices.Equal(f.Ratios, []float64{0.4, 0.6, 0.25})) {
			t.Errorf("the record is %s", line)
		}
	}
	if want := []string{"fast", "fast: memory", "slow", "slow: memory"}; !slices.Equal(names[:4], want) {
		t.Errorf("the first figures on record are %q, expected %q", names[:4], want)
	}
}

func TestSidesTakeTurns(t *testing.T) {
	var order []string
	n := 0.0
	does := func(name string, reference, once bool) side {
		return side{name, reference, once, func(context.Context) (sample, error) {
			order = append(order, name)
			n++
			return sample{"wall": n}, nil
		}}
	}
	sides := []side{does("a", false, false), does("b", true, false), does("c", true, true)}
	rounds, err := (&bench{runs: 2}).alternate(t.Context(), sides...)
	if want := []string{"a", "b", "c", "a", "b"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("the order is %q, %v, expected %q", order, err, want)
	}
	if got, want := each(rounds, of("c", "wall")), []float64{3, 3}; !slices.Equal(got, want) {
		t.Errorf("what is measured once is %v in the rounds, expected %v", got, want)
	}
	order = nil
	rounds, err = (&bench{runs: 1, alone: true}).alternate(t.Context(), sides...)
	if want := []string{"a"}; err != nil || !slices.Equal(order, want) || !math.IsNaN(of("b", "wall")(rounds[0])) {
		t.Errorf("without references the order is %q, %v, expected %q", order, err, want)
	}
}

func TestOneScenarioCanBeChosen(t *testing.T) {
	var out bytes.Buffer
	b := &bench{sizes: full, out: &out, budget: time.Millisecond}
	if wrong := b.run(t.Context(), solverScenarios(), "10 exclusive services, each at least 3"); wrong > 0 {
		t.Fatalf("%d wrong\n%s", wrong, out.String())
	}
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m, err := memory(func() error {
		var hold [][]byte
		for range 40 {
			hold = append(hold, make([]byte, 1<<20)) // 40 MB at once
		}
		runtime.KeepAlive(hold)
		return nil
	})
	if err != nil || m < 30<<20 || m > 80<<20 {
		t.Errorf("40 MB held at once are reported as %d MB, %v", m>>20, err)
	}
	m, _ = memory(func() error { runtime.KeepAlive(make([]byte, 1<<20)); return nil })
	if m < 1<<20 || m > 2<<20 {
		t.Errorf("1 MB is reported as %d bytes", m)
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{0: "0.000", 0.01234: "0.012", 0.5: "0.500", 3.14159: "3.14", 31.4159: "31.4", 1234.5: "1234", -20: "-20.0"} {
		if got := digits(x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
	for n, want := range map[int]string{7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// measureShort runs scenarios in their short form, and expects figures of each. Those that mostly wait can run at the same
// time. Where makes databases with demo data.
func measureShort(t *testing.T, parallel bool, where func(t *testing.T) string, scenarios []scenario) {
	names := sync.Map{}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if parallel {
				t.Parallel()
			}
			var out, record bytes.Buffer
			b := &bench{sizes: short, out: &out, record: json.NewEncoder(&record), budget: time.Millisecond, runs: 1}
			if where != nil {
				b.where, b.filled = where(t), true
			}
			if err := b.one(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if record.Len() == 0 && !strings.Contains(out.String(), "left out") {
				t.Error("no figures")
			}
			for line := range strings.Lines(record.String()) {
				var f figure
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				if other, twice := names.LoadOrStore(f.Name, s.name); twice {
					t.Errorf("%q is a figure of %q too", f.Name, other)
				}
			}
		})
	}
}

func TestSolverScenarios(t *testing.T) { measureShort(t, false, nil, solverScenarios()) }
