//go:build !chaos

package server

import "time"

// wallClock is the clock that all decisions of the ledger go by.
func wallClock() time.Time { return time.Now() }
