package fleet

import (
	"context"

	"muster/app"
	"muster/app/fleet"
	"muster/portal/site"
)

type provisionerList struct {
	Body struct {
		Provisioners []app.Provisioner `json:"provisioners"`
	}
}

func (p *Service) apiProvisionerList(ctx context.Context, _ *struct{}) (*provisionerList, error) {
	all, err := p.Provisioners.Provisioners(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &provisionerList{}
	if out.Body.Provisioners = all; all == nil {
		out.Body.Provisioners = []app.Provisioner{}
	}
	return out, nil
}

type provisionerName struct {
	Name string `path:"name" maxLength:"200" doc:"Name or ID"`
}

type provisionerShown struct{ Body fleet.ProvisionerDetail }

func (p *Service) apiProvisionerShow(ctx context.Context, in *provisionerName) (*provisionerShown, error) {
	d, err := p.Provisioners.Provisioner(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &provisionerShown{Body: d}, nil
}

type drained struct {
	Body struct {
		Draining int `json:"draining" doc:"Number of provisioners with this name that are now draining"`
	}
}

func (p *Service) apiProvisionerDrain(ctx context.Context, in *provisionerName) (*drained, error) {
	n, err := p.Provisioners.DrainProvisioner(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &drained{}
	out.Body.Draining = n
	return out, nil
}

type provisionerTokenList struct {
	Body struct {
		Tokens []fleet.ProvisionerToken `json:"tokens"`
	}
}

func (p *Service) apiProvisionerTokenList(ctx context.Context, _ *struct{}) (*provisionerTokenList, error) {
	all, err := p.Provisioners.ProvisionerTokens(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &provisionerTokenList{}
	out.Body.Tokens = all
	return out, nil
}

type provisionerTokenAsk struct {
	Body struct {
		Name    string            `json:"name" maxLength:"63" doc:"Name of the token"`
		Tenants []string          `json:"tenants" minItems:"1" maxItems:"1000" doc:"Tenants whose steps the token's provisioners can run; \"*\" alone for all"`
		Tags    map[string]string `json:"tags,omitempty" doc:"Tags that the token's provisioners can have"`
		Slots   int               `json:"slots,omitempty" minimum:"0" maximum:"10000" doc:"Maximum number of steps that all the token's provisioners run at the same time; 0 means 1,000"`
	}
}

type provisionerToken struct {
	Body struct {
		Name  string `json:"name"`
		Token string `json:"token" doc:"Token for provisioners, in MUSTER_PROVISIONER_TOKEN; shown only here"`
	}
}

func (p *Service) apiProvisionerTokenCreate(ctx context.Context, in *provisionerTokenAsk) (*provisionerToken, error) {
	token, err := p.Provisioners.CreateProvisionerToken(ctx, site.Caller(ctx), in.Body.Name,
		fleet.ProvisionerGrant{Tenants: in.Body.Tenants, Tags: in.Body.Tags, Slots: in.Body.Slots})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	if p.CA != "" {
		token += "." + p.CA
	}
	out := &provisionerToken{}
	out.Body.Name, out.Body.Token = in.Body.Name, token
	return out, nil
}

type revoked struct {
	Body struct {
		Revoked string `json:"revoked"`
	}
}

func (p *Service) apiProvisionerTokenRevoke(ctx context.Context, in *provisionerName) (*revoked, error) {
	if err := p.Provisioners.RevokeProvisionerToken(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &revoked{}
	out.Body.Revoked = in.Name
	return out, nil
}
