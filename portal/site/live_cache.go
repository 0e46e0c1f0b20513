package site

import "time"

// LookKept is how long a read stays valid without events; times on a page are never older.
const LookKept = 2 * time.Second
