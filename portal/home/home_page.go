package home

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
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

// Home is the page that people begin with.
type Home struct {
	Now      time.Time
	Actor    app.Actor
	Home     appcluster.Home
	Inbox    []appcluster.Request    // wait for the actor
	Asked    []appexecution.Question // likewise
	Requests []appcluster.Request    // of the actor, that wait for others
	Left     []policy.QuotaLine
	Mine     *MonthCost // nil: not known, or fetched later
	Later    []string   // which costs are fetched by a script once the page stands: "mine", "tenant"
	Cards    []template.Card
	More     int  // templates beside those
	New      bool // the actor may create a cluster
}

// homeShown is how many things of a kind the page shows; the rest is on the page of its own.
const homeShown = 5

// Greeting is how the page begins.
func (h Home) Greeting() string { return "Hello, " + h.Actor.User }

// Fresh tells that the actor has nothing yet and nothing waits.
func (h Home) Fresh() bool {
	return h.Home.Live() == 0 && len(h.Inbox)+len(h.Asked)+len(h.Requests) == 0
}

// Summary says in one sentence what the actor has.
func (h Home) Summary() string {
	n := h.Home.Live()
	if n == 0 {
		return "You have no cluster at the moment."
	}
	var parts []string
	for _, p := range []struct {
		s    app.ClusterStatus
		word string
	}{{app.ClusterActive, "active"}, {app.ClusterPending, "in progress"}, {app.ClusterAsleep, "asleep"}, {app.ClusterFailed, "failed"}} {
		if k := h.Home.Standing[p.s]; k > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", k, p.word))
		}
	}
	out := "You have " + humanize.Count(n, "cluster") + ": " + humanize.And(parts) + "."
	if h.Home.CostPerHour > 0 {
		out += " " + humanize.Cost(h.Home.CostPerHour) + " per hour in all."
	}
	return out
}

// Hidden is how many of the actor's clusters are not shown.
func (h Home) Hidden() int { return h.Home.Live() - len(h.Home.Clusters) }

// moving tells whether something on the page is about to change by itself.
func (h Home) moving() bool {
	for _, c := range h.Home.Clusters {
		if cluster.Running(c.Operation) {
			return true
		}
	}
	return false
}

// sentence says how a cluster is, as its own page does.
func (h Home) sentence(c app.ClusterSummary) string {
	s := cluster.Show{Now: h.Now, View: appcluster.ClusterView{Cluster: c.Cluster}}
	if c.Operation != nil {
		s.View.Operations = []app.Operation{*c.Operation}
	}
	if c.Status == app.ClusterFailed && c.Message != "" {
		return c.Message
	}
	return s.Sentence()
}

// waits is how many things wait for the actor.
func (h Home) waits() int { return len(h.Inbox) + len(h.Asked) }

func shownRequests(l []appcluster.Request) []appcluster.Request    { return l[:min(len(l), homeShown)] }
func shownAsked(l []appexecution.Question) []appexecution.Question { return l[:min(len(l), homeShown)] }

// askedWords says what someone is asked.
func askedWords(q appexecution.Question) string {
	f := execution.QuestionForm{Question: q}
	return f.About()
}

// MonthCost is what machines have cost this month, day by day.
type MonthCost struct {
	Title string // whose machines
	ID    string // of its element
	Sum   usage.UsageSum
	Days  []DayBar
	Top   string // what the height stands for
	Text  string // the picture in words
}

// DayBar is the cost of a day, ready for SVG attributes: X and Width are percentages of the picture's width.
type DayBar struct {
	X, Width  string
	Y, Height string
	Title     string
	Ahead     bool // it has not come yet
	Today     bool
}

// MonthHeight is the height of the picture.
const MonthHeight = 72

// newMonthCost draws usage by day of the month that now is in.
func newMonthCost(id, title string, u usage.Usage, now time.Time) *MonthCost {
	m := &MonthCost{ID: id, Title: title, Sum: u.Total}
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
	today := usage.UsageDay.Start(now)
	pitch := 100 / float64(len(days))
	for i, at := range days {
		b := DayBar{X: page.Decimal(float64(i)*pitch+pitch*0.12) + "%", Width: page.Decimal(pitch*0.76) + "%", Ahead: at.After(now), Today: at.Equal(today)}
		height := 2.0 // a day that cost nothing, and one to come, has its place
		if highest > 0 {
			height = max(height, cost[at]/highest*MonthHeight)
		}
		b.Y, b.Height = page.Decimal(MonthHeight-height), page.Decimal(height)
		b.Title = at.Format("Mon 2 Jan") + ": " + page.Amount2(cost[at])
		m.Days = append(m.Days, b)
	}
	m.Top = page.Amount2(highest)
	m.Text = "Nothing so far this month."
	if highest > 0 {
		m.Text = fmt.Sprintf("Cost by day in %s: at most %s, on %s; today %s so far.", month.Start.Format("January"), page.Amount2(highest), dearest.Format("2 January"), page.Amount2(cost[today]))
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
		bars = append(bars, quota.Bar{Measure: l.Measure, Used: l.Used, Limit: l.Limit})
	}
	return bars
}

// leaseHurry is from when on the end of a lease is shown as something to hurry for.
const leaseHurry = 12 * time.Hour

func percentOf(done, total int) string {
	if total <= 0 {
		return "0"
	}
	return strconv.Itoa(int(math.Floor(100 * float64(done) / float64(total))))
}

// CostTitle says whose costs they are: those of the actor, or "tenant", of everyone.
func CostTitle(of string, a app.Actor) string {
	if of == "tenant" {
		return "All of " + a.Tenant + " this month"
	}
	return "Your machines this month"
}
