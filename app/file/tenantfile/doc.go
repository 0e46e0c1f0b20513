// Package tenantfile reads and writes the file that a tenant's settings are kept in: one YAML document, documented in
// docs/tenant-settings.md. It is pure, and never fails: what is wrong with a text are problems, all of them, each with its line and column.
// What is not known is wrong, so that a file of a newer Muster is never half understood.
package tenantfile
