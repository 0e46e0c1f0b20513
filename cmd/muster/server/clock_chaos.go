//go:build chaos

package server

import (
	"os"
	"strings"
	"time"
)

// wallClock is the clock of a server under test: the host's, shifted by the content of the file MUSTER_CHAOS_CLOCK, such as -10m. Only
// chaos builds have it; there's no other way to step one process's clock.
func wallClock() time.Time {
	text, err := os.ReadFile(os.Getenv("MUSTER_CHAOS_CLOCK"))
	if err != nil {
		return time.Now()
	}
	step, _ := time.ParseDuration(strings.TrimSpace(string(text)))
	return time.Now().Round(0).Add(step) // without the monotonic reading, which can't be stepped
}
