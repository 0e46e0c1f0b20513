package home

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/dashboard"
	appexecution "muster/app/execution"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/app/usage"
	"muster/portal/cluster"
	"muster/portal/execution"
	"muster/portal/page"
	"muster/portal/quota"
	"muster/portal/template"
)

// Home is the dashboard.
type Home struct {
	Now       time.Time
	Actor     app.Actor
	Home      dashboard.Data
	Inbox     []appcluster.Request      // waiting for the actor
	Asked     []appexecution.ManualStep // likewise
	Requests  []appcluster.Request      // of the actor, waiting for others
	Left      []policy.QuotaLine
	LeftLater bool       // it is fetched later
	Mine      *MonthCost // nil: unknown, or fetched later
	Later     []string   // costs that a script fetches after the page has loaded: "mine", "tenant"
	Cards     []template.Card
	More      int  // the number of further templates
	New       bool // the actor can create a cluster
}

// homeShown is how many entries each list shows.
const homeShown = 5

// Greeting is the page's title.
func (h Home) Greeting() string { return "Hello, " + h.Actor.User }

// Fresh reports whether the actor has no clusters and nothing is waiting.
func (h Home) Fresh() bool {
	return h.Home.Live() == 0 && len(h.Inbox)+len(h.Asked)+len(h.Requests) == 0
}

// Summary counts the actor's clusters in one line.
func (h Home) Summary() string {
	n := h.Home.Live()
	if n == 0 {
		return "You don't have any clusters."
	}
	var parts []string
	for _, p := range []struct {
		s    app.ClusterStatus
		word string
	}{{app.ClusterActive, "active"}, {app.ClusterPending, "in progress"}, {app.ClusterAsleep, "asleep"}, {app.ClusterFailed, "failed"}} {
		if k := h.Home.Standing[p.s]; k > 0 {
			parts = append(parts, humanize.CountOf(k, p.word, p.word))
		}
	}
	out := "You have " + humanize.Count(n, "cluster") + ": " + humanize.And(parts) + "."
	if h.Home.CostPerHour > 0 {
		out += " " + humanize.PerHour(h.Home.CostPerHour, h.Home.Currency) + " in total."
	}
	return out
}

// Hidden is how many of the actor's clusters aren't shown.
func (h Home) Hidden() int { return h.Home.Live() - len(h.Home.Clusters) }

// moving reports whether anything on the page is about to change.
func (h Home) moving() bool {
	for _, c := range h.Home.Clusters {
		if cluster.Running(c.Operation) {
			return true
		}
	}
	return false
}

// sentence describes a cluster's state, as its own page does.
func (h Home) sentence(c app.ClusterSummary) string {
	s := cluster.Show{Now: h.Now, View: appcluster.View{Cluster: c.Cluster}}
	if c.Operation != nil {
		s.View.Operations = []app.Operation{*c.Operation}
	}
	if c.Status == app.ClusterFailed && c.Message != "" {
		return c.Message
	}
	return s.Sentence()
}

// waits is how many things are waiting for the actor.
func (h Home) waits() int { return len(h.Inbox) + len(h.Asked) }

func shownRequests(l []appcluster.Request) []appcluster.Request { return l[:min(len(l), homeShown)] }
func shownAsked(l []appexecution.ManualStep) []appexecution.ManualStep {
	return l[:min(len(l), homeShown)]
}

// askedWords names the step of a manual step.
func askedWords(q appexecution.ManualStep) string {
	f := execution.ManualStepForm{ManualStep: q}
	return f.About()
}

// MonthCost holds this month's costs by day.
type MonthCost struct {
	Title    string // whose machines
	ID       string // of its element
	Sum      usage.Sum
	Currency string
	Days     []DayBar
	Top      string // the cost at the picture's full height
	Text     string // the picture in words
}

// DayBar is the cost of a day, ready for SVG attributes: X and Width are percentages of the picture's width.
type DayBar struct {
	X, Width  string
	Y, Height string
	Title     string
	Ahead     bool // in the future
	Today     bool
}

// MonthHeight is the height of the picture.
const MonthHeight = 72

// newMonthCost draws the current month's usage by day.
func newMonthCost(id, title string, u usage.Usage, now time.Time) *MonthCost {
	m := &MonthCost{ID: id, Title: title, Sum: u.Total, Currency: u.Currency}
	month := app.MonthOf(now)
	cost := map[time.Time]float64{}
	for _, l := range u.Lines {
		cost[l.Start] += l.Cost
	}
	highest, dearest := 0.0, time.Time{}
	var days []time.Time
	for at := month.Start; at.Before(month.End); at = at.AddDate(0, 0, 1) {
		days = append(days, at)
		if cost[at] > highest {
			highest, dearest = cost[at], at
		}
	}
	today := usage.IntervalDay.Start(now)
	pitch := 100 / float64(len(days))
	for i, at := range days {
		b := DayBar{X: page.Decimal(float64(i)*pitch+pitch*0.12) + "%", Width: page.Decimal(pitch*0.76) + "%", Ahead: at.After(now), Today: at.Equal(today)}
		height := 2.0 // days without costs are visible too
		if highest > 0 {
			height = max(height, cost[at]/highest*MonthHeight)
		}
		b.Y, b.Height = page.Decimal(MonthHeight-height), page.Decimal(height)
		b.Title = at.Format("Mon 2 Jan") + ": " + humanize.Money(cost[at], u.Currency)
		m.Days = append(m.Days, b)
	}
	m.Top = humanize.Money(highest, u.Currency)
	m.Text = "No costs this month."
	if id != "tenant" {
		m.Text = "You have no costs this month."
	}
	if highest > 0 {
		m.Text = fmt.Sprintf("Daily cost in %s: highest %s on %s, today %s so far.", month.Start.Format("January"), humanize.Money(highest, u.Currency), dearest.Format("2 January"), humanize.Money(cost[today], u.Currency))
	}
	return m
}

// ends are the first and the last day of the picture.
func (m MonthCost) ends() (first, last string) {
	if len(m.Days) == 0 {
		return "", ""
	}
	first, _, _ = strings.Cut(m.Days[0].Title, ":")
	last, _, _ = strings.Cut(m.Days[len(m.Days)-1].Title, ":")
	return first, last
}

// leftBars are the limits as bars.
func leftBars(lines []policy.QuotaLine) (bars []quota.Bar) {
	for _, l := range lines {
		bars = append(bars, quota.Bar{Measure: l.Measure, Used: l.Used, Limit: l.Limit, Currency: l.Currency})
	}
	return bars
}

// leaseSoon is how long before its expiry a lease is shown as urgent.
const leaseSoon = 12 * time.Hour

func percentOf(done, total int) string {
	if total <= 0 {
		return "0"
	}
	return strconv.Itoa(int(math.Floor(100 * float64(done) / float64(total))))
}

// CostTitle is the title of the actor's costs, or with "tenant", of the whole tenant's.
func CostTitle(of string) string {
	if of == "tenant" {
		return "Tenant cost this month"
	}
	return "Your cost this month"
}
