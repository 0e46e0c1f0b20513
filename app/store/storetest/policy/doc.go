// Package policy has the cases of every store about policies, requests and money: quotas, leases, schedules, usage and other hardware,
// with hundreds of creates at once. It uses kit.
package policy
