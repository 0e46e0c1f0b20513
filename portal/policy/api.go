package policy

import (
	"context"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/portal/site"
)

type policyList struct {
	TimeZone string             `json:"time_zone" doc:"Time zone of weekday and hour in conditions"`
	Policies []apppolicy.Policy `json:"policies" nullable:"false"`

	Variables []apppolicy.Variable `json:"variables" nullable:"false" doc:"Variables of expressions"`
}

type policyVersions struct {
	Versions []apppolicy.Policy `json:"versions" nullable:"false" doc:"Versions, newest first"`
}

// Path names a policy. It is exported since huma leaves out embedded fields that are not.
type Path struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the policy"`
}

type policyInput struct {
	Path
	Body apppolicy.Policy
}

type tryInput struct{ Body apppolicy.TrialRequest }

type policyDeleted struct {
	Deleted string `json:"deleted" doc:"Name of the policy"`
}

type zoneInput struct{ Body policyZone }

type policyZone struct {
	TimeZone string `json:"time_zone" maxLength:"64" doc:"IANA time zone, such as Europe/Berlin"`
}

func (p *Service) apiList(ctx context.Context, _ *struct{}) (*site.Body[policyList], error) {
	list, err := p.Policies.PolicyList(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	zone, err := p.Policies.PolicyZone(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[policyList]{Body: policyList{zone, site.OrEmpty(list), site.OrEmpty(p.Policies.PolicyVariables())}}, nil
}

func (p *Service) apiShow(ctx context.Context, in *Path) (*site.Body[policyVersions], error) {
	all, err := p.Policies.Policy(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[policyVersions]{Body: policyVersions{site.OrEmpty(all)}}, nil
}

func (p *Service) apiSave(ctx context.Context, in *policyInput) (*site.Body[apppolicy.Policy], error) {
	if in.Body.Name != in.Name {
		return nil, p.Fail(ctx, &app.Error{Code: app.EInvalid, Field: "name", Message: "The policy's name doesn't match the address.", Hint: "To rename a policy, create a new one and delete the old one."})
	}
	saved, err := p.Policies.SavePolicy(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[apppolicy.Policy]{Body: saved}, nil
}

func (p *Service) apiDelete(ctx context.Context, in *Path) (*site.Body[policyDeleted], error) {
	if err := p.Policies.DeletePolicy(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[policyDeleted]{Body: policyDeleted{in.Name}}, nil
}

func (p *Service) apiTry(ctx context.Context, in *tryInput) (*site.Body[apppolicy.TrialResult], error) {
	t, err := p.Policies.TryPolicy(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[apppolicy.TrialResult]{Body: t}, nil
}

func (p *Service) apiZone(ctx context.Context, in *zoneInput) (*site.Body[policyZone], error) {
	if err := p.Policies.SetPolicyZone(ctx, site.Caller(ctx), in.Body.TimeZone); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[policyZone]{Body: in.Body}, nil
}
