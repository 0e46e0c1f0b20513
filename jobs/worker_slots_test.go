package jobs

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestSlotsAreBounded(t *testing.T) {
	s := newSlots(3)
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	now, most := 0, 0
	highest := func() int {
		mu.Lock()
		defer mu.Unlock()
		return most
	}
	reaches := func(n int) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); highest() < n; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d at once, want %d", highest(), n)
			}
		}
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for s.take(ctx) {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(100 * time.Microsecond)
				mu.Lock()
				now--
				mu.Unlock()
				s.give()
			}
		})
	}
	reaches(3)
	time.Sleep(20 * time.Millisecond)
	if m := highest(); m != 3 {
		t.Errorf("%d of 3 at once", m)
	}
	if !s.resize(7) {
		t.Error("7 is more than 3")
	}
	reaches(7)
	time.Sleep(20 * time.Millisecond)
	if m := highest(); m != 7 {
		t.Errorf("%d of 7 at once", m)
	}
	if s.resize(2) {
		t.Error("2 is less than 7")
	}
	for s.over() {
		time.Sleep(time.Millisecond)
	}
	mu.Lock()
	most = 0
	mu.Unlock()
	time.Sleep(20 * time.Millisecond)
	if m := highest(); m > 2 {
		t.Errorf("%d of 2 at once", m)
	}
	cancel()
	wg.Wait()
	if s.take(ctx) {
		t.Error("a slot was taken after the end")
	}
	if !s.tryTake() || !s.tryTake() || s.tryTake() { //nolint:staticcheck // each call takes a slot
		t.Error("2 slots can be taken, and no third")
	}
}
