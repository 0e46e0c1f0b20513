package apptest

import (
	"sync"
	"time"
)

// Clock is stopped until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at noon of a day.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move lets time pass.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
