package policy

import (
	"fmt"
	"strings"
	"time"

	"muster/app/humanize"
)

// Text say how much of a limit is left: "3 of 5 clusters for the group ops".
func (l QuotaLine) Text() string {
	switch l.Measure {
	case MeasurePerHour:
		return fmt.Sprintf("%s of %s per hour for %s", l.amount(l.Remaining), l.amount(l.Limit), l.Whose())
	case MeasurePerMonth:
		return fmt.Sprintf("%s of %s per month for %s", l.amount(l.Remaining), l.amount(l.Limit), l.Whose())
	}
	return fmt.Sprintf("%s of %s for %s", Quantity(l.Remaining), l.Measure.Count(l.Limit), l.Whose())
}

// Sentences say what policies make of a request; none where nothing is to be said.
func (d *Decision) Sentences() []string {
	if d == nil {
		return nil
	}
	var out []string
	for _, c := range d.Changes {
		out = append(out, c.Sentence())
	}
	switch d.Outcome {
	case OutcomeRefuse:
		out = append(out, d.RefusalText())
	case OutcomeApprove:
		var who []string
		for _, n := range d.Needs {
			who = append(who, n.Text())
		}
		out = append(out, "Requires "+humanize.And(who)+".")
	}
	return out
}

func LeaseText(d time.Duration) string {
	if d == 0 {
		return "no expiry"
	}
	return humanize.Duration(d)
}

// RefusalText says who refused: "Refused by policy small-dev: At most 5 nodes."
func (d *Decision) RefusalText() string {
	return fmt.Sprintf("Refused by %s: %s", d.By(), d.Reason)
}

// By is who refused: "policy small-dev" or "webhook cmdb".
func (d *Decision) By() string { return lowerFirst(SourceText(d.Policy)) }

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }
