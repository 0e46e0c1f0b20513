package quota

import (
	"context"

	"muster/app"
	"muster/app/lease"
	apppolicy "muster/app/policy"
	"muster/app/template"
	"muster/portal/site"
)

type quotaList struct {
	Quotas []apppolicy.QuotaUse `json:"quotas" nullable:"false"`
}

type quotaInput struct {
	Body struct {
		Scope  apppolicy.QuotaScope `json:"scope" enum:"tenant,group,user,each_user" doc:"Scope of the quota; only superadmins can set the tenant's"`
		Name   string               `json:"name,omitempty" maxLength:"128" doc:"Name of the group or user"`
		Limits apppolicy.Limits     `json:"limits" doc:"Limits; a missing one is unlimited"`
	}
}

type quotaKeyInput struct {
	Scope apppolicy.QuotaScope `query:"scope" required:"true" enum:"tenant,group,user,each_user" doc:"Scope of the quota"`
	Name  string               `query:"name" maxLength:"128" doc:"Name of the group or user"`
}

func (p *Service) apiList(ctx context.Context, _ *struct{}) (*site.Body[quotaList], error) {
	all, err := p.Quotas.Quotas(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[quotaList]{Body: quotaList{site.OrEmpty(all)}}, nil
}

func (p *Service) apiLeft(ctx context.Context, _ *struct{}) (*site.Body[apppolicy.QuotaLeft], error) {
	left, err := p.Quotas.QuotaLeft(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	left.Lines, left.Tightest = site.OrEmpty(left.Lines), site.OrEmpty(left.Tightest)
	return &site.Body[apppolicy.QuotaLeft]{Body: left}, nil
}

func (p *Service) apiSet(ctx context.Context, in *quotaInput) (*site.Body[apppolicy.QuotaUse], error) {
	q, err := p.setQuota(ctx, site.Caller(ctx), apppolicy.Quota{Scope: in.Body.Scope, Name: in.Body.Name, Limits: in.Body.Limits})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[apppolicy.QuotaUse]{Body: q}, nil
}

func (p *Service) apiDelete(ctx context.Context, in *quotaKeyInput) (*struct{}, error) {
	if err := p.deleteQuota(ctx, site.Caller(ctx), in.Scope, in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

// setQuota calls the use case of the scope.
func (p *Service) setQuota(ctx context.Context, a app.Actor, q apppolicy.Quota) (apppolicy.QuotaUse, error) {
	if q.Scope == apppolicy.QuotaTenant {
		return p.Quotas.SetTenantQuota(ctx, a, q.Limits)
	}
	return p.Quotas.SetQuota(ctx, a, q)
}

func (p *Service) deleteQuota(ctx context.Context, a app.Actor, scope apppolicy.QuotaScope, name string) error {
	if scope == apppolicy.QuotaTenant {
		_, err := p.Quotas.SetTenantQuota(ctx, a, apppolicy.Limits{})
		return err
	}
	return p.Quotas.DeleteQuota(ctx, a, scope, name)
}

type leaseInput struct {
	site.IDInput
	Body template.LeaseRequest
}

func (p *Service) apiLeaseShow(ctx context.Context, in *site.IDInput) (*site.Body[lease.Outlook], error) {
	return p.outlook(ctx)(p.Leases.LeaseOutlook(ctx, site.Caller(ctx), in.ID))
}

func (p *Service) apiLeaseExtend(ctx context.Context, in *leaseInput) (*site.Body[lease.Outlook], error) {
	return p.outlook(ctx)(p.Leases.ExtendLease(ctx, site.Caller(ctx), in.ID, in.Body))
}

func (p *Service) outlook(ctx context.Context) func(lease.Outlook, error) (*site.Body[lease.Outlook], error) {
	return func(o lease.Outlook, err error) (*site.Body[lease.Outlook], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		o.Warnings, o.Obstacles = site.OrEmpty(o.Warnings), site.OrEmpty(o.Obstacles)
		return &site.Body[lease.Outlook]{Body: o}, nil
	}
}
