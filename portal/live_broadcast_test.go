package portal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"muster/portal/site"
)

func TestPagesOfAClusterShareOneWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s site.Broadcaster
		happened, watches, stops := make(chan struct{}, 1), 0, 0
		watch := func() (<-chan struct{}, func()) {
			watches++
			return happened, func() { stops++ }
		}
		one, leaveOne := s.Enter("c", watch)
		two, leaveTwo := s.Enter("c", watch)
		before := s.Now("c")
		happened <- struct{}{}
		<-one
		<-two
		if s.Now("c") <= before || watches != 1 {
			t.Errorf("after something happened the count is %d, before it was %d; %d watches", s.Now("c"), before, watches)
		}
		leaveOne()
		happened <- struct{}{}
		<-two
		if len(one) > 0 || stops != 0 {
			t.Errorf("one that left was woken (%d), or the watch ended (%d) though a page is open", len(one), stops)
		}
		last := s.Now("c")
		leaveTwo()
		if stops != 1 || len(s.M) != 0 || s.Now("c") != 0 {
			t.Errorf("after the last page: %d stops, topics %v", stops, s.M)
		}
		_, leave := s.Enter("c", watch)
		defer leave()
		if s.Now("c") <= last {
			t.Error("what was read before the last page closed counts as new")
		}
	})
}

func TestWhatHappenedIsReadOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s site.SharedRead[int]
		reads := 0
		get := func(since int64) (int, bool, error) {
			return s.Get(t.Context(), "k", since, func(context.Context) (int, error) { reads++; return reads, nil })
		}
		for i, c := range []struct {
			since int64
			want  int
			mine  bool
		}{{1, 1, true}, {1, 1, false}, {2, 2, true}, {1, 2, false}, {2, 2, false}} {
			if v, mine, err := get(c.since); err != nil || v != c.want || mine != c.mine {
				t.Errorf("%d: %d, mine %v, %v", i, v, mine, err)
			}
		}
		time.Sleep(site.LookKept + time.Second) // of the bubble's clock
		if v, mine, err := get(2); err != nil || v != 3 || !mine {
			t.Errorf("old data is read again: %d, mine %v, %v", v, mine, err)
		}
		wrong := errors.New("no")
		if _, _, err := s.Get(t.Context(), "k", 9, func(context.Context) (int, error) { return 0, wrong }); !errors.Is(err, wrong) {
			t.Error(err)
		}
		if v, mine, err := get(9); err != nil || v != 4 || !mine {
			t.Errorf("a failure is kept: %d, mine %v, %v", v, mine, err)
		}
	})
}
