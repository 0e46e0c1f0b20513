// Package cluster previews, creates, shows, shares, compares, clones and deletes clusters. A create is solved and
// planned here, policies are asked, and the result is written in one transaction (create.go). It uses app/catalog,
// app/identity, app/policy, app/resource, app/secret, app/template and app/webhook.
package cluster
