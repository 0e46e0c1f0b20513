// Package policy holds the commands on what limits requests: policies, requests with their approval, quotas and usage.
//
// It uses cli, and words for requests from cluster.
package policy
