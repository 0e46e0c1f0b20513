package policy

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
)

// QuotaStore keeps quotas and what is reserved of them.
type QuotaStore interface {
	// DeleteQuota returns ENotFound where there is none.
	DeleteQuota(ctx context.Context, who app.Actor, scope QuotaScope, name string, now time.Time) error
	// Machines counts the machines and other things with a price that a tenant has, or had since a moment, up to a limit.
	Machines(ctx context.Context, tenant string, since time.Time, most int) (int, error)
	// QuotaLimits returns the same quotas without what is used, and costs as much as there are.
	QuotaLimits(ctx context.Context, tenant string) ([]Quota, error)
	// QuotaLines returns the limits that apply to an owner who is in groups.
	QuotaLines(ctx context.Context, tenant, owner string, groups []string, now time.Time) ([]QuotaLine, error)
	// Quotas returns those of a tenant with how much is used, in the order of QuotaScopes and then by name.
	Quotas(ctx context.Context, tenant string, now time.Time) ([]QuotaUse, error)
	// SetQuota writes one in place of what was there.
	SetQuota(ctx context.Context, who app.Actor, q Quota) error
}

// QuotasConfig is what Quotas is created from. Only what says so may be nil.
type QuotasConfig struct {
	Store QuotaStore
	Now   func() time.Time
}

// Quotas limit what is used at the same time, or in a month.
type Quotas struct {
	QuotasConfig

	lefts  layout.TTLCache[leftKey, []QuotaLine]
	quotas layout.TTLCache[quotaKey, []QuotaUse]
}

// NewQuotas returns them on top of what c holds.
func NewQuotas(c QuotasConfig) *Quotas {
	q := &Quotas{QuotasConfig: c}
	q.quotas.Large, q.lefts.Large = manyUsed, manyOf
	return q
}

// QuotaScope says whom a quota is for.
type QuotaScope string

// The scopes of quotas. All that apply must hold: that of the tenant, those of each group that the owner was in when the
// cluster was asked for, and that of the owner. What a user's own quota does not limit, the one for each user does.
const (
	QuotaTenant   QuotaScope = "tenant"
	QuotaGroup    QuotaScope = "group"
	QuotaUser     QuotaScope = "user"
	QuotaEachUser QuotaScope = "each_user"
)

// Measure is what a quota limits.
type Measure string

// The measures. Money is in the tenant's currency; months are those of the calendar in UTC. What hardware does not
// say of its cores counts as 0 cores, and what it does not say of its price as free.
const (
	MeasureClusters Measure = "clusters"
	MeasureNodes    Measure = "nodes"
	MeasureCPU      Measure = "cpu"       // cores
	MeasurePerHour  Measure = "per_hour"  // money
	MeasurePerMonth Measure = "per_month" // money: spent so far, and committed until leases or the month end
)

// Amounts are how much there is of each measure.
type Amounts struct {
	Clusters float64 `json:"clusters"`
	Nodes    float64 `json:"nodes"`
	CPU      float64 `json:"cpu"`
	PerHour  float64 `json:"per_hour"`
	PerMonth float64 `json:"per_month"`
}

// Of returns the amount of a measure.
func (a Amounts) Of(m Measure) float64 {
	switch m {
	case MeasureClusters:
		return a.Clusters
	case MeasureNodes:
		return a.Nodes
	case MeasureCPU:
		return a.CPU
	case MeasurePerHour:
		return a.PerHour
	}
	return a.PerMonth
}

// QuotaLine is one limit that applies to someone.
type QuotaLine struct {
	Measure Measure    `json:"measure"`
	Scope   QuotaScope `json:"scope"`
	Name    string     `json:"name,omitempty"` // of the group or user
	// Currency is that of money, by ISO 4217.
	Currency  string  `json:"currency"`
	Limit     float64 `json:"limit"`
	Used      float64 `json:"used"`
	Remaining float64 `json:"remaining"` // never below 0
}

// Reservation is what a cluster takes of quotas, or a request that waits for approval.
type Reservation struct {
	Tenant      string
	Cluster     string // its id; "" while it is only a request
	Request     int64  // 0 for none
	Owner       string
	Groups      []string // of the owner; nil keeps those that it was made with
	Nodes       int
	CPU         float64 // cores
	CostPerHour float64
	VolumeCost  float64 // how much of it is for volumes that aren't created yet: each takes its part along
	From        time.Time
	Until       time.Time // end of the lease, zero for none
	EndedAt     time.Time // when it was given back; zero while it holds
	Pool        bool      // a machine of a pool: it counts as no cluster, and for no user
}

