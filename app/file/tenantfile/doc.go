// Package tenantfile reads and writes the settings of a tenant as one YAML document, documented in
// docs/tenant-settings.md. It uses app/settings and app/file/yamlfile and does no input or output. Instead of an error
// it returns all problems at once, each with line and column. Unknown fields are problems, so that a file of a newer
// Muster is never half understood.
package tenantfile
