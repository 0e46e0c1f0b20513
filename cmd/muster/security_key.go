//go:build !small

package main

import (
	"muster/portal"
	"muster/portal/securitykey"
)

// securityKeys are second factors that this binary can check.
func securityKeys() portal.SecurityKeys { return securitykey.Keys{} }
