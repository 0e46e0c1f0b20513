// Package cluster creates, previews, shows and compares clusters.
// It uses app/catalog, app/identity, app/policy, app/resource, app/secret, app/template and app/webhook.
package cluster
