package usage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/label"
)

// GroupBy says what usage is added up by.
type GroupBy string

// What usage can be added up by.
const (
	ByNothing  GroupBy = "none"
	ByTenant   GroupBy = "tenant"
	ByUser     GroupBy = "user" // the owner when the machine was made
	ByTemplate GroupBy = "template"
	ByProvider GroupBy = "provider"
	ByHardware GroupBy = "hardware"
	ByCluster  GroupBy = "cluster"
)

// ByLabel begins a grouping by the value of a label that clusters have now: label:cost-centre.
const ByLabel = "label:"

// Label returns the key of the label that usage is added up by; "" where it's something else.
func (b GroupBy) Label() string {
	if key, is := strings.CutPrefix(string(b), ByLabel); is {
		return key
	}
	return ""
}

// check refuses what usage can't be added up by.
func (b GroupBy) check() error {
	if key := b.Label(); key != "" {
		if err := label.CheckKey(key); err != nil {
			return &app.Error{Code: app.EInvalid, Field: "by", Message: fmt.Sprintf("Invalid label %.70q.", key),
				Hint: "Use label: and a key, such as label:cost-centre."}
		}
		return nil
	}
	if !slices.Contains(GroupBys, b) {
		return &app.Error{Code: app.EInvalid, Field: "by", Message: fmt.Sprintf("Unknown grouping %.40q.", b),
			Hint: "Use " + orListOf(append(slices.Clone(GroupBys), ByLabel+"KEY")) + "."}
	}
	return nil
}

// GroupBys are all but those by a label.
var GroupBys = []GroupBy{ByNothing, ByTenant, ByUser, ByTemplate, ByProvider, ByHardware, ByCluster}

// Interval is how long each part of the time is that usage is given for. Parts are those of the calendar in UTC; weeks begin on
// Monday.
type Interval string

// The steps.
const (
	IntervalWhole Interval = "none" // the whole time in one
	IntervalHour  Interval = "hour"
	IntervalDay   Interval = "day"
	IntervalWeek  Interval = "week"
	IntervalMonth Interval = "month"
	IntervalYear  Interval = "year"
)

// Intervals are all of them.
var Intervals = []Interval{IntervalWhole, IntervalHour, IntervalDay, IntervalWeek, IntervalMonth, IntervalYear}

// Start returns the beginning of the part that a moment is in.
func (s Interval) Start(t time.Time) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch s {
	case IntervalHour:
		return t.Truncate(time.Hour)
	case IntervalWeek:
		return day.AddDate(0, 0, -(int(t.Weekday())+6)%7)
	case IntervalMonth:
		return app.MonthOf(t).Start
	case IntervalYear:
		return time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

// Next returns the beginning of the part after the one that begins at start.
func (s Interval) Next(start time.Time) time.Time {
	switch s {
	case IntervalHour:
		return start.Add(time.Hour)
	case IntervalWeek:
		return start.AddDate(0, 0, 7)
	case IntervalMonth:
		return start.AddDate(0, 1, 0)
	case IntervalYear:
		return start.AddDate(1, 0, 0)
	}
	return start.AddDate(0, 0, 1)
}

// unit is what the store counts by: days make up weeks, months and years.
func (s Interval) unit() time.Duration {
	if s == IntervalHour {
		return time.Hour
	}
	return 24 * time.Hour
}

// Filter asks for usage. A zero From is the beginning of this month, a zero To is now; what is to come is not counted.
type Filter struct {
	From, To time.Time
	By       GroupBy  // "" is none
	Step     Interval // "" is none
	Mine     bool     // only what belongs to the one who asks
}

// Sum is how much was used. Hours of machines whose price was not known count as free, and are in Unpriced too; cores
// that the hardware does not state count as none.
type Sum struct {
	NodeHours float64 `json:"node_hours"`
	CoreHours float64 `json:"core_hours"`
	Cost      float64 `json:"cost"`
	Unpriced  float64 `json:"unpriced_node_hours,omitempty"`
}

func (s *Sum) add(o Sum) {
	s.NodeHours += o.NodeHours
	s.CoreHours += o.CoreHours
	s.Cost += o.Cost
	s.Unpriced += o.Unpriced
}

// nothing tells a sum that is not there, but for what rounding leaves.
func (s Sum) nothing() bool {
	const dust = 1e-9
	return math.Abs(s.NodeHours) < dust && math.Abs(s.CoreHours) < dust && math.Abs(s.Cost) < dust
}

// Line is what something used within a part of the time.
type Line struct {
	Start time.Time `json:"start"` // of the part of the calendar
	Key   string    `json:"key"`   // by whom or what; "" where it is added up by nothing
	Sum
}

// Usage is what was used. Lines are ordered by time and then by cost, the dearest first.
type Usage struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	By    GroupBy   `json:"by"`
	Step  Interval  `json:"step"`
	User  string    `json:"user,omitempty"` // of whom alone it is; "" for everyone
	Lines []Line    `json:"lines"`
	Total Sum       `json:"total"`
	// Currency is that of all costs, by ISO 4217. What all tenants used is converted at today's exchange rates.
	Currency string `json:"currency"`
}

