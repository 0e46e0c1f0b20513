//go:build small

package wiring

import "muster/portal/site"

// SecurityKeys are left out of the small binary, which is for trying things out: their library would be a tenth of what it brings along. Codes work.
func SecurityKeys() site.SecurityKeys { return nil }
