package app

import "fmt"

// CheaperLayout is what the cheapest layout of a request costs, where that is a real amount less.
type CheaperLayout struct {
	Prefer      Preference `json:"prefer"`
	CostPerHour float64    `json:"cost_per_hour"`
	Instead     float64    `json:"instead"`
}

// Words say it to people.
func (c *CheaperLayout) Words() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("Choose %s to pay %s instead of %s per hour.", c.Prefer, Cost(c.CostPerHour), Cost(c.Instead))
}
