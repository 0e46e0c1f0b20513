package template

import "time"

// HealthPolicy is what a template says of looking after its clusters. The checks themselves are the services'.
type HealthPolicy struct {
	// Interval from one round of checks to the next; 0 means a minute.
	Interval time.Duration `json:"interval,omitempty"`
	// Repair says whether nodes that stay unhealthy, or are lost, are made again without anybody asking.
	Repair HealthRepair `json:"repair,omitempty"`
	// After is for how many rounds in a row a node must have been unhealthy or lost before it is made again; 0 means 3.
	After int `json:"after,omitempty"`
	// Brake is the share of the cluster's nodes, in percent, that may be in need of repair at once. Where there are more,
	// nothing is done but to tell people. 0 means 30.
	Brake int `json:"brake,omitempty"`
}

// HealthRepair says who repairs.
type HealthRepair string

// The ways to repair.
const (
	RepairOff  HealthRepair = "off"  // people do; also ""
	RepairAuto HealthRepair = "auto" // Muster does
)

// What holds where a policy says nothing, and its limits.
const (
	MinHealthInterval = 5 * time.Second
	MaxHealthInterval = 24 * time.Hour
	MaxHealthAfter    = 100

	usualHealthInterval = time.Minute
	usualHealthAfter    = 3
	usualHealthBrake    = 30
)

// Every is the time from one round to the next.
func (p *HealthPolicy) Every() time.Duration { return orElse(p.Interval, usualHealthInterval) }

// Rounds is for how many rounds in a row a node is unhealthy before it is made again.
func (p *HealthPolicy) Rounds() int {
	if p.After > 0 {
		return p.After
	}
	return usualHealthAfter
}

// Share is the brake, in percent.
func (p *HealthPolicy) Share() int {
	if p.Brake > 0 {
		return p.Brake
	}
	return usualHealthBrake
}
