package budget

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

func TestCallsAreCountedAcrossClients(t *testing.T) {
	all, r := budgets(t, 2)
	rate := template.Rate{PerSecond: 1, Burst: 4}
	all[0].CallEnded("ocean", nil)
	all[0].CallEnded("ocean", nil)
	all[1].CallEnded("ocean", app.Errorf(app.ETimeout, "ocean: create: timed out"))
	all[1].CallEnded("other", nil)
	for _, b := range all {
		b.calls.timer.Stop() // the test does not wait for it
		b.publishCalls()
	}
	c, err := all[0].AccountCalls(t.Context(), "ocean", rate)
	if err != nil || c.Day[""] != 2 || c.Day[app.ETimeout] != 1 || c.LastError != "ocean: create: timed out" || c.ErrorCode != app.ETimeout ||
		time.Since(c.ErrorAt) > time.Minute || time.Since(c.LastAt) > time.Minute || c.Remaining != 4 || c.Throttled != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	r.SetTime(time.Unix(1_800_000_000, 0))
	_ = all[0].Take(t.Context(), "ocean", rate) // a bucket that is new begins empty
	if c, err = all[1].AccountCalls(t.Context(), "ocean", rate); err != nil || c.Remaining >= 1 || c.Throttled <= 0 {
		t.Errorf("an empty bucket: %+v, %v", c, err)
	}
	r.SetTime(time.Unix(1_800_000_002, 0))
	if c, err = all[1].AccountCalls(t.Context(), "ocean", rate); err != nil || c.Remaining < 1 || c.Remaining > 3 {
		t.Errorf("after two seconds: %+v, %v", c, err)
	}
	r.Close()
	if _, err := all[0].AccountCalls(t.Context(), "ocean", rate); app.CodeOf(err) != app.ETransient {
		t.Errorf("without Redis: %v", err)
	}
	all[0].CallEnded("ocean", nil)
	all[0].calls.timer.Stop()
	all[0].publishCalls() // no receivers: nothing breaks
}
