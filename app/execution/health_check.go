package execution

import (
	"time"

	"muster/app"
)

// CheckRequest is a check of a cluster's health that a user asks for, as the store takes it.
type CheckRequest struct {
	Tenant  string
	Cluster string
	Who     app.Actor
	Now     time.Time
}

// noHealthChecks is said of a cluster whose template has no health policy.
const noHealthChecks = "No health checks configured."
