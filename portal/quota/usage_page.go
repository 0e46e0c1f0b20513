package quota

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/usage"
	"muster/portal/page"
)

// Usage is the page of usage.
type Usage struct {
	Now        time.Time
	Actor      app.Actor
	Usage      usage.Usage
	From, To   string // as typed
	By         usage.GroupBy
	Step       usage.Interval
	Labels     []string // keys to group by
	All        bool     // of all tenants
	MayAll     bool
	SeesOthers bool            // the actor sees usage of other users
	Range      string          // name in UsageRanges, "" for another period
	Ahead      *usage.Forecast // this month's forecast, or nil
	Saved      *idle.Savings   // by idle policies; nil if unknown
	Later      bool            // the sums load after the rest of the page
	Error      page.Complaint
	ErrorAt    string // field of the error
}

// Sentence describes the usage shown.
func (u Usage) Sentence() string {
	if u.Later {
		return "Usage of machines from creation until confirmed deleted, at the price when they were created. Times are in UTC."
	}
	whose := "all users in " + u.Actor.Tenant
	switch {
	case u.All:
		whose = "all tenants"
	case u.Usage.User != "":
		whose = u.Usage.User
	}
	return fmt.Sprintf("Usage of %s from %s to %s (UTC). Machines count from creation until confirmed deleted, at the price when they were created.",
		whose, dayWords(u.Usage.From), dayWords(u.Usage.To))
}

func dayWords(t time.Time) string {
	if t.Equal(usage.IntervalDay.Start(t)) {
		return t.Format("2 Jan 2006")
	}
	return t.Format("2 Jan 2006 15:04")
}

// money writes an amount in the currency of the usage.
func (u Usage) money(x float64) string { return humanize.Money(x, u.Usage.Currency) }

// Link is this page with one parameter changed.
func (u Usage) Link(key, value string) string {
	q := url.Values{"by": {string(u.By)}, "step": {string(u.Step)}}
	from, to := u.From, u.To
	if u.Range != "" || key == "range" {
		from, to = "", ""
		q.Set("range", u.Range)
	}
	for k, v := range map[string]string{"from": from, "to": to} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if u.All {
		q.Set("all", "true")
	}
	if key != "" {
		q.Set(key, value)
	}
	return "/usage?" + q.Encode()
}

// maxBars is how many intervals a chart shows, the latest ones.
const maxBars = 92

// Chart is usage over time as stacked bars.
type Chart struct {
	Bars   []ChartBar
	Keys   []page.Hue
	Top    string // value at full height
	Hidden int    // earlier intervals that aren't drawn
	First  string // ends of the axis
	Last   string
	Ahead  bool // the chart includes a forecast
}

// ChartBar is an interval. X and Width are percentages of the chart's width.
type ChartBar struct {
	X, Width string
	Title    string
	Parts    []ChartPart
	Ahead    ChartPart // forecast; without a height for none
}

// ChartPart is one key's part of a bar, in the units of the chart's height.
type ChartPart struct {
	Hue       int
	Y, Height string
}

// ChartHeight is the height of the chart.
const ChartHeight = 160

// NewChart draws a measure of usage, with its forecast on top, which may be nil.
func (u Usage) NewChart(measure func(usage.Sum) float64, words func(float64) string, ahead []usage.Line) Chart {
	totals := map[string]float64{}
	for _, l := range u.Usage.Lines {
		totals[l.Key] += measure(l.Sum)
	}
	keys := sortedKeys(totals)
	hue := map[string]int{}
	c := Chart{}
	for i, k := range keys {
		hue[k] = min(i, page.MostHues)
		if i < page.MostHues || i == page.MostHues && len(keys) == page.MostHues+1 {
			c.Keys = append(c.Keys, page.Hue{Name: keyWords(u.By, k), Index: i})
		}
	}
	if len(keys) > page.MostHues+1 {
		c.Keys = append(c.Keys, page.Hue{Name: fmt.Sprintf("%d others", len(keys)-page.MostHues), Index: page.MostHues})
	}
	starts := u.parts()
	coming := map[time.Time]float64{}
	for _, l := range ahead {
		coming[l.Start] = measure(l.Sum)
		if len(starts) == 0 || l.Start.After(starts[len(starts)-1]) {
			starts = append(starts, l.Start)
		}
	}
	c.Hidden = max(len(starts)-maxBars, 0)
	starts = starts[c.Hidden:]
	sums := map[time.Time]map[int]float64{}
	highest := 0.0
	for _, l := range u.Usage.Lines {
		if sums[l.Start] == nil {
			sums[l.Start] = map[int]float64{}
		}
		sums[l.Start][hue[l.Key]] += measure(l.Sum)
	}
	for _, s := range starts {
		highest = max(highest, sumOf(sums[s])+coming[s])
	}
	c.Top = words(highest)
	for i, s := range starts {
		c.Bars = append(c.Bars, u.bar(s, i, len(starts), sums[s], coming[s], highest, words))
	}
	if len(starts) > 0 {
		c.First, c.Last = u.PartWords(starts[0]), u.PartWords(starts[len(starts)-1])
	}
	c.Ahead = len(ahead) > 0
	return c
}

