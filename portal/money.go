package portal

import (
	"context"

	"muster/app"
	appoperation "muster/app/operation"
	apppolicy "muster/app/policy"
	"muster/app/usage"
)

// Money is a power that a Muster may have: quotas, leases that can be moved, and what was used. A portal without it has none
// of their pages.
type Money interface {
	Quotas(ctx context.Context, a app.Actor) ([]apppolicy.QuotaUse, error)
	// QuotaLeft tells what is left for the actor, and by which limit.
	QuotaLeft(ctx context.Context, a app.Actor) (apppolicy.QuotaLeft, error)
	SetQuota(ctx context.Context, a app.Actor, q apppolicy.Quota) (apppolicy.QuotaUse, error)
	SetTenantQuota(ctx context.Context, a app.Actor, l apppolicy.Limits) (apppolicy.QuotaUse, error)
	DeleteQuota(ctx context.Context, a app.Actor, scope app.QuotaScope, name string) error

	ExtendLease(ctx context.Context, a app.Actor, cluster string, r app.LeaseRequest) (appoperation.LeaseOutlook, error)
	LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (appoperation.LeaseOutlook, error)
	// LeaseLink checks the link of a warning; moved tells that the end is another one by now.
	LeaseLink(ctx context.Context, a app.Actor, cluster, end, signature string) (o appoperation.LeaseOutlook, moved bool, err error)

	Usage(ctx context.Context, a app.Actor, f usage.UsageFilter) (usage.Usage, error)
	UsageOfAll(ctx context.Context, a app.Actor, f usage.UsageFilter) (usage.Usage, error)
}

// money gives the power; nil where there is none.
func (p *Portal) money() Money {
	m, _ := p.muster.(Money)
	return m
}

type quotaList struct {
	Quotas []apppolicy.QuotaUse `json:"quotas" nullable:"false"`
}

type quotaInput struct {
	Body struct {
		Scope  app.QuotaScope   `json:"scope" enum:"tenant,group,user,each_user" doc:"Whom it is for; that of the tenant is for superadmins to set"`
		Name   string           `json:"name,omitempty" maxLength:"128" doc:"Of the group or user"`
		Limits apppolicy.Limits `json:"limits" doc:"What is left out is not limited"`
	}
}

type quotaKeyInput struct {
	Scope app.QuotaScope `query:"scope" required:"true" enum:"tenant,group,user,each_user" doc:"Whom it is for"`
	Name  string         `query:"name" maxLength:"128" doc:"Of the group or user"`
}

func (p *Portal) apiQuotaList(ctx context.Context, _ *struct{}) (*body[quotaList], error) {
	all, err := p.money().Quotas(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[quotaList]{quotaList{orEmpty(all)}}, nil
}

func (p *Portal) apiQuotaLeft(ctx context.Context, _ *struct{}) (*body[apppolicy.QuotaLeft], error) {
	left, err := p.money().QuotaLeft(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	left.Lines, left.Tightest = orEmpty(left.Lines), orEmpty(left.Tightest)
	return &body[apppolicy.QuotaLeft]{left}, nil
}

func (p *Portal) apiQuotaSet(ctx context.Context, in *quotaInput) (*body[apppolicy.QuotaUse], error) {
	q, err := p.setQuota(ctx, caller(ctx), apppolicy.Quota{Scope: in.Body.Scope, Name: in.Body.Name, Limits: in.Body.Limits})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[apppolicy.QuotaUse]{q}, nil
}

func (p *Portal) apiQuotaDelete(ctx context.Context, in *quotaKeyInput) (*struct{}, error) {
	if err := p.deleteQuota(ctx, caller(ctx), in.Scope, in.Name); err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

// setQuota asks the use case that the scope belongs to.
func (p *Portal) setQuota(ctx context.Context, a app.Actor, q apppolicy.Quota) (apppolicy.QuotaUse, error) {
	if q.Scope == app.QuotaTenant {
		return p.money().SetTenantQuota(ctx, a, q.Limits)
	}
	return p.money().SetQuota(ctx, a, q)
}

func (p *Portal) deleteQuota(ctx context.Context, a app.Actor, scope app.QuotaScope, name string) error {
	if scope == app.QuotaTenant {
		_, err := p.money().SetTenantQuota(ctx, a, apppolicy.Limits{})
		return err
	}
	return p.money().DeleteQuota(ctx, a, scope, name)
}

type leaseInput struct {
	IDInput
	Body app.LeaseRequest
}

func (p *Portal) apiLeaseShow(ctx context.Context, in *IDInput) (*body[appoperation.LeaseOutlook], error) {
	return p.outlook(ctx)(p.money().LeaseOutlook(ctx, caller(ctx), in.ID))
}

func (p *Portal) apiLeaseExtend(ctx context.Context, in *leaseInput) (*body[appoperation.LeaseOutlook], error) {
	return p.outlook(ctx)(p.money().ExtendLease(ctx, caller(ctx), in.ID, in.Body))
}

func (p *Portal) outlook(ctx context.Context) func(appoperation.LeaseOutlook, error) (*body[appoperation.LeaseOutlook], error) {
	return func(o appoperation.LeaseOutlook, err error) (*body[appoperation.LeaseOutlook], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		o.Warnings, o.Obstacles = orEmpty(o.Warnings), orEmpty(o.Obstacles)
		return &body[appoperation.LeaseOutlook]{o}, nil
	}
}
