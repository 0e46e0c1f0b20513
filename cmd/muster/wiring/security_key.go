//go:build !small

package wiring

import (
	"muster/portal/securitykey"
	"muster/portal/site"
)

// SecurityKeys are second factors that this binary can check.
func SecurityKeys() site.SecurityKeys { return securitykey.Keys{} }
