// Package settings exports and imports the settings of a tenant.
// It uses app/build, app/catalog, app/cluster, app/identity, app/policy, app/pool, app/resource, app/secret and app/webhook.
package settings
