// Package yamlfile reads the YAML and JSON files that people write: rules of build hooks, policies and the settings of a tenant. It is strict,
// since what is silently left out is missed when it matters: unknown fields, values of another type and repeated keys are mistakes. It tells
// all of them at once, each with its line, column and path, and never quotes a value, which may be a secret. Anchors and aliases are
// refused, so that a file is about as large as it looks.
package yamlfile
