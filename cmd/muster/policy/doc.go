// Package policy holds the commands on what limits requests: policies, requests with their approvals, quotas and usage.
// It uses cli, and cluster for the wording of requests.
package policy
