package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// figure is one line of the output and of the JSON file. With a reference it's about the ratio of both.
type figure struct {
	Name      string     `json:"name"` // of a part of the figure before it: begins with spaces
	Unit      string     `json:"unit"`
	Value     float64    `json:"value"` // the median of Runs
	Runs      []float64  `json:"runs"`
	Reference *reference `json:"reference,omitempty"` // measured in the same run
	Ratio     float64    `json:"ratio,omitempty"`     // the median of Ratios
	Ratios    []float64  `json:"ratios,omitempty"`    // each run beside the reference's run of the same round
	Limit     float64    `json:"limit,omitempty"`     // of the ratio, if there is one, otherwise of the value; 0: none

	note string
}

// reference is what a figure is compared with.
type reference struct {
	Name  string    `json:"name"`
	Value float64   `json:"value"` // the median of Runs
	Runs  []float64 `json:"runs"`
}

// complete calculates medians and ratios.
func (f *figure) complete() error {
	f.Value = median(f.Runs)
	f.Ratios = nil
	if f.Reference == nil {
		return nil
	}
	f.Reference.Value = median(f.Reference.Runs)
	for i, r := range f.Reference.Runs {
		if !(r > 0) {
			return fmt.Errorf("%s: the reference measured %v %s", strings.TrimSpace(f.Name), r, f.Unit)
		}
		f.Ratios = append(f.Ratios, f.Runs[i]/r)
	}
	f.Ratio = median(f.Ratios)
	return nil
}

// judged returns what the limit is for, with its unit and all runs.
func (f *figure) judged() (value float64, unit string, runs []float64) {
	if f.Reference != nil {
		return f.Ratio, "x", f.Ratios
	}
	return f.Value, f.Unit, f.Runs
}

func (f *figure) over() bool {
	value, _, _ := f.judged()
	return f.Limit > 0 && value > f.Limit
}

const layout = "%-70s %9s %-3s %12s  %s\n"

// noisy is how far apart the runs of a figure may be, as greatest by smallest, before the output warns of it.
const noisy = 1.5

func (f *figure) String() string {
	value, unit, runs := f.judged()
	limit := "-"
	var notes []string
	if f.Limit > 0 {
		limit = digits(f.Limit) + " " + unit
	}
	if f.over() {
		notes = append(notes, "OVER ITS LIMIT")
	}
	if len(runs) > 1 {
		low, high := slices.Min(runs), slices.Max(runs)
		notes = append(notes, fmt.Sprintf("%s to %s in %d runs", digits(low), digits(high), len(runs)))
		if high > noisy*low {
			notes = append(notes, "NOISY")
		}
	}
	if f.Reference != nil {
		notes = append(notes, fmt.Sprintf("%s %s; %s: %s %s", digits(f.Value), f.Unit, f.Reference.Name, digits(f.Reference.Value), f.Unit))
	}
	if f.note != "" {
		notes = append(notes, f.note)
	}
	return fmt.Sprintf(layout, f.Name, digits(value), unit, strings.TrimSpace(limit), strings.Join(notes, "; "))
}

// median returns the lower of two in the middle; NaN if any number is.
func median(all []float64) float64 {
	if len(all) == 0 || slices.ContainsFunc(all, math.IsNaN) {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)/2]
}

// digits returns a number with three digits, and without an exponent.
func digits(x float64) string {
	switch m := math.Abs(x); {
	case m >= 100:
		return fmt.Sprintf("%.0f", x)
	case m >= 10:
		return fmt.Sprintf("%.1f", x)
	case m >= 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

// thousands writes a number as people do: 10,000.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
