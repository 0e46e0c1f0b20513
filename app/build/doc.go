// Package build takes what build systems send, and creates clusters for builds.
// It uses app/catalog, app/cluster, app/identity, app/operation, app/policy and app/webhook.
package build
