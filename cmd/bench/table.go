package main

import (
	"fmt"
	"io"
	"time"
)

// memoryLimit is what no figure of the solver may hold at once.
const memoryLimit = 100 << 20

// table prints lines as they come, so that one who waits sees them.
type table struct{ w io.Writer }

const layout = "%-62s %9s %-2s  %9s  %10s  %9s  %s\n"

func (t *table) head(base measured) {
	fmt.Fprintf(t.w, "medians on %d cores; the reference is plain Go work that takes %s ms here\n\n", cores, digits(milliseconds(base.median)))
	fmt.Fprintf(t.w, layout, "figure", "median", "", "limit", "/reference", "memory", "compared with")
}

// row prints a figure and reports whether it is over a limit.
func (t *table) row(f figure, m, base measured) (over bool) {
	limit, compared := "-", f.compared
	if f.limit > 0 {
		limit = digits(milliseconds(f.limit)) + " ms"
	}
	over = f.limit > 0 && m.median > f.limit || f.limit > 0 && m.memory > memoryLimit
	if over {
		compared = "OVER ITS LIMIT. " + compared
	}
	fmt.Fprintf(t.w, layout, f.name, digits(milliseconds(m.median)), "ms", limit,
		digits(float64(m.median)/float64(base.median)), digits(float64(m.memory)/(1<<20))+" MB", compared)
	return over
}

// wrong prints a figure that did not get the answer that it must.
func (t *table) wrong(f figure, err error) { fmt.Fprintf(t.w, "%-62s WRONG: %v\n", f.name, err) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// digits returns a number with two digits or three, and without an exponent.
func digits(x float64) string {
	switch {
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	case x >= 1:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}
