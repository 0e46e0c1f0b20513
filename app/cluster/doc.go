// Package cluster previews, creates, shows, shares, compares, clones and deletes clusters. A create is solved and
// planned here, policies are asked, and the result is written in one transaction (create.go). Each noun is a type of
// its own, with its own needs: Creates, Trials, Views, Specs, Activity, Sharing, Ownership, Deletes, Dashboard and
// Repeats. They share Finder (who may see which cluster), Masks (what is hidden from whom), Plans (the order of
// steps) and Preflight (what would fail later). It uses app/catalog, app/identity, app/policy, app/resource, app/secret,
// app/template and app/webhook.
package cluster
