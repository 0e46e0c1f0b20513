package cluster

import (
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/store/storetest/kit"
)

// retention: what is too old is deleted, whatever else is between, and nothing younger is.
func (t *storeTest) retention() {
	lines := func(c *execution.ClaimedStep, n int) {
		t.Helper()
		var out []app.LogLine
		for i := range n {
			out = append(out, app.LogLine{At: t.Clock.Now(), Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt, Stream: family.StreamOut,
				Text: fmt.Sprint(i)})
		}
		t.Must(t.Store.AppendLogs(t.Ctx, kit.Tenant, out))
	}
	counts := func(cluster string, events bool, wantLogs int, when string) {
		t.Helper()
		e, err := t.Store.Events(t.Ctx, kit.Tenant, cluster, 0, 5000)
		t.Must(err)
		l, err := t.Store.Logs(t.Ctx, kit.Tenant, cluster, appcluster.LogFilter{Limit: 5000})
		t.Must(err)
		if len(e) > 0 != events || len(l) != wantLogs {
			t.Errorf("%s, %s has %d events (want some: %v) and %d lines, want %d", when, cluster, len(e), events, len(l), wantLogs)
		}
	}
	drop := func(what func(time.Time, int64) (int64, int, error), before time.Time) (all int) {
		t.Helper()
		for next, more := int64(0), true; more; {
			var n int
			var err error
			next, n, err = what(before, next)
			t.Must(err)
			all, more = all+n, next > 0
		}
		return all
	}
	logs := func(before time.Time, from int64) (int64, int, error) { return t.Store.DropLogs(t.Ctx, before, from) }
	events := func(before time.Time, from int64) (int64, int, error) { return t.Store.DropEvents(t.Ctx, before, from) }

	// An old operation that is in progress yet, one that ended, and, a month later, one more of each.
	t.Create("long", 1)
	long := t.Claim("w")
	lines(long, 1500)
	t.Create("old", 1)
	c := t.Claim("w")
	lines(c, 1200)
	t.Finish(c, false)
	t.Drain()
	ended := t.Clock.Now()
	t.Clock.Move(30 * 24 * time.Hour)
	t.Create("new", 1)
	young := t.Claim("w")
	lines(young, 3)

	if n := drop(logs, ended); n != 0 {
		t.Errorf("%d lines are deleted that are not older than that", n)
	}
	if n := drop(logs, ended.Add(time.Hour)); n != 1200 {
		t.Errorf("%d lines are deleted, want the 1200 of the operation that ended", n)
	}
	counts("long-1", true, 1500, "after its logs were looked through")
	counts("old-1", true, 0, "after its logs were deleted")
	counts("new-1", true, 3, "after the logs of others were deleted")
	if n := drop(events, ended.Add(time.Hour)); n == 0 {
		t.Error("no event is deleted")
	}
	counts("old-1", false, 0, "after its events were deleted")
	counts("new-1", true, 3, "after the events of others were deleted")
	if n := drop(events, ended.Add(time.Hour)) + drop(logs, ended.Add(time.Hour)); n != 0 {
		t.Errorf("%d are deleted a second time", n)
	}
	// What happens from then on has numbers of its own.
	t.Finish(young, false)
	counts("new-1", true, 3, "after it continued")
	if ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "old-1"); err != nil || len(ops) != 1 {
		t.Errorf("operations of the old cluster: %d (%v)", len(ops), err)
	}
}
