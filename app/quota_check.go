package app

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// AheadMonths is how many months a money limit is checked for: the running one and the next two. That is all of them. What
// is committed per hour only falls as leases end, so that no later month can be dearer than the dearer of the next two, one of
// which has 31 days.
const AheadMonths = 3

// QuotaMonths are the months that money per month is checked for.
func QuotaMonths(now time.Time) [AheadMonths]Month {
	m := MonthOf(now)
	return [AheadMonths]Month{m, m.Next(), m.Next().Next()}
}

// CommitsByMonth is what a reservation is going to cost in each of the months.
func (r Reservation) CommitsByMonth(now time.Time) (cost [AheadMonths]float64) {
	for i, m := range QuotaMonths(now) {
		cost[i] = r.CostPerHour * Overlap(now, r.Until, m.Start, m.End).Hours()
	}
	return cost
}

// Commits is what it is going to cost from now on until its lease or the month ends.
func (r Reservation) Commits(now time.Time) float64 { return r.CommitsByMonth(now)[0] }

func (r Reservation) Amounts() Amounts {
	clusters := 1.0
	if r.Pool {
		clusters = 0
	}
	return Amounts{Clusters: clusters, Nodes: float64(r.Nodes), CPU: r.CPU, PerHour: r.CostPerHour}
}

// Whose says whose limit it is.
func (l QuotaLine) Whose() string {
	switch l.Scope {
	case QuotaTenant:
		return "the tenant"
	case QuotaGroup:
		return fmt.Sprintf("the group %q", l.Name)
	}
	if l.Name == "" {
		return "each user"
	}
	return l.Name
}

// Count writes an amount with its noun.
func (m Measure) Count(x float64) string {
	noun := map[Measure]string{MeasureClusters: "cluster", MeasureNodes: "node", MeasureCPU: "core"}[m]
	if x == 1 {
		return "1 " + noun
	}
	return Quantity(x) + " " + noun + "s"
}

// Quantity writes whole numbers as such, and others with two digits, or more where they are small.
func Quantity(x float64) string {
	digits := 2
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		digits = 0
	case math.Abs(x) < 0.1:
		digits = 4
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// Length writes a length of time as people say it, with its two greatest units: 3 d 4 h, 2 h, 15 min.
func Length(d time.Duration) string {
	day := 24 * time.Hour
	units := []struct {
		size time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.size && i < len(units)-1 {
			continue
		}
		text := fmt.Sprintf("%d %s", d/u.size, u.name)
		if i+1 < len(units) {
			if n := d % u.size / units[i+1].size; n > 0 {
				text += fmt.Sprintf(" %d %s", n, units[i+1].name)
			}
		}
		return text
	}
	return ""
}

func AndList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
