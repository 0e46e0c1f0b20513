// Package execution hands out steps to workers and takes their reports, and tells why something waits.
// It uses app/catalog, app/cluster, app/operation, app/resource, app/secret and app/template.
package execution
