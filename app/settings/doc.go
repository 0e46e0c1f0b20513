// Package settings exports and imports all settings of a tenant as one document. How the document is written as YAML is
// up to app/file/tenantfile. It uses app/build, app/catalog, app/cluster, app/identity, app/idle, app/policy,
// app/pool, app/resource, app/secret, app/webhook and app/window.
package settings
