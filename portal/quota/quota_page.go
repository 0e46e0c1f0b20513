package quota

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app/policy"
	"muster/portal/page"
)

// List is the page of quotas.
type List struct {
	Now       time.Time
	Quotas    []policy.QuotaUse
	Later     bool // their usage loads after the rest of the page
	Form      Form
	May       bool // the actor can set quotas of groups and users
	MayTenant bool // and the tenant's
}

// Form is a quota as typed.
type Form struct {
	Scope, Name string
	Values      map[policy.Measure]string
	Edits       bool // the quota exists already
	Error       page.Complaint
}

// Bar is a limit and its usage.
type Bar struct {
	Measure     policy.Measure
	Used, Limit float64
	Currency    string // of money, by ISO 4217
}

// Bars are the limits of a quota.
func (l List) Bars(q policy.QuotaUse) (bars []Bar) {
	for _, m := range policy.Measures {
		if limit, is := q.Limits.Of(m); is {
			bars = append(bars, Bar{Measure: m, Used: q.Used.Of(m), Limit: limit, Currency: q.Currency})
		}
	}
	return bars
}

// Width is the filled part of the bar, as an SVG attribute.
func (b Bar) Width() string {
	part := 1.0
	if b.Limit > 0 {
		part = min(b.Used/b.Limit, 1)
	} else if b.Used <= 0 {
		part = 0
	}
	return strconv.FormatFloat(100*part, 'f', 2, 64) + "%"
}

// Level is how close usage is to the limit: "fine", "near" or "full".
func (b Bar) Level() string {
	switch {
	case b.Used >= b.Limit*(1-1e-9):
		return "full"
	case b.Used >= 0.8*b.Limit:
		return "near"
	}
	return "fine"
}

// Text is usage and limit.
func (b Bar) Text() string { return b.Amount(b.Used) + " of " + b.Amount(b.Limit) }

// LimitText is the limit alone.
func (b Bar) LimitText() string { return "limit " + b.Amount(b.Limit) }

// MeasureWords is the label of a measure.
func MeasureWords(m policy.Measure) string {
	return map[policy.Measure]string{policy.MeasureClusters: "Clusters", policy.MeasureNodes: "Nodes", policy.MeasureCPU: "Cores",
		policy.MeasurePerHour: "Cost per hour", policy.MeasurePerMonth: "Cost per month"}[m]
}

// formLabel is the label of a measure in the form, with the currency of money: "Cost per hour (USD)".
func (l List) formLabel(m policy.Measure) string {
	if m == policy.MeasurePerHour || m == policy.MeasurePerMonth {
		for _, q := range l.Quotas {
			if q.Currency != "" {
				return MeasureWords(m) + " (" + q.Currency + ")"
			}
		}
	}
	return MeasureWords(m)
}

// Amount writes an amount of the measure.
func (b Bar) Amount(x float64) string { return b.Measure.Amount(x, b.Currency) }

// Title is the scope of a quota.
func Title(q policy.Quota) string {
	switch q.Scope {
	case policy.QuotaTenant:
		return "Tenant"
	case policy.QuotaEachUser:
		return "Each user"
	case policy.QuotaGroup:
		return "Group " + q.Name
	}
	return "User " + q.Name
}

// leftWords says how much of a limit is left: "12 of 50 nodes (the tenant)".
func leftWords(l policy.QuotaLine) string {
	what := map[policy.Measure]string{policy.MeasureClusters: "clusters", policy.MeasureNodes: "nodes", policy.MeasureCPU: "cores",
		policy.MeasurePerHour: "per hour", policy.MeasurePerMonth: "this month"}[l.Measure]
	whose := l.Whose()
	if l.Scope == policy.QuotaUser || l.Scope == policy.QuotaEachUser {
		whose = "your own limit"
	}
	return l.Measure.Amount(l.Remaining, l.Currency) + " of " + l.Measure.Amount(l.Limit, l.Currency) + " " + what + " (" + whose + ")"
}

func quotaScopeWords(s policy.QuotaScope) string {
	return map[policy.QuotaScope]string{policy.QuotaTenant: "Tenant", policy.QuotaGroup: "Group", policy.QuotaEachUser: "Each user", policy.QuotaUser: "User"}[s]
}

func quotaLink(q policy.Quota) string {
	return "/admin/quotas?" + url.Values{"scope": {string(q.Scope)}, "name": {q.Name}}.Encode() + "#set"
}

// leftSentence says how much quota the user has left.
func leftSentence(lines []policy.QuotaLine) string {
	var all []string
	for _, l := range lines {
		all = append(all, leftWords(l))
	}
	return "Quota left before this request: " + strings.Join(all, "; ") + "."
}
