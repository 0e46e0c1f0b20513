package policy

import (
	"context"
	"time"

	"muster/app"
)

// PolicyStore keeps policies, and the time zone that they are read in.
type PolicyStore interface {
	// DeletePolicy keeps the versions, for the record. ENotFound where there is none.
	DeletePolicy(ctx context.Context, name string, who app.Actor, now time.Time) error
	// PastFacts returns the newest requests of a tenant, with their facts, the newest first.
	PastFacts(ctx context.Context, tenant string, limit int) ([]PastRequest, error)
	// Policies returns those of a tenant that stand, in the order in which they are looked at.
	Policies(ctx context.Context, tenant string) ([]Policy, error)
	// PolicyVersions returns all versions of a policy, the newest first; none is an empty list.
	PolicyVersions(ctx context.Context, tenant, name string) ([]Policy, error)
	// SavePolicy writes a new version. EConflict where p.Version is set and is not the current one, or there are too many.
	SavePolicy(ctx context.Context, p Policy, who app.Actor, now time.Time) (Policy, error)
	SetTimeZone(ctx context.Context, who app.Actor, zone string, now time.Time) error
	// TimeZone returns the zone by which policies of a tenant tell weekday and hour; "UTC" where none was set.
	TimeZone(ctx context.Context, tenant string) (string, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store PolicyStore
	Now   func() time.Time
	// Policies evaluates policies; nil: a tenant with policies gets everything refused.
	Policies Engine
	// Webhooks asks the tenant's webhooks about requests; nil: there are none.
	Webhooks Webhooks
}

// Service keeps the policies that decide what may be asked for.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
