package app

import "time"

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

// The measures. Money is in the currency of the accounts; months are those of the calendar in UTC. What hardware does not
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

// Of gives the amount of a measure.
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

// QuotaLine is one limit that applies to somebody.
type QuotaLine struct {
	Measure Measure    `json:"measure"`
	Scope   QuotaScope `json:"scope"`
	Name    string     `json:"name,omitempty"` // of the group or user
	Limit   float64    `json:"limit"`
	Used    float64    `json:"used"`
	Left    float64    `json:"left"` // never below 0
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
	From        time.Time
	Until       time.Time // end of the lease, zero for none
	EndedAt     time.Time // when it was given back; zero while it holds
	Pool        bool      // a machine of a pool: it counts as no cluster, and for no user
}
