package identity

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"muster/app"
	"muster/app/settings"
	"muster/portal/site"
)

// tenantFileLimit is how much a request may send that brings in the settings of a tenant: the file as JSON writes it, and values for its places.
const tenantFileLimit = settings.MaxTenantFile + 8<<20

// Settling is a power that a Muster may have: all that admins of a tenant have set can be written down, and brought in from a file.
type Settling interface {
	ExportTenant(ctx context.Context, a app.Actor) (settings.TenantFile, error)
	// CheckTenant says what an import would do. Nothing is changed.
	CheckTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
	// ImportTenant does all of it or nothing. What is wrong with the file is no error but problems of the report. EConflict, reason
	// tenant_moved, where the settings are not those any more that AsOf names.
	ImportTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
}

// Settling gives the use cases of a tenant's settings, or nil.
func (p *Service) Settling() Settling {
	s, _ := p.Muster.(Settling)
	return s
}

// Large is the limit of what brings in a file of settings.
func Large(o *huma.Operation) { o.MaxBodyBytes = tenantFileLimit }

type tenantImportInput struct{ Body settings.TenantImport }

func (p *Service) APITenantExport(ctx context.Context, _ *struct{}) (*site.Body[settings.TenantFile], error) {
	f, err := p.Settling().ExportTenant(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[settings.TenantFile]{Body: f}, nil
}

func (p *Service) APITenantCheck(ctx context.Context, in *tenantImportInput) (*site.Body[settings.TenantReport], error) {
	return p.tenantReport(ctx)(p.Settling().CheckTenant(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) APITenantImport(ctx context.Context, in *tenantImportInput) (*site.Body[settings.TenantReport], error) {
	return p.tenantReport(ctx)(p.Settling().ImportTenant(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) tenantReport(ctx context.Context) func(settings.TenantReport, error) (*site.Body[settings.TenantReport], error) {
	return func(r settings.TenantReport, err error) (*site.Body[settings.TenantReport], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		return &site.Body[settings.TenantReport]{Body: r}, nil
	}
}
