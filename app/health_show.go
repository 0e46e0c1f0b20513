package app

import "time"

// CheckRequest is a check of a cluster's health that a user asks for, as the store takes it.
type CheckRequest struct {
	Tenant  string
	Cluster string
	Who     Actor
	Now     time.Time
}