// QuotaScopes are all of them, the widest first.
var QuotaScopes = []QuotaScope{QuotaTenant, QuotaGroup, QuotaEachUser, QuotaUser}

// Measures are all of them.
var Measures = []Measure{MeasureClusters, MeasureNodes, MeasureCPU, MeasurePerHour, MeasurePerMonth}

// Limits say how much there may be at most of each measure; nil means no limit.
type Limits struct {
	Clusters *float64 `json:"clusters,omitempty"`
	Nodes    *float64 `json:"nodes,omitempty"`
	CPU      *float64 `json:"cpu,omitempty"`
	PerHour  *float64 `json:"per_hour,omitempty"`
	PerMonth *float64 `json:"per_month,omitempty"`
}

func (l *Limits) at(m Measure) **float64 {
	switch m {
	case MeasureClusters:
		return &l.Clusters
	case MeasureNodes:
		return &l.Nodes
	case MeasureCPU:
		return &l.CPU
	case MeasurePerHour:
		return &l.PerHour
	}
	return &l.PerMonth
}

// Of returns the limit of a measure, and whether there is one.
func (l Limits) Of(m Measure) (limit float64, limited bool) {
	if p := *l.at(m); p != nil {
		return *p, true
	}
	return 0, false
}

// With returns the limits with one of them changed.
func (l Limits) With(m Measure, limit float64) Limits {
	*l.at(m) = &limit
	return l
}

// Without returns those limits that others do not set.
func (l Limits) Without(others Limits) Limits {
	for _, m := range Measures {
		if _, is := others.Of(m); is {
			*l.at(m) = nil
		}
	}
	return l
}

// None reports whether nothing is limited.
func (l Limits) None() bool {
	return !slices.ContainsFunc(Measures, func(m Measure) bool { _, is := l.Of(m); return is })
}

// Quota is what someone may have at most.
type Quota struct {
	Scope     QuotaScope `json:"scope"`
	Name      string     `json:"name,omitempty"` // of the group or user
	Limits    Limits     `json:"limits"`
	Currency  string     `json:"currency"` // of the tenant, by ISO 4217; it isn't set with a quota
	ChangedAt time.Time  `json:"changed_at,omitzero"`
	ChangedBy string     `json:"changed_by,omitempty"`
}

// QuotaUse is a quota with how much of it is used. Of the one for each user it is the use of the user who has most of it,
// measure by measure.
type QuotaUse struct {
	Quota
	Used Amounts `json:"used"`
}

// QuotaLeft is what is left for someone: all limits that apply, and of each measure the one that leaves least.
type QuotaLeft struct {
	User     string      `json:"user"`
	Month    string      `json:"month"` // that money per month is about, such as 2026-11
	Lines    []QuotaLine `json:"limits"`
	Tightest []QuotaLine `json:"tightest"`
}

// ReservationOf returns what a cluster takes, with the groups that its owner is in.
func ReservationOf(c app.Cluster, nodes []app.NewNode, hardware map[string]template.Flavor, groups []string) Reservation {
	r := Reservation{Tenant: c.Tenant, Cluster: c.ID, Owner: c.Owner, Groups: slices.Clone(groups), Nodes: len(nodes), CostPerHour: c.CostPerHour,
		From: c.CreatedAt, Until: c.ExpiresAt}
	for _, n := range nodes {
		r.CPU += hardware[n.Node.Hardware].CPU
	}
	return r
}

// quotaKey is whose quotas were added up, and what they were.
type quotaKey struct{ tenant, limits string }

// manyNodes is from how many on it takes time to add up what a tenant uses.
const manyNodes = 2000

// manyUsed reports whether a tenant is so large that what it uses of its quotas is kept for some seconds.
func manyUsed(all []QuotaUse) bool {
	return slices.ContainsFunc(all, func(u QuotaUse) bool { return u.Used.Nodes >= manyNodes })
}

