package identity

import (
	"context"

	"muster/app/settings"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// tenantFileLimit is how much a request may send that brings in the settings of a tenant: the file as JSON writes it, and values for its places.
const tenantFileLimit = settings.MaxTenantFile + 8<<20

// Large is the limit of what brings in a file of settings.
func Large(o *huma.Operation) { o.MaxBodyBytes = tenantFileLimit }

type tenantImportInput struct{ Body settings.TenantImport }

func (p *Service) APITenantExport(ctx context.Context, _ *struct{}) (*site.Body[settings.TenantFile], error) {
	f, err := p.TenantSettings.ExportTenant(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[settings.TenantFile]{Body: f}, nil
}

func (p *Service) APITenantCheck(ctx context.Context, in *tenantImportInput) (*site.Body[settings.TenantReport], error) {
	return p.tenantReport(ctx)(p.TenantSettings.CheckTenant(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) APITenantImport(ctx context.Context, in *tenantImportInput) (*site.Body[settings.TenantReport], error) {
	return p.tenantReport(ctx)(p.TenantSettings.ImportTenant(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) tenantReport(ctx context.Context) func(settings.TenantReport, error) (*site.Body[settings.TenantReport], error) {
	return func(r settings.TenantReport, err error) (*site.Body[settings.TenantReport], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		return &site.Body[settings.TenantReport]{Body: r}, nil
	}
}
