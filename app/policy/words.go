package policy

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Words say how much of a limit is left: "3 of 5 clusters of the group ops".
func (l QuotaLine) Words() string {
	switch l.Measure {
	case MeasurePerHour:
		return fmt.Sprintf("%s of %s an hour of %s", Quantity(l.Left), Quantity(l.Limit), l.Whose())
	case MeasurePerMonth:
		return fmt.Sprintf("%s of %s a month of %s", Quantity(l.Left), Quantity(l.Limit), l.Whose())
	}
	return fmt.Sprintf("%s of %s of %s", Quantity(l.Left), l.Measure.Count(l.Limit), l.Whose())
}

// Sentences say what policies make of a request; none where nothing is to be said.
func (d *Decision) Sentences() []string {
	if d == nil {
		return nil
	}
	var out []string
	for _, c := range d.Changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("The policy %s made the lease %s. %s", c.Policy, app.LeaseWords(c.To), c.Reason)))
	}
	switch d.Outcome {
	case OutcomeRefuse:
		out = append(out, fmt.Sprintf("The policy %s refuses it: %s", d.Policy, d.Reason))
	case OutcomeApprove:
		var who []string
		for _, n := range d.Needs {
			who = append(who, n.Words())
		}
		out = append(out, "Others have to approve it first: "+humanize.And(who)+".")
	}
	return out
}

func LeaseText(d time.Duration) string {
	if d == 0 {
		return "for ever"
	}
	return humanize.Duration(d)
}
