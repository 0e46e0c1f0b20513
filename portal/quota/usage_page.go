package quota

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/usage"
	"muster/portal/page"
)

// Usage is the page of what was used.
type Usage struct {
	Now       time.Time
	Actor     app.Actor
	Usage     usage.Usage
	From, To  string // as they were typed
	By        usage.UsageBy
	Step      usage.UsageStep
	All       bool // of all tenants
	MayAll    bool
	Everybody bool              // the actor sees what others use
	Range     string            // of UsageRanges, "" for another
	Ahead     *usage.UsageAhead // what is to come this month; nil where that is not told
	Later     bool              // there is so much to add up that it is fetched when the rest of the page stands
	Error     page.Complaint
	ErrorAt   string // the field that it is about
}

// Sentence says what it is that is shown.
func (u Usage) Sentence() string {
	if u.Later {
		return "What machines have used, in UTC. It is counted from when a machine was made until it was proven gone, at the price of when it was made."
	}
	whose := "everybody in " + u.Actor.Tenant
	switch {
	case u.All:
		whose = "all tenants"
	case u.Usage.User != "":
		whose = u.Usage.User
	}
	return fmt.Sprintf("What the machines of %s have used from %s until %s, in UTC. It is counted from when a machine was made until it was proven gone, at the price of when it was made.",
		whose, dayWords(u.Usage.From), dayWords(u.Usage.To))
}

func dayWords(t time.Time) string {
	if t.Equal(usage.UsageDay.Start(t)) {
		return t.Format("2 Jan 2006")
	}
	return t.Format("2 Jan 2006 15:04")
}

// Link is this page with something changed.
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

// mostBars is how many parts of the time a chart has room for; the latest are drawn.
const mostBars = 92

// Chart is usage over time as stacked bars.
type Chart struct {
	Bars   []ChartBar
	Keys   []page.Hue
	Top    string // what the height stands for
	Hidden int    // parts of the time before those that are drawn
	First  string // the ends of its axis
	Last   string
	Ahead  bool // what is to come is in it
}

// ChartBar is one part of the time. X and Width are percentages of the picture's width.
type ChartBar struct {
	X, Width string
	Title    string
	Parts    []ChartPart
	Ahead    ChartPart // what is to come; without a height where there is nothing
}

// ChartPart is what one key has of a bar, in the units of the picture's height.
type ChartPart struct {
	Hue       int
	Y, Height string
}

// ChartHeight is the height of the picture.
const ChartHeight = 160

// NewChart draws one measure of usage, and over it what is to come, which may be nil.
func (u Usage) NewChart(measure func(usage.UsageSum) float64, ahead []usage.UsageLine) Chart {
	totals := map[string]float64{}
	for _, l := range u.Usage.Lines {
		totals[l.Key] += measure(l.UsageSum)
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
		coming[l.Start] = measure(l.UsageSum)
		if len(starts) == 0 || l.Start.After(starts[len(starts)-1]) {
			starts = append(starts, l.Start)
		}
	}
	c.Hidden = max(len(starts)-mostBars, 0)
	starts = starts[c.Hidden:]
	sums := map[time.Time]map[int]float64{}
	highest := 0.0
	for _, l := range u.Usage.Lines {
		if sums[l.Start] == nil {
			sums[l.Start] = map[int]float64{}
		}
		sums[l.Start][hue[l.Key]] += measure(l.UsageSum)
	}
	for _, s := range starts {
		highest = max(highest, sumOf(sums[s])+coming[s])
	}
	c.Top = page.Amount2(highest)
	for i, s := range starts {
		c.Bars = append(c.Bars, u.bar(s, i, len(starts), sums[s], coming[s], highest))
	}
	if len(starts) > 0 {
		c.First, c.Last = u.PartWords(starts[0]), u.PartWords(starts[len(starts)-1])
	}
	c.Ahead = len(ahead) > 0
	return c
}

func (u Usage) bar(start time.Time, i, n int, parts map[int]float64, ahead, highest float64) ChartBar {
	pitch := 100 / float64(n)
	b := ChartBar{X: page.Decimal(float64(i)*pitch+pitch*0.1) + "%", Width: page.Decimal(pitch*0.8) + "%",
		Title: u.PartWords(start) + ": " + page.Amount2(sumOf(parts))}
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
		b.Title += ", and " + page.Amount2(ahead) + " to come"
	}
	return b
}

func sumOf(parts map[int]float64) (sum float64) {
	for h := range page.MostHues + 1 {
		sum += parts[h]
	}
	return sum
}

// parts are all parts of the time, also those in which nothing was used.
func (u Usage) parts() (starts []time.Time) {
	if u.Usage.Step == usage.UsageWhole || u.Usage.Step == "" {
		return []time.Time{u.Usage.From}
	}
	for at := u.Usage.Step.Start(u.Usage.From); at.Before(u.Usage.To); at = u.Usage.Step.Next(at) {
		starts = append(starts, at)
	}
	return starts
}

// PartWords names a part of the time.
func (u Usage) PartWords(start time.Time) string {
	switch u.Usage.Step {
	case usage.UsageHour:
		return start.UTC().Format("2 Jan 15:04")
	case usage.UsageDay:
		return start.UTC().Format("Mon 2 Jan")
	case usage.UsageWeek:
		return "week of " + start.UTC().Format("2 Jan 2006")
	case usage.UsageMonth:
		return start.UTC().Format("January 2006")
	}
	return "the whole time"
}

// mostRows is how many lines the table shows; the CSV has them all.
const mostRows = 500

// Rows are the lines of the table, the latest first.
func (u Usage) Rows() []usage.UsageLine {
	rows := slices.Clone(u.Usage.Lines)
	slices.SortStableFunc(rows, func(a, b usage.UsageLine) int { return b.Start.Compare(a.Start) })
	return rows[:min(len(rows), mostRows)]
}

// More is how many lines there was no room for.
func (u Usage) More() int { return max(len(u.Usage.Lines)-mostRows, 0) }

func keyWords(by usage.UsageBy, key string) string {
	switch {
	case by == usage.UsageByNothing || by == "":
		return "all"
	case key == "":
		return "not known"
	}
	return key
}

// sortedKeys returns the keys with the greatest first.
func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b)) })
	return keys
}

// UsageByWords names what usage is added up by.
func UsageByWords(b usage.UsageBy) string {
	switch b {
	case usage.UsageByNothing:
		return "nothing"
	case usage.UsageByUser:
		return "owner"
	}
	return string(b)
}

// UsageStepWords names a step.
func UsageStepWords(s usage.UsageStep) string {
	if s == usage.UsageWhole {
		return "the whole time"
	}
	return string(s)
}

func usageCost(s usage.UsageSum) float64  { return s.Cost }
func usageNodes(s usage.UsageSum) float64 { return s.NodeHours }
