package app

import "strings"

// WatchEverything is what Feed.Watch is asked for to be woken when anything of any tenant has changed.
const WatchEverything = "*everything"

const tenantWatch = "*tenant:"

// WatchTenant is what Feed.Watch is asked for to be woken when anything of a tenant has changed that a list may show: a cluster,
// a step, a request, a question, a rule, who may do what. No cluster has such a name.
func WatchTenant(tenant string) string { return tenantWatch + tenant }

// OfTenant tells whether something that is watched is all of one tenant.
func OfTenant(watched string) bool { return strings.HasPrefix(watched, tenantWatch) }
