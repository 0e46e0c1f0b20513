package keylock

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Locks
		lock := func(ctx context.Context, name string) func() {
			t.Helper()
			unlock, err := l.Lock(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			return unlock
		}
		first := lock(t.Context(), "web")
		lock(t.Context(), "another name")() // does not wait
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp, had := make(chan error, 1), make(chan func(), 1)
		go func() { _, err := l.Lock(ctx, "web"); gaveUp <- err }()
		go func() { had <- lock(t.Context(), "web") }()
		synctest.Wait()
		if len(gaveUp)+len(had) > 0 {
			t.Fatal("a lock that is held was had twice")
		}
		cancel()
		if err := <-gaveUp; err == nil {
			t.Fatal("who gave up holds the lock")
		}
		first()
		(<-had)()
		if len(l.held) > 0 {
			t.Errorf("unheld names are kept: %v", l.held)
		}
	})
}
