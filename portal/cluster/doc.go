// Package cluster holds the pages and the REST operations of clusters: the list, the form with its preview, the page of
// one cluster with its live parts, access, logs, sharing, leases and management. They show plans (package plan),
// quotas, parameters, manual steps, health and builds. What changes a running cluster is in package operation, which
// uses this one.
package cluster
