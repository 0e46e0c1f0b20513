// Package bulk does the same to several clusters: extends their leases, puts them to sleep, wakes or deletes them. It decides nothing itself: permission,
// policies, approvals and the audit are those of the use cases for one cluster, which it calls for each. An error of one cluster is that cluster's result and
// doesn't stop the others.
package bulk