// Limits of what is asked for at once.
const (
	mostUsageParts = 2000
	mostUsageLines = 20000
	longestUsage   = 10 * 366 * 24 * time.Hour
)

// Query asks a store for usage.
type Query struct {
	Tenant   string             // "" for all
	Owner    string             // "" for all
	Reader   *app.ClusterReader // only what clusters have used that it may see; nil: all
	From, To time.Time
	By       GroupBy
	Unit     time.Duration // an hour or a day; units are counted from the Unix epoch
}

// Delta is how usage changes within a unit of time that begins at At. From the end of the unit on there are Nodes, Cores and
// Rate (money per hour) more than before it; within it Sum was used by those.
type Delta struct {
	Key                string
	At                 time.Time
	Nodes, Cores, Rate float64
	Unpriced           float64
	Sum                Sum
}

// UsageStore counts what machines have used.
type UsageStore interface {
	// Usage calls f with every change of usage, by key and then by time. It reads only what existed within the time.
	Usage(ctx context.Context, q Query, f func(Delta) error) error
	// LabelKeys returns keys of labels that the tenant's clusters have, sorted; with an owner, those of the owner's clusters.
	LabelKeys(ctx context.Context, tenant, owner string, most int) ([]string, error)
}

// mostLabelKeys is how many keys are offered to group usage by. Others can be typed.
const mostLabelKeys = 100

// UsageLabels returns the keys of labels that usage can be grouped by, of the clusters whose usage the actor sees.
func (a *Service) UsageLabels(ctx context.Context, actor app.Actor) ([]string, error) {
	if err := actor.Authorize("UsageLabels"); err != nil {
		return nil, err
	}
	owner := ""
	if reach, _ := actor.Reach("UsageLabels"); reach == app.Own {
		owner = actor.User
	}
	return a.Store.LabelKeys(ctx, actor.Tenant, owner, mostLabelKeys)
}

// Usage returns what the tenant's machines have used, from how long they really existed and what they cost when they were made. Users
// get their own, and by tenant or by nothing the sums of everyone in it; admins and approvers get all, but approvers by cluster only
// those that they may see.
func (a *Service) Usage(ctx context.Context, actor app.Actor, f Filter) (Usage, error) {
	if err := actor.Authorize("Usage"); err != nil {
		return Usage{}, err
	}
	q := Query{Tenant: actor.Tenant}
	if reach, _ := actor.Reach("Usage"); f.Mine || reach == app.Own && f.By != ByTenant {
		q.Owner = actor.User
	} else if f.By == ByCluster {
		reader, err := a.Clusters.ReaderOf(ctx, actor)
		if err != nil {
			return Usage{}, err
		}
		if !reader.SeesAll {
			q.Reader = reader
		}
	}
	return a.usage(ctx, q, f)
}

// UsageOfAll returns what the machines of all tenants have used.
func (a *Service) UsageOfAll(ctx context.Context, actor app.Actor, f Filter) (Usage, error) {
	if err := actor.Authorize("UsageOfAll"); err != nil {
		return Usage{}, err
	}
	return a.usage(ctx, Query{}, f)
}

// Check tells what cannot be answered, without looking for an answer.
func (f Filter) Check(now time.Time) error {
	_, err := f.complete(now)
	return err
}

