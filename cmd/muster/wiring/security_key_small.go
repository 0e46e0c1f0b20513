//go:build small

package wiring

import "muster/portal"

// SecurityKeys are left out of the small binary, which is for trying things out: their library would be a tenth of what it brings along. Codes work.
func SecurityKeys() portal.SecurityKeys { return nil }