func (u Usage) bar(start time.Time, i, n int, parts map[int]float64, ahead, highest float64, words func(float64) string) ChartBar {
	pitch := 100 / float64(n)
	b := ChartBar{X: page.Decimal(float64(i)*pitch+pitch*0.1) + "%", Width: page.Decimal(pitch*0.8) + "%",
		Title: u.PartWords(start) + ": " + words(sumOf(parts))}
	y := float64(ChartHeight)
	for h := range page.MostHues + 1 {
		if v := parts[h]; v > 0 && highest > 0 {
			height := v / highest * ChartHeight
			y = max(y-height, 0) // sums of parts are not exact
			b.Parts = append(b.Parts, ChartPart{Hue: h, Y: page.Decimal(y), Height: page.Decimal(height)})
		}
	}
	if ahead > 0 && highest > 0 {
		height := ahead / highest * ChartHeight
		b.Ahead = ChartPart{Y: page.Decimal(max(y-height, 0)), Height: page.Decimal(height)}
		b.Title += ", forecast " + u.money(ahead)
	}
	return b
}

func sumOf(parts map[int]float64) (sum float64) {
	for h := range page.MostHues + 1 {
		sum += parts[h]
	}
	return sum
}

// parts are the starts of all intervals, including those without usage.
func (u Usage) parts() (starts []time.Time) {
	if u.Usage.Step == usage.IntervalWhole || u.Usage.Step == "" {
		return []time.Time{u.Usage.From}
	}
	for at := u.Usage.Step.Start(u.Usage.From); at.Before(u.Usage.To); at = u.Usage.Step.Next(at) {
		starts = append(starts, at)
	}
	return starts
}

// PartWords names an interval.
func (u Usage) PartWords(start time.Time) string {
	switch u.Usage.Step {
	case usage.IntervalHour:
		return start.UTC().Format("2 Jan 15:04")
	case usage.IntervalDay:
		return start.UTC().Format("Mon 2 Jan")
	case usage.IntervalWeek:
		return "week of " + start.UTC().Format("2 Jan 2006")
	case usage.IntervalMonth:
		return start.UTC().Format("January 2006")
	case usage.IntervalYear:
		return start.UTC().Format("2006")
	}
	return "entire period"
}

// maxRows is how many rows the table shows; the CSV has all.
const maxRows = 500

// Rows are the rows of the table, latest first.
func (u Usage) Rows() []usage.Line {
	rows := slices.Clone(u.Usage.Lines)
	slices.SortStableFunc(rows, func(a, b usage.Line) int { return b.Start.Compare(a.Start) })
	return rows[:min(len(rows), maxRows)]
}

// More is how many rows the table leaves out.
func (u Usage) More() int { return max(len(u.Usage.Lines)-maxRows, 0) }

func keyWords(by usage.GroupBy, key string) string {
	switch {
	case by == usage.ByNothing || by == "":
		return "total"
	case key == "" && by.Label() != "":
		return "no label"
	case key == "":
		return "unknown"
	}
	return key
}

// sortedKeys returns the keys by value, greatest first.
func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b)) })
	return keys
}

// UsageByWords names a grouping.
func UsageByWords(b usage.GroupBy) string {
	switch b {
	case usage.ByNothing:
		return "none"
	case usage.ByUser:
		return "owner"
	}
	if key := b.Label(); key != "" {
		return "label " + key
	}
	return string(b)
}

// UsageStepWords names an interval.
func UsageStepWords(s usage.Interval) string {
	if s == usage.IntervalWhole {
		return "entire period"
	}
	return string(s)
}

func usageCost(s usage.Sum) float64  { return s.Cost }
func usageNodes(s usage.Sum) float64 { return s.NodeHours }
