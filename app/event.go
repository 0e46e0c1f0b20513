package app

import (
	"time"
)

// EventKind says what changed.
type EventKind string

// The kinds of event. Each carries the ids that it is about; a reader asks for the rest.
const (
	EventCluster   EventKind = "cluster"   // the cluster's status or message changed
	EventOperation EventKind = "operation" // an operation was accepted, or its status changed
	EventStep      EventKind = "step"      // a step began or ended, or is to be tried again; Done and Total are those of its operation
	EventNode      EventKind = "node"      // a node changed its status
	EventLease     EventKind = "lease"     // the end of the lease was moved, or people were warned of it
)

// Event is one entry of a cluster's numbered feed. Seq grows by time, with gaps; asking for what came after a number
// never misses any.
type Event struct {
	Seq       int64     `json:"seq"`
	At        time.Time `json:"at"`
	Tenant    string    `json:"-"`
	Cluster   string    `json:"cluster"`
	Operation int64     `json:"operation,omitempty"`
	Kind      EventKind `json:"kind"`
	Node      string    `json:"node,omitempty"`
	Step      string    `json:"step,omitempty"`   // step id, such as n1.app.start
	Status    string    `json:"status,omitempty"` // the new state
	Message   string    `json:"message,omitempty"`
	Done      int       `json:"done,omitempty"`
	Total     int       `json:"total,omitempty"`
}

// LogLine is one line that a step's command printed, or that Muster said about it. Seq grows within a tenant.
type LogLine struct {
	Seq       int64     `json:"seq"`
	At        time.Time `json:"at"`
	Operation int64     `json:"operation"`
	Index     int       `json:"index"`
	Attempt   int       `json:"attempt"`
	Step      string    `json:"step"`
	Node      string    `json:"node"`
	Stream    Stream    `json:"stream"`
	Text      string    `json:"text"`
}

// The notice for when health changes.
const (
	// EventHealth says that a node, or the cluster where none is named, became unhealthy, unreachable or healthy.
	EventHealth EventKind = "health"
	// EventIdle says that a cluster is idle, in use again, or kept.
	EventIdle EventKind = "idle"
	// EventScaling says what scaling did, or what someone set of it.
	EventScaling EventKind = "scaling"
	// NoticeHealth says that a cluster is unhealthy, or well again, or is not repaired by itself.
	NoticeHealth NoticeKind = "health"
)

// Stream tells the standard output from the standard error of a command.
type Stream string
