package bot

import (
	"fmt"

	"muster/app"
	"muster/app/layout"
)

func several(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// perHour is a price; "" where it is not known.
func (v voice) perHour(cost float64) string {
	if cost <= 0 {
		return ""
	}
	return v.money(fmt.Sprintf("%.2f", cost)) + " an hour"
}

// priceOf is perHour of a layout, or from what to what, where machines may be of other hardware.
func (v voice) priceOf(l layout.Layout) string {
	if l.MostPerHour > l.CostPerHour && l.CostPerHour > 0 {
		return v.money(fmt.Sprintf("%.2f", l.CostPerHour)) + " to " + v.money(fmt.Sprintf("%.2f", l.MostPerHour)) + " an hour"
	}
	return v.perHour(l.CostPerHour)
}

func (v voice) leaseEnd(c app.Cluster) string {
	if c.ExpiresAt.IsZero() {
		return "no end"
	}
	return "until " + v.moment(c.ExpiresAt)
}

// operationLine says how far an operation is: "The create is running: 3 of 12 steps."
func operationLine(o app.Operation) string {
	text := fmt.Sprintf("The %s is %s", o.Kind.Words(), o.Status)
	switch {
	case o.Status == app.OperationSucceeded:
		return fmt.Sprintf("The %s succeeded.", o.Kind.Words())
	case o.Status == app.OperationFailed:
		text = fmt.Sprintf("The %s has failed", o.Kind.Words())
	case o.Status == app.OperationCancelled:
		text = fmt.Sprintf("The %s was cancelled", o.Kind.Words())
	case !o.HeldUntil.IsZero():
		text = fmt.Sprintf("The %s waits for an answer", o.Kind.Words())
	}
	return fmt.Sprintf("%s: %d of %s.", text, o.Done, several(o.Total, "step"))
}
