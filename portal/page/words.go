package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// Span says how long something takes, with at most two units: "45 s", "3 min", "2 h 10 min", "3 d 4 h". Anything
// under a second is "less than 1 s".
func Span(d time.Duration) string {
	day := 24 * time.Hour
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < 2*time.Minute:
		return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Round(time.Minute)/time.Minute)) + " min"
	case d < day:
		d = d.Round(time.Minute)
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "min")
	}
	d = d.Round(time.Hour)
	return two(int(d/day), "d", int(d%day/time.Hour), "h")
}

func two(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}

// Rough is Span with less detail, for places where that would be noise: "5 h", "2 d 4 h", "12 d".
func Rough(d time.Duration) string {
	switch {
	case d >= 7*24*time.Hour:
		return fmt.Sprintf("%d d", int(d.Round(24*time.Hour)/(24*time.Hour)))
	case d >= 47*time.Hour:
		return Span(max(d, 48*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour)/time.Hour))
	}
	return Span(d)
}

// Ago says how long before now t was.
func Ago(now, t time.Time) string {
	if d := now.Sub(t); d >= time.Second {
		return Rough(d) + " ago"
	}
	return "just now"
}

// LeaseEnd says when a cluster's lease ends, seen from now; "no end" where it has none.
func LeaseEnd(now time.Time, c app.Cluster) string {
	switch {
	case c.Status == app.ClusterDeleted:
		return "ended"
	case c.ExpiresAt.IsZero():
		return "no end"
	case !c.ExpiresAt.After(now):
		return "over since " + Rough(now.Sub(c.ExpiresAt))
	}
	return "in " + Rough(c.ExpiresAt.Sub(now))
}

// Lease says how long a lease is; "no end" for 0.
func Lease(d time.Duration) string {
	if d == 0 {
		return "no end"
	}
	return Span(d)
}

// Cost writes an amount in the account's own currency, which we do not know the sign of. Small amounts keep enough
// digits to tell them from nothing; 0 means unknown and is a dash.
func Cost(x float64) string {
	switch {
	case x <= 0:
		return "–"
	case x < 0.1:
		text := strconv.FormatFloat(x, 'f', 4, 64)
		return text[:4] + strings.TrimRight(text[4:], "0")
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// Count writes a number with its noun: "1 node", "3 nodes".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// CountOf is Count with words of its own for one and for many: "1 step is", "3 steps are".
func CountOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Few lists the first few names, and how many more there are.
func Few(names []string, most int) string {
	if len(names) > most+1 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
	}
	return List(names)
}

// Stamp is a moment for a title attribute or a history line.
func Stamp(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05") + " UTC" }

// Machine is a moment for a datetime attribute.
func Machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Sizes says how many nodes a template allows.
func Sizes(r app.SizeRange) string {
	lo := max(r.Min, 1)
	switch {
	case r.Max == 0 || r.Max >= app.Unlimited:
		return fmt.Sprintf("%d or more nodes", lo)
	case r.Max == lo:
		return "exactly " + Count(lo, "node")
	}
	return fmt.Sprintf("%d to %d nodes", lo, r.Max)
}

// List joins names as a sentence does: "a, b and c".
func List(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// StatusWord is a cluster's state in one word. A pending cluster is told by what is being done to it.
func StatusWord(c app.Cluster, op *app.Operation) string {
	if c.Status == app.ClusterPending && op != nil {
		switch {
		case op.Status == app.OperationCancelling:
			return "stopping"
		case op.Status == app.OperationPaused:
			return "paused"
		}
		return op.Kind.Doing()
	}
	return string(c.Status)
}

// StatusMark names the mark that stands beside a cluster's state; the style sheet draws it. They are the marks of
// steps, so that a person learns one set of signs.
func StatusMark(c app.Cluster) string {
	switch c.Status {
	case app.ClusterActive:
		return string(app.StepSucceeded)
	case app.ClusterFailed:
		return string(app.StepFailed)
	case app.ClusterAsleep:
		return string(app.StepReady)
	case app.ClusterDeleted:
		return string(app.StepDropped)
	}
	return string(app.StepRunning)
}

// OperationMark is StatusMark for an operation.
func OperationMark(o app.Operation) string {
	switch o.Status {
	case app.OperationWaiting:
		return string(app.StepWaiting)
	case app.OperationPaused:
		return string(app.StepReady)
	case app.OperationSucceeded:
		return string(app.StepSucceeded)
	case app.OperationFailed:
		return string(app.StepFailed)
	case app.OperationCancelled:
		return string(app.StepDropped)
	}
	return string(app.StepRunning)
}

// NodeMark is StatusMark for a node.
func NodeMark(n app.Node) string {
	switch n.Status {
	case app.NodeReady:
		return string(app.StepSucceeded)
	case app.NodeCreated:
		return string(app.StepQueued)
	case app.NodeDeleted:
		return string(app.StepDropped)
	}
	return string(app.StepWaiting)
}

// StepWords says what a step does: "create n1", "start app on n1".
func StepWords(node string, a app.Action, service string) string {
	if service == "" {
		return string(a) + " " + node
	}
	return string(a) + " " + service + " on " + node
}