// ManyMachines reports whether the tenant ever had so many machines that it takes time to add up what they cost.
func (a *Quotas) ManyMachines(ctx context.Context, actor app.Actor) (bool, error) {
	if err := actor.Authorize("ManyMachines"); err != nil {
		return false, err
	}
	n, err := a.Store.Machines(ctx, actor.Tenant, time.Time{}, manyNodes)
	return n >= manyNodes, err
}

// QuotasTakeTime reports whether the tenant has quotas, and this month so many machines that it takes time to add up what is used of them.
func (a *Quotas) QuotasTakeTime(ctx context.Context, actor app.Actor) (bool, error) {
	if err := actor.Authorize("QuotasTakeTime"); err != nil {
		return false, err
	}
	limits, err := a.Store.QuotaLimits(ctx, actor.Tenant)
	if err != nil || len(limits) == 0 {
		return false, err
	}
	n, err := a.Store.Machines(ctx, actor.Tenant, app.MonthOf(a.Now()).Start, manyNodes)
	return n >= manyNodes, err
}

// QuotaLimits lists the quotas of the tenant, without what is used of them.
func (a *Quotas) QuotaLimits(ctx context.Context, actor app.Actor) ([]Quota, error) {
	if err := actor.Authorize("QuotaLimits"); err != nil {
		return nil, err
	}
	return a.Store.QuotaLimits(ctx, actor.Tenant)
}

// Quotas lists the quotas of the tenant, with how much of each is used. The limits are those of now, and so is what tenants use that
// are not very large; of others it may be some seconds old.
func (a *Quotas) Quotas(ctx context.Context, actor app.Actor) ([]QuotaUse, error) {
	if err := actor.Authorize("Quotas"); err != nil {
		return nil, err
	}
	limits, err := a.Store.QuotaLimits(ctx, actor.Tenant)
	if err != nil || len(limits) == 0 {
		return []QuotaUse{}, err
	}
	written, err := json.Marshal(limits)
	if err != nil {
		return nil, err
	}
	all, err := a.quotas.Get(ctx, a.Now, quotaKey{actor.Tenant, string(written)}, func(ctx context.Context) ([]QuotaUse, error) {
		return a.Store.Quotas(ctx, actor.Tenant, a.Now())
	})
	return slices.Clone(all), err
}

// QuotaLeft tells what is left for the actor, and by which limit. Of tenants with thousands of machines it may be some seconds old.
func (a *Quotas) QuotaLeft(ctx context.Context, actor app.Actor) (QuotaLeft, error) {
	if err := actor.Authorize("QuotaLeft"); err != nil {
		return QuotaLeft{}, err
	}
	now := a.Now()
	lines, err := a.quotaLines(ctx, actor, now)
	if err != nil {
		return QuotaLeft{}, err
	}
	left := QuotaLeft{User: actor.User, Month: app.MonthOf(now).Name(), Lines: lines, Tightest: []QuotaLine{}}
	for _, m := range Measures {
		var least *QuotaLine
		for i, l := range lines {
			if l.Measure == m && (least == nil || l.Remaining < least.Remaining) {
				least = &lines[i]
			}
		}
		if least != nil {
			left.Tightest = append(left.Tightest, *least)
		}
	}
	return left, nil
}

// leftKey is of whom it was added up what is left, and what the limits were.
type leftKey struct{ tenant, user, groups, limits string }

// quotaLines returns the limits that apply to the actor. Where thousands of machines have to be added up, an answer is given again for a while, as
// long as the limits are the same: what is asked for is checked against the sums themselves, when it is accepted.
func (a *Quotas) quotaLines(ctx context.Context, actor app.Actor, now time.Time) ([]QuotaLine, error) {
	limits, err := a.Store.QuotaLimits(ctx, actor.Tenant)
	if err != nil || len(limits) == 0 {
		return []QuotaLine{}, err
	}
	written, err := json.Marshal(limits)
	if err != nil {
		return nil, err
	}
	groups, err := json.Marshal(actor.Groups)
	if err != nil {
		return nil, err
	}
	lines, err := a.lefts.Get(ctx, a.Now, leftKey{actor.Tenant, actor.User, string(groups), string(written)}, func(ctx context.Context) ([]QuotaLine, error) {
		return a.Store.QuotaLines(ctx, actor.Tenant, actor.User, actor.Groups, now)
	})
	return slices.Clone(lines), err
}

