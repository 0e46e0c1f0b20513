package family

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAfterLost(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		late, ago, appears, fails time.Duration // since the answer was lost
		looks                     int
		took                      time.Duration
	}{
		"it's there at the first look":      {late: 5 * time.Second, looks: 1, took: 5 * time.Second},
		"the call takes longer than a list": {late: 5 * time.Second, appears: 12 * time.Second, looks: 3, took: 15 * time.Second},
		"it never comes":                    {late: 5 * time.Second, appears: time.Hour, looks: 6, took: 30 * time.Second},
		"a minute at most":                  {late: 25 * time.Second, appears: time.Hour, looks: 3, took: time.Minute},
		"lists that are very late":          {late: 3 * time.Minute, appears: time.Hour, looks: 1, took: 3 * time.Minute},
		"no lag":                            {appears: time.Hour, looks: 1},
		"long ago":                          {late: 5 * time.Second, ago: time.Hour, appears: 2 * time.Hour, looks: 1},
		"a while ago":                       {late: 5 * time.Second, ago: 22 * time.Second, appears: time.Hour, looks: 2, took: 8 * time.Second},
		"a look fails":                      {late: 5 * time.Second, appears: time.Hour, fails: 8 * time.Second, looks: 2, took: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				lost, looks := begin.Add(-c.ago), 0
				err := AfterLost(t.Context(), c.ago, c.late, func() (bool, error) {
					looks++
					if c.fails > 0 && time.Since(lost) >= c.fails {
						return false, broken
					}
					return time.Since(lost) >= c.appears, nil
				})
				if (err != nil) != (c.fails > 0) || looks != c.looks || time.Since(begin) != c.took {
					t.Errorf("%v, %d looks in %s, want %d in %s", err, looks, time.Since(begin), c.looks, c.took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		if err := AfterLost(ctx, 0, 5*time.Second, func() (bool, error) { return false, nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
