// Package cluster holds the pages of clusters: the list, the form with its preview, the page of one cluster with its
// live parts, access, logs, sharing, leases and managing. They show plans (package plan), quotas, parameters of
// templates, manual steps, health and builds; what changes a running cluster is in package operation, which uses this
// one.
package cluster

//go:generate go run ../page/generate.go