// manyOf tells that it took many machines to say what is left.
func manyOf(lines []QuotaLine) bool {
	return slices.ContainsFunc(lines, func(l QuotaLine) bool {
		return l.Used >= manyNodes && (l.Measure == MeasureClusters || l.Measure == MeasureNodes)
	})
}

// SetQuota writes the quota of a group, of a user or for each user, in place of the one that was there. Setting less than is
// used is allowed: it takes nothing away, and only stops what is new. That of the tenant is SetTenantQuota's.
func (a *Quotas) SetQuota(ctx context.Context, actor app.Actor, q Quota) (QuotaUse, error) {
	if err := actor.Authorize("SetQuota"); err != nil {
		return QuotaUse{}, err
	}
	if q.Scope == QuotaTenant {
		return QuotaUse{}, invalidQuota("scope", "The tenant's own quota is set separately.", "Set the scope to group, user or each_user.")
	}
	return a.setQuota(ctx, actor, q)
}

// SetTenantQuota writes what the tenant as a whole may have, which its own admins cannot change. No limits at all deletes it.
func (a *Quotas) SetTenantQuota(ctx context.Context, actor app.Actor, l Limits) (QuotaUse, error) {
	if err := actor.Authorize("SetTenantQuota"); err != nil {
		return QuotaUse{}, err
	}
	if l.None() {
		err := a.Store.DeleteQuota(ctx, actor, QuotaTenant, "", a.Now())
		if app.CodeOf(err) == app.ENotFound {
			err = nil
		}
		return QuotaUse{Quota: Quota{Scope: QuotaTenant}}, err
	}
	return a.setQuota(ctx, actor, Quota{Scope: QuotaTenant, Limits: l})
}

// DeleteQuota lifts the limits of a group, of a user or for each user.
func (a *Quotas) DeleteQuota(ctx context.Context, actor app.Actor, scope QuotaScope, name string) error {
	if err := actor.Authorize("DeleteQuota"); err != nil {
		return err
	}
	if scope == QuotaTenant {
		return invalidQuota("scope", "The tenant's own quota can't be deleted.", "Remove all of its limits instead.")
	}
	return a.Store.DeleteQuota(ctx, actor, scope, strings.TrimSpace(name), a.Now())
}

func (a *Quotas) setQuota(ctx context.Context, actor app.Actor, q Quota) (QuotaUse, error) {
	q.Name = strings.TrimSpace(q.Name)
	if err := q.Check(); err != nil {
		return QuotaUse{}, err
	}
	q.ChangedAt, q.ChangedBy = a.Now(), actor.Name()
	if err := a.Store.SetQuota(ctx, actor, q); err != nil {
		return QuotaUse{}, err
	}
	all, err := a.Store.Quotas(ctx, actor.Tenant, a.Now())
	for _, u := range all {
		if u.Scope == q.Scope && u.Name == q.Name {
			return u, nil
		}
	}
	return QuotaUse{Quota: q}, err
}

func invalidQuota(field, message, hint string) error {
	return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
}

// Bounds of what can be written down.
const (
	mostQuota     = 1e12
	mostQuotaName = 128 // bytes
)

func (q Quota) Check() error {
	switch q.Scope {
	case QuotaTenant, QuotaEachUser:
		if q.Name != "" {
			return invalidQuota("name", "Only quotas of groups and users have a name.", "Omit the name.")
		}
	case QuotaGroup, QuotaUser:
		if q.Name == "" {
			return invalidQuota("name", "The name is required.", "Enter the name of the "+string(q.Scope)+".")
		}
		if len(q.Name) > mostQuotaName {
			return invalidQuota("name", "The name must be at most 128 characters.", "Shorten the name.")
		}
	default:
		return invalidQuota("scope", "Unknown quota scope.", "Use tenant, group, user or each_user.")
	}
	if q.Limits.None() {
		return invalidQuota("limits", "A quota requires at least one limit.", "Set a limit, or delete the quota.")
	}
	for _, m := range Measures {
		limit, is := q.Limits.Of(m)
		switch {
		case !is:
		case math.IsNaN(limit) || limit < 0 || limit > mostQuota:
			return invalidQuota(string(m), "A limit can't be negative.", "Omit it for no limit.")
		case (m == MeasureClusters || m == MeasureNodes) && limit != math.Trunc(limit):
			return invalidQuota(string(m), "The number of "+string(m)+" must be a whole number.", "")
		}
	}
	return nil
}
