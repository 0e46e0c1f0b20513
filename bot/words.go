package bot

import (
	"fmt"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
)

// perHour is a price; "" if unknown.
func perHour(cost float64, currency string) string {
	if cost <= 0 {
		return ""
	}
	return humanize.PerHour(cost, currency)
}

// priceOf is perHour of a layout, as a range if machines may use alternative hardware.
func priceOf(l layout.Layout) string {
	if l.MostPerHour > l.CostPerHour && l.CostPerHour > 0 {
		return humanize.Money(l.CostPerHour, l.Currency) + "–" + humanize.PerHour(l.MostPerHour, l.Currency)
	}
	return perHour(l.CostPerHour, l.Currency)
}

func (v voice) leaseEnd(c app.Cluster) string {
	if c.ExpiresAt.IsZero() {
		return "no expiry"
	}
	return "expires " + v.moment(c.ExpiresAt)
}

// operationLine sums up an operation's progress: "Creation is running: 3 of 12 steps."
func operationLine(o app.Operation) string {
	text := fmt.Sprintf("%s is %s", humanize.Upper(o.Kind.The()), o.Status)
	switch {
	case o.Status == app.OperationSucceeded:
		return fmt.Sprintf("%s succeeded.", humanize.Upper(o.Kind.The()))
	case o.Status == app.OperationFailed:
		text = fmt.Sprintf("%s failed", humanize.Upper(o.Kind.The()))
	case o.Status == app.OperationCancelled:
		text = fmt.Sprintf("%s was cancelled", humanize.Upper(o.Kind.The()))
	case !o.HeldUntil.IsZero():
		text = fmt.Sprintf("%s is waiting for a webhook", humanize.Upper(o.Kind.The()))
	}
	return fmt.Sprintf("%s: %d of %s.", text, o.Done, humanize.Count(o.Total, "step"))
}
