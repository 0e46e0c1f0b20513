package cluster

import (
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) feed() {
	changed, stop := t.Store.Watch(app.ClusterTopic("web-1"))
	defer stop()
	ofTenant, stopTenant := t.Store.Watch(app.TenantTopic(kit.Tenant))
	defer stopTenant()
	ofAll, stopAll := t.Store.Watch(app.EverythingTopic())
	defer stopAll()
	elsewhere, stopElsewhere := t.Store.Watch(app.TenantTopic("another"))
	defer stopElsewhere()
	t.Create("web", 1)
	for of, woken := range map[string]<-chan struct{}{"the cluster": changed, "its tenant": ofTenant, "everything": ofAll} {
		select {
		case <-woken:
		case <-time.After(apptest.Hangs):
			t.Fatalf("who watches %s was not woken", of)
		}
	}
	select {
	case <-elsewhere:
		t.Error("who watches another tenant was woken")
	default:
	}
	t.Drain()
	all, err := t.Store.Events(t.Ctx, kit.Tenant, "web-1", 0, 1000)
	t.Must(err)
	for i := range all {
		rest, err := t.Store.Events(t.Ctx, kit.Tenant, "web-1", all[i].Seq, 1000)
		t.Must(err)
		if len(rest) != len(all)-i-1 {
			t.Fatalf("after %d come %d events, want %d", all[i].Seq, len(rest), len(all)-i-1)
		}
	}
	last := all[len(all)-1]
	if last.Kind != app.EventCluster || last.Status != string(app.ClusterActive) {
		t.Errorf("the last event is %+v, want the cluster's becoming active", last)
	}
}

func (t *storeTest) logs() {
	t.Create("web", 1)
	c := t.Claim("w")
	line := app.LogLine{At: t.Clock.Now(), Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt, Stream: family.StreamOut, Text: "hello"}
	old := line
	old.Attempt, old.Text = 7, "from another attempt"
	t.Must(t.Store.AppendLogs(t.Ctx, kit.Tenant, []app.LogLine{line, old, line}))
	for _, f := range []cluster.LogFilter{{Limit: 9}, {Limit: 2, Tail: true}, {Limit: 9, Node: "n1"}, {Limit: 9, Step: c.Step.ID, Operation: c.Step.Operation}} {
		got, err := t.Store.Logs(t.Ctx, kit.Tenant, "web-1", f)
		t.Must(err)
		if len(got) != 2 || got[0].Seq >= got[1].Seq || got[0].Text != "hello" || got[0].Step != "n1.create" {
			t.Errorf("%+v returns %+v", f, got)
		}
	}
	both, err := t.Store.Logs(t.Ctx, kit.Tenant, "web-1", cluster.LogFilter{Limit: 9, Stream: family.StreamOut})
	t.Must(err)
	for _, x := range []struct {
		f    cluster.LogFilter
		want int
	}{
		{cluster.LogFilter{Limit: 9, Before: both[1].Seq}, 1}, {cluster.LogFilter{Limit: 9, Before: both[0].Seq}, 0}, {cluster.LogFilter{Limit: 9, Before: both[1].Seq, Tail: true}, 1},
		{cluster.LogFilter{Limit: 9, Stream: family.StreamErr}, 0}, {cluster.LogFilter{Limit: 9, After: both[0].Seq, Before: both[1].Seq}, 0},
	} {
		if got, err := t.Store.Logs(t.Ctx, kit.Tenant, "web-1", x.f); err != nil || len(got) != x.want {
			t.Errorf("%+v returns %+v (%v), want %d lines", x.f, got, err, x.want)
		}
	}
	none, err := t.Store.Logs(t.Ctx, "t2", "web-1", cluster.LogFilter{Limit: 9})
	t.Must(err)
	if len(none) != 0 {
		t.Error("another tenant reads the log")
	}
}

func (t *storeTest) dispatches() {
	t.Create("web", 2)
	dispatches, err := t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	if len(dispatches) != 2 || dispatches[0].Attempt != 1 || dispatches[0].Tenant != kit.Tenant {
		t.Fatalf("queue messages %+v, want one for each node", dispatches)
	}
	t.Must(t.Store.MarkDispatched(t.Ctx, dispatches, t.Clock.Now()))
	again, err := t.Store.Undispatched(t.Ctx, 10)
	t.Must(err)
	if len(again) != 0 {
		t.Fatalf("%+v would be sent twice", again)
	}
	t.Clock.Move(time.Second)
	unclaimed, err := t.Store.UnclaimedByTenant(t.Ctx, t.Clock.Now())
	t.Must(err)
	if len(unclaimed) != 1 || unclaimed[kit.Tenant] != 2 {
		t.Errorf("unheard %v, want two queue messages of the tenant", unclaimed)
	}
	n, err := t.Store.Redispatch(t.Ctx, "another", t.Clock.Now())
	t.Must(err)
	if n != 0 {
		t.Errorf("%d queue messages of another tenant, want none", n)
	}
	n, err = t.Store.Redispatch(t.Ctx, "", t.Clock.Now())
	t.Must(err)
	if n != 2 {
		t.Errorf("%d queue messages are lost, want 2", n)
	}
	select {
	case <-t.Store.Committed():
	default:
		t.Error("no one was notified that there is something to send")
	}
}
