package apptest

import "time"

// Hangs is how long a test waits for what should come at once: it is reached only where something hangs.
const Hangs = 5 * time.Minute
