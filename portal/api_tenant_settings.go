package portal

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"muster/app"
	"muster/app/settings"
)

// tenantFileLimit is how much a request may send that brings in the settings of a tenant: the file as JSON writes it, and values for its places.
const tenantFileLimit = settings.MaxTenantFile + 8<<20

const tenantSettingsPath = "/tenant-settings"

// Settling is a power that a Muster may have: all that admins of a tenant have set can be written down, and brought in from a file.
type Settling interface {
	ExportTenant(ctx context.Context, a app.Actor) (settings.TenantFile, error)
	// CheckTenant says what an import would do. Nothing is changed.
	CheckTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
	// ImportTenant does all of it or nothing. What is wrong with the file is no error but problems of the report. EConflict, reason
	// tenant_moved, where the settings are not those any more that AsOf names.
	ImportTenant(ctx context.Context, a app.Actor, in settings.TenantImport) (settings.TenantReport, error)
}

// settling gives the use cases of a tenant's settings, or nil.
func (p *Portal) settling() Settling {
	s, _ := p.muster.(Settling)
	return s
}

// settingsUpload tells requests that bring a file of settings, which has a limit of its own.
func settingsUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, apiPath+tenantSettingsPath+"/")
}

// large is the limit of what brings in a file of settings.
func large(o *huma.Operation) { o.MaxBodyBytes = tenantFileLimit }

type tenantImportInput struct{ Body settings.TenantImport }

func (p *Portal) apiTenantExport(ctx context.Context, _ *struct{}) (*body[settings.TenantFile], error) {
	f, err := p.settling().ExportTenant(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[settings.TenantFile]{f}, nil
}

func (p *Portal) apiTenantCheck(ctx context.Context, in *tenantImportInput) (*body[settings.TenantReport], error) {
	return p.tenantReport(ctx)(p.settling().CheckTenant(ctx, caller(ctx), in.Body))
}

func (p *Portal) apiTenantImport(ctx context.Context, in *tenantImportInput) (*body[settings.TenantReport], error) {
	return p.tenantReport(ctx)(p.settling().ImportTenant(ctx, caller(ctx), in.Body))
}

func (p *Portal) tenantReport(ctx context.Context) func(settings.TenantReport, error) (*body[settings.TenantReport], error) {
	return func(r settings.TenantReport, err error) (*body[settings.TenantReport], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		return &body[settings.TenantReport]{r}, nil
	}
}
