//go:build chaos

package server

import (
	"os"
	"strings"
	"time"
)

// wallClock is the clock of a server under test: that of the host, put forward or back by what the file named by
// MUSTER_CHAOS_CLOCK says, such as -10m. Only builds for chaos have it; there is no other way to step one process's clock.
func wallClock() time.Time {
	text, err := os.ReadFile(os.Getenv("MUSTER_CHAOS_CLOCK"))
	if err != nil {
		return time.Now()
	}
	step, _ := time.ParseDuration(strings.TrimSpace(string(text)))
	return time.Now().Round(0).Add(step) // without the monotonic reading, which no one steps
}
