package identity

import (
	"context"

	"muster/app/settings"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// tenantFileLimit bounds a request that imports tenant settings: the file as JSON, and values for its placeholders.
const tenantFileLimit = settings.MaxTenantFile + 8<<20

// large raises the size limit for settings files.
func large(o *huma.Operation) { o.MaxBodyBytes = tenantFileLimit }

type tenantImportInput struct{ Body settings.TenantImport }

// tenantSettings exports and imports the settings of a tenant as a file.
type tenantSettings struct {
	*site.Site
}

func (p *tenantSettings) operations() []site.Operation {
	return []site.Operation{
		site.Get(site.TenantSettingsPath, p.APIExport, site.About("Export the tenant's settings as a file, without secrets")),
		site.Post(site.TenantSettingsPath+"/check", p.APICheck, site.About("Check a settings file: what it would change, and its problems"), large),
		site.Post(site.TenantSettingsPath+"/apply", p.APIImport,
			site.About("Import a settings file, completely or not at all"), large),
	}
}

func (p *tenantSettings) routes() []site.Route { return nil }

func (p *tenantSettings) APIExport(ctx context.Context, _ *struct{}) (*site.Body[settings.TenantFile], error) {
	f, err := p.TenantSettings.ExportTenant(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[settings.TenantFile]{Body: f}, nil
}

func (p *tenantSettings) APICheck(ctx context.Context, in *tenantImportInput) (*site.Body[settings.TenantReport], error) {
	return p.report(ctx)(p.TenantSettings.CheckTenant(ctx, site.Caller(ctx), in.Body))
}

func (p *tenantSettings) APIImport(ctx context.Context, in *tenantImportInput) (*site.Body[settings.TenantReport], error) {
	return p.report(ctx)(p.TenantSettings.ImportTenant(ctx, site.Caller(ctx), in.Body))
}

func (p *tenantSettings) report(ctx context.Context) func(settings.TenantReport, error) (*site.Body[settings.TenantReport], error) {
	return func(r settings.TenantReport, err error) (*site.Body[settings.TenantReport], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		return &site.Body[settings.TenantReport]{Body: r}, nil
	}
}
