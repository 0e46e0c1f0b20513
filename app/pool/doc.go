// Package pool keeps machines ready before they are asked for.
// It uses app/catalog, app/cluster, app/operation, app/policy and app/secret.
package pool
