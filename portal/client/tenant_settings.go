package client

import (
	"context"
	"net/http"

	"muster/app/settings"
)

// TenantSettings exports and imports the settings of a tenant as a file.
type TenantSettings part

// Export returns the settings of the tenant as a file, without any secret.
func (c *TenantSettings) Export(ctx context.Context) (f settings.TenantFile, err error) {
	err = c.client.CallInto(ctx, "/tenant-settings", nil, &f)
	return f, err
}

// Import brings settings into the tenant, all or nothing, where apply is said; else it says what that would do. What is wrong with the
// file are problems of the report. EConflict, reason tenant_moved, where in.AsOf is set and the settings have changed since.
func (c *TenantSettings) Import(ctx context.Context, in settings.TenantImport, apply bool) (r settings.TenantReport, err error) {
	path := "/tenant-settings/check"
	if apply {
		path = "/tenant-settings/apply"
	}
	err = c.client.Call(ctx, http.MethodPost, path, nil, in, &r)
	return r, err
}