// complete fills in what was left out, and refuses what cannot be answered.
func (f Filter) complete(now time.Time) (Filter, error) {
	f.By, f.Step = cmp.Or(f.By, ByNothing), cmp.Or(f.Step, IntervalWhole)
	wrong := func(field, message, hint string) (Filter, error) {
		return f, &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	if err := f.By.check(); err != nil {
		return f, err
	}
	if !slices.Contains(Intervals, f.Step) {
		return wrong("step", fmt.Sprintf("Unknown step %.40q.", f.Step), "Use "+orListOf(Intervals)+".")
	}
	if f.From.IsZero() {
		f.From = app.MonthOf(now).Start
	}
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	f.From, f.To = f.From.UTC(), f.To.UTC()
	switch {
	case f.From.Year() < 2000:
		return wrong("from", "The start is too early.", "Choose a start after the year 2000.")
	case f.From.After(f.To):
		return wrong("from", "The start must be before the end.", "Choose a start in the past.")
	case f.To.Sub(f.From) > longestUsage:
		return wrong("from", "The period must be at most ten years.", "Choose a shorter period.")
	case f.Step == IntervalHour && f.To.Sub(f.From) > mostUsageParts*time.Hour:
		return wrong("step", fmt.Sprintf("Too many hours: at most %d allowed.", mostUsageParts), "Use days, or choose a shorter period.")
	case f.Step == IntervalDay && f.To.Sub(f.From) > mostUsageParts*24*time.Hour:
		return wrong("step", fmt.Sprintf("Too many days: at most %d allowed.", mostUsageParts), "Use weeks, or choose a shorter period.")
	}
	return f, nil
}

func orListOf[T ~string](all []T) string {
	var words []string
	for _, w := range all {
		words = append(words, string(w))
	}
	return humanize.Or(words)
}

func (a *Service) usage(ctx context.Context, q Query, f Filter) (Usage, error) {
	open := f.To.IsZero()
	f, err := f.complete(a.Now())
	if err != nil {
		return Usage{}, err
	}
	key := usageKey{tenant: q.Tenant, owner: q.Owner, by: f.By, step: f.Step, from: f.From, to: f.To}
	if q.Reader != nil {
		key.reader = q.Reader.User
	}
	if open {
		key.to = time.Time{}
	}
	currency, err := a.Catalogs.CurrencyOf(ctx, q.Tenant)
	if err != nil {
		return Usage{}, err
	}
	u, err := a.usages.Get(ctx, a.Now, key, func(ctx context.Context) (Usage, error) { return a.addUp(ctx, q, f) })
	u.Lines, u.Currency = slices.Clone(u.Lines), currency
	return u, err
}

// usageKey is what was asked for; to is zero where it is until now.
type usageKey struct {
	tenant, owner string
	reader        string
	by            GroupBy
	step          Interval
	from, to      time.Time
}

func (a *Service) addUp(ctx context.Context, q Query, f Filter) (Usage, error) {
	q.From, q.To, q.By, q.Unit = f.From, f.To, f.By, f.Step.unit()
	u := Usage{From: f.From, To: f.To, By: f.By, Step: f.Step, User: q.Owner, Lines: []Line{}}
	s := usageSummer{filter: f, unit: q.Unit, usage: &u, lines: map[time.Time]Sum{}}
	if err := a.Store.Usage(ctx, q, s.add); err != nil {
		return Usage{}, err
	}
	if err := s.endKey(); err != nil {
		return Usage{}, err
	}
	slices.SortFunc(u.Lines, func(x, y Line) int {
		return cmp.Or(x.Start.Compare(y.Start), cmp.Compare(y.Cost, x.Cost), cmp.Compare(y.NodeHours, x.NodeHours), strings.Compare(x.Key, y.Key))
	})
	return u, nil
}

// usageSummer adds up changes, key after key.
type usageSummer struct {
	filter Filter
	unit   time.Duration
	usage  *Usage

	begun bool
	key   string
	at    time.Time // the unit that comes next
	rate  Delta     // what there is at its beginning
	lines map[time.Time]Sum
}

func (s *usageSummer) add(d Delta) error {
	if !s.begun || d.Key != s.key {
		if err := s.endKey(); err != nil {
			return err
		}
		s.begun, s.key, s.at, s.rate = true, d.Key, d.At, Delta{}
	}
	s.runUntil(d.At)
	s.put(d.At, d.Sum)
	s.whole(d.At) // what was there before lasts through this unit
	s.rate.Nodes += d.Nodes
	s.rate.Cores += d.Cores
	s.rate.Rate += d.Rate
	s.rate.Unpriced += d.Unpriced
	s.at = d.At.Add(s.unit)
	return nil
}

// runUntil counts the units in which nothing changed.
func (s *usageSummer) runUntil(end time.Time) {
	if s.rate.Nodes < 0.5 && math.Abs(s.rate.Rate) < 1e-9 {
		s.at = end
		return
	}
	for ; s.at.Before(end); s.at = s.at.Add(s.unit) {
		s.whole(s.at)
	}
}

func (s *usageSummer) whole(at time.Time) {
	h := s.unit.Hours()
	s.put(at, Sum{NodeHours: s.rate.Nodes * h, CoreHours: s.rate.Cores * h, Cost: s.rate.Rate * h, Unpriced: s.rate.Unpriced * h})
}

func (s *usageSummer) put(at time.Time, sum Sum) {
	start := s.filter.From
	if s.filter.Step != IntervalWhole {
		start = s.filter.Step.Start(at)
	}
	all := s.lines[start]
	all.add(sum)
	s.lines[start] = all
}

func (s *usageSummer) endKey() error {
	for start, sum := range s.lines {
		if sum.nothing() {
			continue
		}
		s.usage.Lines = append(s.usage.Lines, Line{Start: start, Key: s.key, Sum: sum})
		s.usage.Total.add(sum)
	}
	clear(s.lines)
	if len(s.usage.Lines) > mostUsageLines {
		return &app.Error{Code: app.ETooLarge, Message: fmt.Sprintf("Too many lines: at most %d allowed.", mostUsageLines),
			Hint: "Choose a shorter period, a larger step, or a coarser grouping."}
	}
	return nil
}
