package app

import (
	"strings"
	"time"

	"muster/app/humanize"
)

// LeaseWords says how long a lease is; "no expiry" for 0.
func LeaseWords(d time.Duration) string {
	if d == 0 {
		return "no expiry"
	}
	return humanize.Duration(d)
}

// LeaseEnd says when the lease expires, seen from now; "no expiry" if it never does.
func (c Cluster) LeaseEnd(now time.Time) string {
	switch {
	case c.Status == ClusterDeleted:
		return "ended"
	case c.ExpiresAt.IsZero():
		return "no expiry"
	case !c.ExpiresAt.After(now):
		return "expired " + humanize.Ago(now, c.ExpiresAt)
	}
	return "expires in " + humanize.Rough(c.ExpiresAt.Sub(now))
}

// StatusWord is the state in one word. A pending cluster shows what is being done to it.
func (c Cluster) StatusWord(op *Operation) string {
	if c.Status == ClusterPending && op != nil && (c.KeptFrom == "" || op.Kind != OperationCreate) {
		switch {
		case op.Status == OperationCancelling:
			return "stopping"
		case op.Status == OperationPaused:
			return "paused"
		}
		return op.Kind.Doing()
	}
	if c.KeptFrom != "" && (c.Status == ClusterActive || c.Status == ClusterPending) {
		return "kept"
	}
	return string(c.Status)
}

// StepWords says what a step does: "create n1", "start app on n1".
func StepWords(node string, a Action, service string) string {
	switch {
	case a == ActionNames:
		return strings.TrimSpace("write node names on " + node)
	case a == ActionRun:
		return strings.TrimSpace("run the command on " + node)
	case service == "":
		return strings.TrimSpace(string(a) + " " + node)
	}
	return string(a) + " " + service + " on " + node
}

// StepTitle is StepWords of a step in the ledger.
func StepTitle(s Step) string {
	if s.Action == "" {
		return s.ID
	}
	return StepWords(s.Node, s.Action, s.Service)
}

// Headline says the state of a cluster's operation, in a few words: "web: creating", "web is active".
func (o Operation) Headline(c Cluster) string {
	switch {
	case o.Status == OperationSucceeded && o.Kind == OperationDelete:
		return c.Name + " was deleted"
	case o.Status == OperationSucceeded && c.Status == ClusterActive:
		return c.Name + " is active"
	case o.Status == OperationSucceeded:
		return c.Name + ": " + o.Kind.The() + " is done"
	case o.Status == OperationFailed:
		return c.Name + ": " + o.Kind.The() + " has failed"
	case o.Status == OperationCancelled:
		return c.Name + ": " + o.Kind.The() + " was cancelled"
	case o.Status == OperationPaused:
		return c.Name + ": " + o.Kind.The() + " is paused"
	}
	return c.Name + ": " + o.Kind.Doing()
}
