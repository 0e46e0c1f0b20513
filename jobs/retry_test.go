package jobs

import (
	"testing"
	"time"

	"muster/app"
)

func TestRetry(t *testing.T) {
	for _, c := range []struct {
		code  app.Code
		after time.Duration
		tries int
		again bool
		least time.Duration
	}{
		{app.ETransient, 0, 1, true, time.Second},
		{app.ETransient, 0, 4, true, 8 * time.Second},
		{app.ETransient, 0, 5, false, 0},
		{app.ERateLimit, 90 * time.Second, 1, true, 90 * time.Second},
		{app.ECapacity, 0, 2, true, 20 * time.Second},
		{app.EScript, 0, 2, true, 4 * time.Second},
		{app.EScript, 0, 3, false, 0},
		{app.ECredentials, 0, 1, false, 0},
		{app.EHostKey, 0, 1, false, 0},
		{app.EQuota, 0, 1, false, 0},
		{app.EInvalid, 0, 1, false, 0},
		{app.ECancelled, 0, 1, false, 0},
	} {
		got := retry(&app.Error{Code: c.code, RetryAfter: c.after}, c.tries)
		if got.Again != c.again || got.After < c.least || got.After > c.least+c.least/4+c.after {
			t.Errorf("%s after %d tries: %+v, want again=%v after at least %s", c.code, c.tries, got, c.again, c.least)
		}
	}
}

func TestBackOffIsBounded(t *testing.T) {
	if d := retry(&app.Error{Code: app.ERateLimit, RetryAfter: 1000 * time.Hour}, 1).After; d != longestAsked {
		t.Errorf("a cloud that asks for six weeks makes us wait %s", d)
	}
	for tries := 1; tries < 100; tries++ {
		if d := backOff(time.Second, tries); d < time.Second || d > longestWait+longestWait/4+1 {
			t.Errorf("try %d waits %s", tries, d)
		}
	}
}
