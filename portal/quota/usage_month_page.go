package quota

import (
	"fmt"
	"math"
	"time"

	"muster/app"
	"muster/app/usage"
	"muster/portal/page"
)

// Periods with a link.
const (
	thisMonth = "month"
	lastMonth = "last-month"
	lastDays  = "week"
)

// UsageRange is a period with a link.
type UsageRange struct{ Name, Words string }

// UsageRanges are all periods with a link.
var UsageRanges = []UsageRange{{thisMonth, "This month"}, {lastMonth, "Last month"}, {lastDays, "Last 7 days"}}

// UsageChoices are groupings with a link; the form has more.
var UsageChoices = []usage.GroupBy{usage.ByTemplate, usage.ByProvider, usage.ByUser}

// MonthDay is a day of the month: its cost or forecast, and the month's total by then.
type MonthDay struct {
	Start      time.Time
	Cost       float64 // so far
	Ahead      float64 // forecast
	Total      float64 // of the month by the end of the day, or now
	TotalAhead float64 // likewise, with the forecast
}

// monthDays returns each day of the month with its cost and forecast.
func monthDays(lines, ahead []usage.Line, now time.Time) (days []MonthDay) {
	month := app.MonthOf(now)
	at := map[time.Time]int{}
	for d := month.Start; d.Before(month.End); d = usage.IntervalDay.Next(d) {
		at[d] = len(days)
		days = append(days, MonthDay{Start: d})
	}
	for _, l := range lines {
		if i, in := at[usage.IntervalDay.Start(l.Start)]; in {
			days[i].Cost += l.Cost
		}
	}
	for _, l := range ahead {
		if i, in := at[usage.IntervalDay.Start(l.Start)]; in {
			days[i].Ahead += l.Cost
		}
	}
	total, totalAhead := 0.0, 0.0
	for i := range days {
		total += days[i].Cost
		totalAhead += days[i].Cost + days[i].Ahead
		days[i].Total, days[i].TotalAhead = total, totalAhead
	}
	return days
}

// Month is the chart of the month's cumulative cost and forecast against the budget.
type Month struct {
	Days   []MonthDay
	Lines  []MonthLine
	Budget string // position of its line; "" for none
	Now    string // position of now, in percent of the width
	Top    string // value at full height
	Label  string // text alternative
}

// MonthLine is a part of the curve. X are percentages of the width, Y is in the units of ChartHeight.
type MonthLine struct {
	X1, X2, Y1, Y2 string
	Ahead          bool
}

// Month draws the month; nil without a forecast or for other intervals than days.
func (u Usage) Month() *Month {
	if u.Ahead == nil || u.Usage.Step != usage.IntervalDay {
		return nil
	}
	now := u.Ahead.From
	m, month := &Month{Days: monthDays(u.Usage.Lines, u.Ahead.Days, now)}, app.MonthOf(now)
	top := m.Days[len(m.Days)-1].TotalAhead
	if u.Ahead.Budget != nil {
		top = max(top, *u.Ahead.Budget)
	}
	x := func(t time.Time) string {
		return page.Decimal(100*float64(t.Sub(month.Start))/float64(month.End.Sub(month.Start))) + "%"
	}
	// The line's width needs room at the top and at the bottom.
	y := func(v float64) string { return page.Decimal(ChartHeight - 2 - v/math.Max(top, 1e-9)*(ChartHeight-6)) }
	m.Now, m.Top = x(now), u.money(top)
	before := 0.0
	for _, d := range m.Days {
		end := usage.IntervalDay.Next(d.Start)
		from, until := d.Start, end
		if d.Start.Before(now) {
			if until.After(now) {
				until = now
			}
			m.Lines = append(m.Lines, MonthLine{X1: x(from), X2: x(until), Y1: y(before), Y2: y(d.Total)})
			before, from = d.Total, until
		}
		if from.Before(end) {
			m.Lines = append(m.Lines, MonthLine{X1: x(from), X2: x(end), Y1: y(before), Y2: y(d.TotalAhead), Ahead: true})
			before = d.TotalAhead
		}
	}
	m.Label = fmt.Sprintf("Cost of %s: %s so far, forecast %s", month.Text(), u.money(u.Usage.Total.Cost), u.money(u.Forecast()))
	if u.Ahead.Budget != nil {
		m.Budget = y(*u.Ahead.Budget)
		m.Label += fmt.Sprintf(", budget %s", u.money(*u.Ahead.Budget))
	}
	m.Label += "; daily costs are in the table below"
	return m
}

// Forecast is the forecast cost of the whole month.
func (u Usage) Forecast() float64 { return u.Usage.Total.Cost + u.Ahead.Cost }

// ForecastWords explain the forecast.
func (u Usage) ForecastWords() string {
	return fmt.Sprintf("The forecast adds %s for running clusters (%s/h) until their leases or the month ends. It assumes that no cluster is created, deleted or extended.",
		u.money(u.Ahead.Cost), u.money(u.Ahead.PerHour))
}

// BudgetWords compare the forecast with the budget.
func (u Usage) BudgetWords() string {
	left := *u.Ahead.Budget - u.Forecast()
	switch {
	case left < 0 && u.Usage.Total.Cost > *u.Ahead.Budget:
		return fmt.Sprintf("The budget of %s is exceeded.", u.money(*u.Ahead.Budget))
	case left < 0:
		return fmt.Sprintf("The forecast exceeds the budget of %s by %s.", u.money(*u.Ahead.Budget), u.money(-left))
	}
	return fmt.Sprintf("The forecast leaves %s of the budget of %s.", u.money(left), u.money(*u.Ahead.Budget))
}

// BudgetLeft is the rest of this month's budget.
func (u Usage) BudgetLeft() float64 { return max(*u.Ahead.Budget-u.Usage.Total.Cost, 0) }

// OverBudget reports whether the forecast is more than the budget.
func (u Usage) OverBudget() bool { return u.Ahead.Budget != nil && u.Forecast() > *u.Ahead.Budget }

// DateKind is the type of an input for what was typed, since date inputs don't show invalid dates.
func DateKind(typed string) string {
	if _, err := time.Parse(time.DateOnly, typed); typed != "" && err != nil {
		return "text"
	}
	return "date"
}

// complaint is the error of a field; errors about no field belong to the form.
func (u Usage) complaint(field string) page.Complaint {
	shown := map[string]bool{"from": true, "to": true, "by": true, "step": true}
	if field == u.ErrorAt || field == "form" && !shown[u.ErrorAt] {
		return u.Error
	}
	return page.Complaint{}
}
