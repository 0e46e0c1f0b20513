//go:build small

package main

import "muster/portal"

// securityKeys are left out of the small binary, which is for trying things out: their library would be a tenth of what it brings along. Codes work.
func securityKeys() portal.SecurityKeys { return nil }
