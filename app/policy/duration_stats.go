package policy

import (
	"time"
)

// DurationStatsRetention is for how long kinds are kept of which nothing is seen.
const DurationStatsRetention = 400 * 24 * time.Hour
