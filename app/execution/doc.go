// Package execution is the server's side of the work: it assigns steps to workers and takes their reports, explains why
// a step waits, handles manual steps, and runs health checks and automatic repair. It uses app/catalog, app/cluster,
// app/lease, app/operation, app/resource, app/secret and app/template.
package execution
