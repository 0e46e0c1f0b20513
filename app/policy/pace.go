package policy

import (
	"time"
)

// PaceMemory is for how long kinds are kept of which nothing is seen.
const PaceMemory = 400 * 24 * time.Hour
