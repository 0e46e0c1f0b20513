package site

import (
	"context"

	"muster/app"
	apppolicy "muster/app/policy"
)

// Ruling is a power that a Muster may have: to look after policies.
type Ruling interface {
	PolicyList(ctx context.Context, a app.Actor) ([]apppolicy.Policy, error)
	// Policy gives all versions of a policy, the newest first.
	Policy(ctx context.Context, a app.Actor, name string) ([]apppolicy.Policy, error)
	SavePolicy(ctx context.Context, a app.Actor, p apppolicy.Policy) (apppolicy.Policy, error)
	DeletePolicy(ctx context.Context, a app.Actor, name string) error
	TryPolicy(ctx context.Context, a app.Actor, t apppolicy.Try) (apppolicy.Trial, error)
	PolicyWords() []apppolicy.PolicyWord
	PolicyZone(ctx context.Context, a app.Actor) (string, error)
	SetPolicyZone(ctx context.Context, a app.Actor, zone string) error
}

// Ruling gives the power; nil where there is none.
func (p *Site) Ruling() Ruling {
	m, _ := p.Muster.(Ruling)
	return m
}
