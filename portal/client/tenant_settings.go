package client

import (
	"context"
	"net/http"

	"muster/app/settings"
)

// TenantSettings exports and imports a tenant's settings.
type TenantSettings part

// Export returns the tenant's settings as a file, without secrets.
func (c *TenantSettings) Export(ctx context.Context) (f settings.TenantFile, err error) {
	err = c.client.CallInto(ctx, "/tenant-settings", nil, &f)
	return f, err
}

// Import applies settings to the tenant, all or nothing; without apply, it previews that. Errors in the file are problems of the report.
// EConflict, reason tenant_moved, if in.AsOf is set and the settings have changed since.
func (c *TenantSettings) Import(ctx context.Context, in settings.TenantImport, apply bool) (r settings.TenantReport, err error) {
	path := "/tenant-settings/check"
	if apply {
		path = "/tenant-settings/apply"
	}
	err = c.client.Call(ctx, http.MethodPost, path, nil, in, &r)
	return r, err
}
