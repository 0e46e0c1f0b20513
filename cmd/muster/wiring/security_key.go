//go:build !small

package wiring

import (
	"muster/portal"
	"muster/portal/securitykey"
)

// SecurityKeys are second factors that this binary can check.
func SecurityKeys() portal.SecurityKeys { return securitykey.Keys{} }
