package site

import "time"

// LookKept is how long a read stays valid without events: long enough that all pages of a person share it, however many there are.
const LookKept = 10 * time.Second
