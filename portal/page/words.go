package page

import (
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// LeaseEnd is app's text for when a cluster's lease expires.
func LeaseEnd(now time.Time, c app.Cluster) string { return c.LeaseEnd(now) }

// Lease is app's text for a lease's duration.
func Lease(d time.Duration) string { return app.LeaseWords(d) }

// Sizes is app's text for the number of nodes that a template allows.
func Sizes(r template.SizeRange) string { return r.Text() }

// StatusWord is a cluster's state in one word; for a pending cluster, the current operation.
func StatusWord(c app.Cluster, op *app.Operation) string { return c.StatusWord(op) }

// StepWords is app.StepWords.
func StepWords(node string, a app.Action, service string) string {
	return app.StepWords(node, a, service)
}

// Stamp is a time for a title attribute or a history line.
func Stamp(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05") + " UTC" }

// Machine is a time for a datetime attribute.
func Machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// StatusMark names the mark of a cluster's state, which the style sheet draws. Clusters and steps share one set of marks.
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

// SafeLink is a build's URL if it's safe to link to.
func SafeLink(url string) string {
	if strings.HasPrefix(url, "https://") {
		return url
	}
	return ""
}

// Amount2 writes a number with two decimals, or up to four if it's small, and groups thousands.
func Amount2(x float64) string { return humanize.Money(x, "") }

func Decimal(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// VisibilityWord names who can see a cluster.
func VisibilityWord(v app.Visibility) string {
	if v == app.VisibleTenant {
		return "Everyone in the tenant"
	}
	return "Private"
}

// OwnerWords names the owner of a cluster: ana, or ana and group ops.
func OwnerWords(c app.Cluster) string {
	if c.OwnerGroup == "" {
		return c.Owner
	}
	return c.Owner + " and group " + c.OwnerGroup
}
