package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app/humanize"
)

// Text says how many nodes there may be: "2 to 5 nodes", "3, 5 or 7 nodes".
func (r SizeRange) Text() string {
	lo := r.Least()
	switch n := len(r.OneOf); {
	case n > 1:
		var first []string
		for _, size := range r.OneOf[:n-1] {
			first = append(first, strconv.Itoa(size))
		}
		return fmt.Sprintf("%s or %d nodes", strings.Join(first, ", "), r.OneOf[n-1])
	case r.Max == 0 || r.Max >= Unlimited:
		return fmt.Sprintf("%d or more nodes", lo)
	case r.Max == lo:
		return "exactly " + humanize.Count(lo, "node")
	}
	return fmt.Sprintf("%d to %d nodes", lo, r.Max)
}

// Lengths are those that people use and the lease allows, for a list to choose from; what it begins with is left out, and 0 is
// forever.
func (l Lease) Lengths() []time.Duration {
	const day = 24 * time.Hour
	var out []time.Duration
	for _, d := range []time.Duration{time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, day, 2 * day, 3 * day, 7 * day, 14 * day, 30 * day, 90 * day, 0} {
		switch {
		case d == l.Initial, d == 0 && l.Max > 0, l.Max > 0 && d > l.Max, l.Step > 0 && d%l.Step != 0:
			continue
		}
		out = append(out, d)
	}
	return out
}
