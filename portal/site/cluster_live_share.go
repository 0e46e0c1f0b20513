package site

import "time"

// LookKept is for how long a look is at hand after it, where nothing happened since: what a page says of times is never older.
const LookKept = 2 * time.Second
