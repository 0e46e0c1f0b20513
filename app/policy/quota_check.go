package policy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// aheadMonths is how many months a money limit is checked for: the running one and the next two. That is all of them. What
// is committed per hour only falls as leases end, so that no later month can be dearer than the dearer of the next two, one of
// which has 31 days.
const aheadMonths = 3

// QuotaMonths are the months that money per month is checked for.
func QuotaMonths(now time.Time) [aheadMonths]app.Month {
	m := app.MonthOf(now)
	return [aheadMonths]app.Month{m, m.Next(), m.Next().Next()}
}

// commitsByMonth is what a reservation is going to cost in each of the months.
func (r Reservation) commitsByMonth(now time.Time) (cost [aheadMonths]float64) {
	for i, m := range QuotaMonths(now) {
		cost[i] = r.CostPerHour * app.Overlap(now, r.Until, m.Start, m.End).Hours()
	}
	return cost
}

// Commits is what it is going to cost from now on until its lease or the month ends.
func (r Reservation) Commits(now time.Time) float64 { return r.commitsByMonth(now)[0] }

func (r Reservation) amounts() Amounts {
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

// Quantity writes whole numbers as such, and others with two digits, or more where they are small: "1,052", "0.0125".
func Quantity(x float64) string {
	digits := 2
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		digits = 0
	case math.Abs(x) < 0.1:
		digits = 4
	}
	return humanize.Number(x, digits)
}

// Amount writes an amount: money in a currency, by ISO 4217, and else a Quantity.
func (m Measure) Amount(x float64, currency string) string {
	if m == MeasurePerHour || m == MeasurePerMonth {
		return humanize.Money(x, currency)
	}
	return Quantity(x)
}

func (l QuotaLine) amount(x float64) string { return l.Measure.Amount(x, l.Currency) }

// QuotaState is a quota that applies to a reservation, with what else is used of it.
type QuotaState struct {
	Scope  QuotaScope
	Name   string // of the group or user, also where it is the quota for each user
	Limits Limits
	// Currency is that of money, by ISO 4217.
	Currency string
	// Used is without the reservation. Its PerMonth is of no use here: Months has it, spent and committed, for the running
	// month and the next two.
	Used   Amounts
	Months [aheadMonths]float64
}

// QuotaBreach is a limit that a reservation would not keep.
type QuotaBreach struct {
	QuotaLine
	Wanted float64   // how much it would be
	Had    float64   // of it, what the reservation had before
	Month  app.Month // of money per month
	now    time.Time
}

// CheckQuota returns the first limit that a reservation would break; nil for none. Had is the one in whose place it comes, nil
// where it is new: what does not grow is not held against a limit that was lowered since. Where the owner is another one now, that
// holds for the limits that the old owner came under too.
func CheckQuota(r Reservation, had *Reservation, all []QuotaState, now time.Time) *QuotaBreach {
	var before Amounts
	var beforeMonths [aheadMonths]float64
	if had != nil {
		before, beforeMonths = had.amounts(), had.commitsByMonth(now)
	}
	after, months := r.amounts(), r.commitsByMonth(now)
	for _, s := range all {
		before, beforeMonths := before, beforeMonths
		if had != nil && had.Owner != r.Owner && !s.covers(*had) {
			before, beforeMonths = Amounts{}, [aheadMonths]float64{}
		}
		for _, m := range Measures {
			limit, limited := s.Limits.Of(m)
			if !limited {
				continue
			}
			b := QuotaBreach{QuotaLine: QuotaLine{Measure: m, Scope: s.Scope, Name: s.Name, Currency: s.Currency, Limit: limit, Used: s.Used.Of(m)}, now: now}
			if m != MeasurePerMonth {
				if b.over(after.Of(m), before.Of(m)) {
					return &b
				}
				continue
			}
			for i, month := range QuotaMonths(now) {
				b.Used, b.Month = s.Months[i], month
				if b.over(months[i], beforeMonths[i]) {
					return &b
				}
			}
		}
	}
	return nil
}

// covers reports whether a reservation counts towards the quota.
func (s QuotaState) covers(r Reservation) bool {
	switch s.Scope {
	case QuotaTenant:
		return true
	case QuotaGroup:
		return slices.Contains(r.Groups, s.Name)
	}
	return s.Name == r.Owner
}

// over fills in what a limit comes to. Sums of prices are not exact, so a hair more is not over.
func (b *QuotaBreach) over(after, before float64) bool {
	b.Wanted, b.Had, b.Remaining = b.Used+after, before, max(b.Limit-b.Used, 0)
	return after > before && b.Wanted > b.Limit*(1+1e-9)+1e-9
}

// QuotaHolder is a cluster that takes part of a limit.
type QuotaHolder struct {
	Name   string // "" for a request that waits
	Owner  string
	Amount float64
}

