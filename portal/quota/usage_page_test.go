package quota

import (
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/usage"
	"muster/portal/page"
)

func usageOf(now time.Time, costs ...float64) Usage {
	u := Usage{By: usage.ByTemplate, Usage: usage.Usage{From: app.MonthOf(now).Start, To: now, By: usage.ByTemplate, Step: usage.IntervalDay}}
	for i, c := range costs {
		u.Usage.Lines = append(u.Usage.Lines, usage.Line{Start: usage.IntervalDay.Start(now), Key: fmt.Sprintf("k%02d", i), Sum: usage.Sum{Cost: c}})
		u.Usage.Total.Cost += c
	}
	return u
}

func TestChartStacks(t *testing.T) {
	now := time.Date(2030, 5, 3, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		keys, parts int
		last        string
	}{{1, 1, "k00"}, {8, 8, "k07"}, {9, 8, "2 others"}, {500, 8, "493 others"}} {
		costs := make([]float64, c.keys)
		for i := range costs {
			costs[i] = float64(1000 - i)
		}
		chart := usageOf(now, costs...).NewChart(usageCost, page.Amount2, nil)
		bar := chart.Bars[2]
		if len(chart.Bars) != 3 || len(bar.Parts) != c.parts || len(chart.Keys) != c.parts || chart.Keys[c.parts-1].Name != c.last || len(chart.Bars[0].Parts) != 0 {
			t.Errorf("%d keys: %d bars, %d parts, keys %v", c.keys, len(chart.Bars), len(bar.Parts), chart.Keys)
		}
		if bar.Parts[len(bar.Parts)-1].Y != "0.00" {
			t.Errorf("%d keys: the parts don't fill the height: %v", c.keys, bar.Parts)
		}
	}
	// The forecast is on top of today, and future days follow.
	chart := usageOf(now, 3).NewChart(usageCost, page.Amount2, []usage.Line{{Start: usage.IntervalDay.Start(now), Sum: usage.Sum{Cost: 1}},
		{Start: usage.IntervalDay.Start(now).AddDate(0, 0, 1), Sum: usage.Sum{Cost: 2}}})
	if len(chart.Bars) != 4 || chart.Top != "4.00" || chart.Bars[2].Ahead != (ChartPart{Y: "0.00", Height: "40.00"}) || chart.Bars[3].Ahead.Height != "80.00" ||
		chart.Bars[2].Title != "Fri 3 May: 3.00, forecast 1.00" || chart.Last != "Sat 4 May" {
		t.Errorf("%+v", chart)
	}
	if empty := (Usage{Usage: usage.Usage{From: now, To: now, Step: usage.IntervalHour}}).NewChart(usageCost, page.Amount2, nil); len(empty.Bars) != 0 {
		t.Errorf("no time has bars: %+v", empty)
	}
}

func TestMonth(t *testing.T) {
	now := time.Date(2030, 4, 15, 12, 0, 0, 0, time.UTC)
	u := usageOf(now, 30, 10)
	if u.Month() != nil {
		t.Error("month drawn without a forecast")
	}
	ahead := usage.ComputeForecast([]usage.Commitment{{PerHour: 1, Until: now.Add(36 * time.Hour)}}, now, app.MonthOf(now).End)
	u.Ahead = &ahead
	m := u.Month()
	if len(m.Days) != 30 || m.Days[14] != (MonthDay{Start: usage.IntervalDay.Start(now), Cost: 40, Ahead: 12, Total: 40, TotalAhead: 52}) || m.Days[29].TotalAhead != 76 {
		t.Errorf("%+v", m.Days)
	}
	// 14.5 days are spent and 15.5 are ahead; the curve has no gap.
	if len(m.Lines) != 31 || m.Lines[14].Ahead || !m.Lines[15].Ahead || m.Now != "48.33%" || m.Budget != "" || m.Top != "76.00" {
		t.Errorf("%d lines, now %s, top %s, %+v", len(m.Lines), m.Now, m.Top, m.Lines[14:16])
	}
	for i, l := range m.Lines[1:] {
		if l.X1 != m.Lines[i].X2 || l.Y1 != m.Lines[i].Y2 {
			t.Errorf("gap before %+v", l)
		}
	}
	for _, c := range []struct {
		budget float64
		over   bool
		words  string
		left   float64
	}{
		{100, false, "The forecast leaves 24.00 of the budget of 100.00.", 60},
		{76, false, "The forecast leaves 0.00 of the budget of 76.00.", 36},
		{50, true, "The forecast exceeds the budget of 50.00 by 26.00.", 10},
		{39, true, "The budget of 39.00 is exceeded.", 0},
		{0, true, "The budget of 0.00 is exceeded.", 0},
	} {
		ahead.Budget = &c.budget
		if u.OverBudget() != c.over || u.BudgetWords() != c.words || u.BudgetLeft() != c.left || u.Month().Budget == "" {
			t.Errorf("%v: %v %q %v", c.budget, u.OverBudget(), u.BudgetWords(), u.BudgetLeft())
		}
	}
}
