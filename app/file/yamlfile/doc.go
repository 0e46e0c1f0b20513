// Package yamlfile reads the YAML and JSON files that people write: rules of build hooks, policies and the settings of
// a tenant. It is strict, since a field that is ignored is missed when it matters: unknown fields, wrong types and
// repeated keys are errors. It reports all of them at once, each with line, column and path, and never quotes a value,
// which may be a secret. Anchors and aliases are refused, so that a file is about as large as it looks.
package yamlfile
