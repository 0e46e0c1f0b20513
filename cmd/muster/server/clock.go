//go:build !chaos

package server

import "time"

// wallClock is the clock for all decisions of the ledger.
func wallClock() time.Time { return time.Now() }
