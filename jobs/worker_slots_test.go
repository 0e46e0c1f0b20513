package jobs

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSlotsAreNeverMoreThanThereAre(t *testing.T) {
	s := newSlots(3)
	ctx, cancel := context.WithCancel(t.Context())
	var now, most atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for s.take(ctx) {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(100 * time.Microsecond)
				now.Add(-1)
				s.give()
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	if m := most.Load(); m != 3 {
		t.Errorf("%d of 3 at once", m)
	}
	if !s.resize(7) {
		t.Error("7 is more than 3")
	}
	time.Sleep(20 * time.Millisecond)
	if m := most.Load(); m != 7 {
		t.Errorf("%d of 7 at once", m)
	}
	if s.resize(2) {
		t.Error("2 is less than 7")
	}
	for s.over() {
		time.Sleep(time.Millisecond)
	}
	most.Store(0)
	time.Sleep(20 * time.Millisecond)
	if m := most.Load(); m > 2 {
		t.Errorf("%d of 2 at once", m)
	}
	cancel()
	wg.Wait()
	if s.take(ctx) {
		t.Error("a slot was taken after the end")
	}
	if !s.tryTake() || !s.tryTake() || s.tryTake() {
		t.Error("2 slots can be taken, and no third")
	}
}