// Refusal says to the one who asked which limit of whom it is, who uses how much of it, and what would fit. Holders are
// those who have most of it; others counts the rest.
func (b *QuotaBreach) Refusal(r Reservation, holders []QuotaHolder, others int) *app.Error {
	e := &app.Error{Code: app.EQuota, Reason: "quota", Field: "size"}
	whose := b.Whose()
	switch b.Measure {
	case MeasurePerHour:
		e.Message = fmt.Sprintf("This would take %s to %s per hour, over the limit of %s", whose, b.amount(b.Wanted), b.amount(b.Limit))
	case MeasurePerMonth:
		e.Message = fmt.Sprintf("This would take %s to %s for %s, over the budget of %s", whose, b.amount(b.Wanted), b.Month.Text(), b.amount(b.Limit))
	default:
		e.Message = fmt.Sprintf("This would take %s to %s, over the limit of %s", whose, b.Measure.Count(b.Wanted), Quantity(b.Limit))
	}
	e.Message += b.usedBy(holders, others)
	e.Hint = b.fits(r, holders)
	return e
}

func (b *QuotaBreach) usedBy(holders []QuotaHolder, others int) string {
	if b.Used <= 0 {
		return "; nothing is used yet."
	}
	text := fmt.Sprintf(": %s used", b.be())
	if b.Measure == MeasurePerMonth {
		text = fmt.Sprintf(": %s is spent or committed", b.amount(b.Used))
	}
	var names []string
	for _, h := range holders {
		switch {
		case h.Name == "":
			h.Name = "a request by " + h.Owner
		case h.Owner != "" && b.Scope != QuotaUser && b.Scope != QuotaEachUser:
			h.Name = h.Owner + "'s " + h.Name
		}
		if b.Measure != MeasureClusters && h.Amount > 0 {
			h.Name += " (" + b.amount(h.Amount) + ")"
		}
		names = append(names, h.Name)
	}
	if others > 0 {
		names = append(names, fmt.Sprintf("%d more", others))
	}
	if len(names) > 0 {
		text += " by " + humanize.And(names)
	}
	return text + "."
}

// fits says what would be possible.
func (b *QuotaBreach) fits(r Reservation, holders []QuotaHolder) string {
	var ways []string
	grown := r.Nodes > 0 && (b.Had == 0 || b.Measure != MeasurePerMonth)
	share := (b.Wanted - b.Used) / float64(max(r.Nodes, 1))
	if n := int(math.Floor(b.Remaining/share + 1e-9)); grown && b.Measure != MeasureClusters && share > 0 && n >= 1 {
		ways = append(ways, "request at most "+humanize.Count(n, "node"))
	}
	if d := b.longest(r); d > 0 {
		ways = append(ways, "request a lease of at most "+humanize.Duration(d))
	}
	excess := b.Wanted - b.Limit
	var own *QuotaHolder
	for i, h := range holders {
		if h.Owner == r.Owner && h.Name != "" && h.Amount >= excess-1e-9 && (own == nil || h.Amount < own.Amount) {
			own = &holders[i]
		}
	}
	if own != nil {
		ways = append(ways, "delete "+own.Name)
	}
	ways = append(ways, "ask an admin for a higher limit")
	return humanize.Upper(humanize.Or(ways)) + "."
}

// longest returns the lease, from now, that a budget would still allow; 0 for none that is worth it.
func (b *QuotaBreach) longest(r Reservation) time.Duration {
	const worth = 10 * time.Minute
	if b.Measure != MeasurePerMonth || r.CostPerHour <= 0 {
		return 0
	}
	hours := b.Remaining / r.CostPerHour
	if hours > 24*31 {
		return 0
	}
	end := b.now
	if b.Month.Start.After(end) {
		end = b.Month.Start
	}
	d := end.Add(time.Duration(hours * float64(time.Hour))).Sub(b.now).Truncate(time.Minute)
	if d < worth {
		return 0
	}
	return d
}

func (b *QuotaBreach) be() string {
	if b.Used == 1 || b.Measure == MeasurePerHour {
		return b.amount(b.Used) + " is"
	}
	return b.amount(b.Used) + " are"
}

// LinesOf returns the limits of quotas that apply, with what is left; months are those of now.
func LinesOf(all []QuotaState) []QuotaLine {
	lines := []QuotaLine{}
	for _, s := range all {
		for _, m := range Measures {
			limit, limited := s.Limits.Of(m)
			if !limited {
				continue
			}
			used := s.Used.Of(m)
			if m == MeasurePerMonth {
				used = s.Months[0]
			}
			lines = append(lines, QuotaLine{Measure: m, Scope: s.Scope, Name: s.Name, Currency: s.Currency, Limit: limit, Used: used, Remaining: max(limit-used, 0)})
		}
	}
	slices.SortStableFunc(lines, func(a, b QuotaLine) int {
		return slices.Index(Measures, a.Measure) - slices.Index(Measures, b.Measure)
	})
	return lines
}
