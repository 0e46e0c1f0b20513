package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/phrase"
	"muster/app/template"
)

// Words that chats say in the same way stand in app.

// Span is app.Span.
func Span(d time.Duration) string { return phrase.Span(d) }

// Rough is app.Rough.
func Rough(d time.Duration) string { return phrase.Rough(d) }

// LeaseEnd says when a cluster's lease ends, seen from now; "no end" where it has none.
func LeaseEnd(now time.Time, c app.Cluster) string { return c.LeaseEnd(now) }

// Lease says how long a lease is; "no end" for 0.
func Lease(d time.Duration) string { return app.LeaseWords(d) }

// Cost is app.Cost.
func Cost(x float64) string { return phrase.Cost(x) }

// Sizes says how many nodes a template allows.
func Sizes(r template.SizeRange) string { return r.Words() }

// StatusWord is a cluster's state in one word. A pending cluster is told by what is being done to it.
func StatusWord(c app.Cluster, op *app.Operation) string { return c.StatusWord(op) }

// StepWords is app.StepWords.
func StepWords(node string, a app.Action, service string) string {
	return app.StepWords(node, a, service)
}

// Ago says how long before now t was.
func Ago(now, t time.Time) string {
	if d := now.Sub(t); d >= time.Second {
		return Rough(d) + " ago"
	}
	return "just now"
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
	if n.Lost() {
		return string(app.StepFailed)
	}
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

// SafeLink is a build's own address where a browser may be led there.
func SafeLink(url string) string {
	if strings.HasPrefix(url, "https://") {
		return url
	}
	return ""
}

func UpperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// shorten cuts a text that has no room.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Counted puts a number before its noun.
func Counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Amount2 writes a number with two digits, or more where it is small.
func Amount2(x float64) string {
	if x > 0 && x < 0.1 {
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func Decimal(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
