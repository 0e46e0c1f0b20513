package operation

import "time"

// Top-ups are tried again with a back-off between these bounds.
const (
	firstTopUpGap = 10 * time.Minute
	longTopUpGap  = 2 * time.Hour
	topUpLook     = time.Minute // until it is looked again after something passed that was in the way
)

// TopUpGap is how long to wait after so many tries.
func TopUpGap(tries int) time.Duration {
	return min(firstTopUpGap<<min(max(tries, 0), 10), longTopUpGap)
}

// TopUpPatience is how far ahead a time can be at which a top-up is tried: what lies further was written before the clock was set back.
const TopUpPatience = longTopUpGap + time.Hour
