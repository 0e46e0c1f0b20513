package portal

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

// ruling gives the power; nil where there is none.
func (p *Portal) ruling() Ruling {
	m, _ := p.muster.(Ruling)
	return m
}

type policyList struct {
	TimeZone string             `json:"time_zone" doc:"By which weekday and hour go"`
	Policies []apppolicy.Policy `json:"policies" nullable:"false"`

	Words []apppolicy.PolicyWord `json:"words" nullable:"false" doc:"What expressions can ask about"`
}

type policyVersions struct {
	Versions []apppolicy.Policy `json:"versions" nullable:"false" doc:"The newest first"`
}

// PolicyPath names a policy. It is exported since huma leaves out embedded fields that are not.
type PolicyPath struct {
	Name string `path:"name" maxLength:"63" doc:"The policy's name"`
}

type policyInput struct {
	PolicyPath
	Body apppolicy.Policy
}

type tryInput struct{ Body apppolicy.Try }

type policyDeleted struct {
	Deleted string `json:"deleted" doc:"The policy's name"`
}

type zoneInput struct{ Body policyZone }

type policyZone struct {
	TimeZone string `json:"time_zone" maxLength:"64" doc:"Such as Europe/Berlin"`
}

func (p *Portal) apiPolicyList(ctx context.Context, _ *struct{}) (*body[policyList], error) {
	list, err := p.ruling().PolicyList(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	zone, err := p.ruling().PolicyZone(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[policyList]{policyList{zone, orEmpty(list), orEmpty(p.ruling().PolicyWords())}}, nil
}

func (p *Portal) apiPolicyShow(ctx context.Context, in *PolicyPath) (*body[policyVersions], error) {
	all, err := p.ruling().Policy(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[policyVersions]{policyVersions{orEmpty(all)}}, nil
}

func (p *Portal) apiPolicySave(ctx context.Context, in *policyInput) (*body[apppolicy.Policy], error) {
	if in.Body.Name != in.Name {
		return nil, p.fail(ctx, &app.Error{Code: app.EInvalid, Field: "name", Message: "The policy has another name than the address.", Hint: "A policy cannot be renamed; make a new one and delete the old."})
	}
	saved, err := p.ruling().SavePolicy(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[apppolicy.Policy]{saved}, nil
}

func (p *Portal) apiPolicyDelete(ctx context.Context, in *PolicyPath) (*body[policyDeleted], error) {
	if err := p.ruling().DeletePolicy(ctx, caller(ctx), in.Name); err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[policyDeleted]{policyDeleted{in.Name}}, nil
}

func (p *Portal) apiPolicyTry(ctx context.Context, in *tryInput) (*body[apppolicy.Trial], error) {
	t, err := p.ruling().TryPolicy(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[apppolicy.Trial]{t}, nil
}

func (p *Portal) apiPolicyZone(ctx context.Context, in *zoneInput) (*body[policyZone], error) {
	if err := p.ruling().SetPolicyZone(ctx, caller(ctx), in.Body.TimeZone); err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[policyZone]{in.Body}, nil
}
