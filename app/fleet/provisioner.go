package fleet

import (
	"context"
	"time"
)

// Registration is what a provisioner says of itself.
type Registration struct {
	Name    string            `json:"name"`
	Host    string            `json:"host"`
	Version string            `json:"version"`
	Tags    map[string]string `json:"tags,omitempty"`
	Slots   int               `json:"slots"`
}

// Registered is the answer.
type Registered struct {
	ID           string `json:"id"`
	Installation string `json:"installation"`
}

// Beat is a provisioner's heartbeat.
type Beat struct {
	ID       string   `json:"id"`
	Known    string   `json:"known"`              // Orders.Version that it acts by; "" for none
	Draining bool     `json:"draining,omitempty"` // it wants no (more) tenants
	Ended    []string `json:"ended,omitempty"`    // names of workers whose processes are gone for certain: their claims are free
	// Wait is how long the answer may be held back while there is nothing new in it.
	Wait time.Duration `json:"wait,omitempty"`
}

// Orders are what a provisioner is to do: one worker for each tenant, and none for others.
type Orders struct {
	Version string        `json:"version"`
	Drain   bool          `json:"drain,omitempty"` // end all workers in peace, then the process
	Workers []WorkerOrder `json:"workers"`
}

// WorkerOrder is a tenant's worker. Token proves for a while who it works for, and is renewed with each heartbeat.
type WorkerOrder struct {
	Tenant string `json:"tenant"`
	Slots  int    `json:"slots"`
	Token  string `json:"token"`
}

// Registry is the contract between a provisioner and the server. EStale, reason "replaced": the registration has ended, since
// the provisioner was not heard of for too long; it drops what it has and registers anew. EUnauthorized: the token was
// revoked.
type Registry interface {
	Register(ctx context.Context, r Registration) (Registered, error)
	Beat(ctx context.Context, b Beat) (Orders, error)
	// Leave ends the registration. It may be called twice.
	Leave(ctx context.Context, id string) error
}
