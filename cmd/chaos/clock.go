//go:build unix

package main

import (
	"sync"
	"time"
)

// wrongClock is a time during which a server's clock was wrong.
type wrongClock struct {
	from, to time.Time // by our own clock; a zero to: it still is
	by       time.Duration
}

// wrongClocks knows when clocks were wrong, and so which of the ledger's times tell an order.
type wrongClocks struct {
	mu  sync.Mutex
	all []wrongClock
}

// begin notes that a clock is wrong from now on, until end is called.
func (w *wrongClocks) begin(by time.Duration) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := len(w.all)
	w.all = append(w.all, wrongClock{from: time.Now(), by: by})
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all[i].to = time.Now()
	}
}

// clockSlack is how long a time may be on its way from a server's clock into the ledger.
const clockSlack = 2 * time.Second

// trusts tells that no clock that was wrong can have given the time.
func (w *wrongClocks) trusts(t time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.all {
		at := t.Add(-c.by)
		if at.After(c.from.Add(-clockSlack)) && (c.to.IsZero() || at.Before(c.to.Add(clockSlack))) {
			return false
		}
	}
	return true
}
