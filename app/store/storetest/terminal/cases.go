package terminal

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/store/storetest/kit"
	"muster/app/terminal"
	"muster/app/tunnel"
)

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"terminals are listed, and end once", (*storeTest).terminals},
	{"a recording is read as it was written", (*storeTest).recording},
	{"terminals that servers lost end, and old ones are removed", (*storeTest).tidy},
	{"settings of terminals are a tenant's", (*storeTest).settings},
	{"a ticket to a port is used once", (*storeTest).tickets},
	{"one provisioner takes a connection", (*storeTest).tunnels},
})

func (t *storeTest) add(id, user, cluster string) terminal.Terminal {
	t.Helper()
	x := terminal.Terminal{ID: id, Tenant: kit.Tenant, Cluster: cluster, Node: "n1", User: user, Recorded: true, OpenedAt: t.Clock.Now(),
		Size: family.TerminalSize{Columns: 80, Rows: 24}}
	t.Must(t.Store.AddTerminal(t.Ctx, app.Actor{Tenant: kit.Tenant, User: user, Role: app.RoleUser}, x))
	t.Clock.Move(time.Second)
	return x
}

func (t *storeTest) ids(f terminal.Filter) (ids string) {
	t.Helper()
	list, err := t.Store.Terminals(t.Ctx, kit.Tenant, f)
	t.Must(err)
	for _, x := range list {
		ids += x.ID + " "
	}
	return ids
}

func (t *storeTest) want(what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (t *storeTest) terminals() {
	a := t.add("a", "ada", "c-1")
	t.add("b", "bob", "c-1")
	t.add("c", "ada", "c-2")
	got, err := t.Store.Terminal(t.Ctx, kit.Tenant, "a")
	t.Must(err)
	if got.OpenedAt = got.OpenedAt.UTC(); !got.OpenedAt.Equal(a.OpenedAt) || got.Size != a.Size || !got.Recorded || !got.Open() || got.User != "ada" {
		t.Errorf("%+v", got)
	}
	t.want("all", t.ids(terminal.Filter{}), "c b a ")
	t.want("ada's", t.ids(terminal.Filter{User: "ada"}), "c a ")
	t.want("of a cluster", t.ids(terminal.Filter{Cluster: "c-1", Limit: 1}), "b ")
	t.Must(t.Store.EndTerminal(t.Ctx, kit.Boss, "a", "boss", t.Clock.Now()))
	t.Must(t.Store.EndTerminal(t.Ctx, kit.Ada, "a", "", t.Clock.Now()))
	got, err = t.Store.Terminal(t.Ctx, kit.Tenant, "a")
	t.Must(err)
	t.want("who ended it first", got.EndedBy, "boss")
	t.want("open", t.ids(terminal.Filter{Open: true}), "c b ")
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenant: kit.Tenant, Act: "terminal.end", Limit: 10})
	t.Must(err)
	t.want("entries of ends", len(entries), 1)
	// Another tenant.
	if _, err := t.Store.Terminal(t.Ctx, "t2", "b"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant's: %v", err)
	}
	t.Must(t.Store.EndTerminal(t.Ctx, app.Actor{Tenant: "t2", User: "eve"}, "b", "eve", t.Clock.Now()))
	t.want("after another tenant ended it", t.ids(terminal.Filter{Open: true}), "c b ")
}

func (t *storeTest) recording() {
	t.add("a", "ada", "c-1")
	var want []byte
	for i := range 12 {
		p := bytes.Repeat([]byte{byte(i), 0xff, 0}, 1000*i+1)
		t.Must(t.Store.AddChunk(t.Ctx, terminal.Chunk{Terminal: "a", Events: p, Seconds: int64(i)}))
		want = append(want, p...)
	}
	var got []byte
	t.Must(t.Store.Chunks(t.Ctx, "a", func(p []byte) error { got = append(got, p...); return nil }))
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	x, err := t.Store.Terminal(t.Ctx, kit.Tenant, "a")
	t.Must(err)
	t.want("its length", fmt.Sprint(x.Seconds, x.Bytes), fmt.Sprint(11, len(want)))
	t.Code(t.Store.AddChunk(t.Ctx, terminal.Chunk{Terminal: "gone", Events: []byte("x")}), app.ENotFound)
	t.Must(t.Store.Chunks(t.Ctx, "gone", func([]byte) error { t.Error("a part of a recording without a terminal is kept"); return nil }))
}

func (t *storeTest) tidy() {
	t.add("lost", "ada", "c-1")
	t.add("old", "ada", "c-1")
	for range 250 { // more than one transaction removes
		t.Must(t.Store.AddChunk(t.Ctx, terminal.Chunk{Terminal: "old", Events: []byte("x")}))
	}
	t.Must(t.Store.SetTerminalSettings(t.Ctx, kit.Boss, terminal.Settings{KeepDays: 1, ChangedAt: t.Clock.Now()}))
	t.Must(t.Store.EndTerminal(t.Ctx, kit.Ada, "old", "", t.Clock.Now()))
	t.Clock.Move(25 * time.Hour)
	t.add("seen", "ada", "c-1")
	opened := t.Clock.Now()
	t.Clock.Move(time.Hour)
	t.Must(t.Store.SeeTerminal(t.Ctx, "seen", t.Clock.Now()))
	t.Must(t.Store.TidyTerminals(t.Ctx, opened, t.Clock.Now()))
	t.want("left", t.ids(terminal.Filter{}), "seen lost ")
	t.want("open", t.ids(terminal.Filter{Open: true}), "seen ")
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenant: kit.Tenant, Act: "terminal.end", Limit: 10})
	t.Must(err)
	if len(entries) != 2 || entries[0].Detail != "n1, terminal lost" || entries[0].Via != app.ViaServer {
		t.Errorf("%+v", entries)
	}
	t.Must(t.Store.Chunks(t.Ctx, "old", func([]byte) error { t.Error("a part of a recording is left"); return nil }))
	t.Clock.Move(25 * time.Hour)
	t.Must(t.Store.TidyTerminals(t.Ctx, opened, t.Clock.Now()))
	t.want("a day later", t.ids(terminal.Filter{}), "seen ")
}

func (t *storeTest) settings() {
	set, err := t.Store.TerminalSettings(t.Ctx, kit.Tenant)
	t.Must(err)
	t.want("by default", set.KeepDays, terminal.DefaultKeepDays)
	for _, days := range []int{5, 7} {
		t.Must(t.Store.SetTerminalSettings(t.Ctx, kit.Boss, terminal.Settings{Record: true, StepUp: true, KeepDays: days, ChangedBy: "boss",
			ChangedAt: t.Clock.Now()}))
	}
	set, err = t.Store.TerminalSettings(t.Ctx, kit.Tenant)
	t.Must(err)
	t.want("set", fmt.Sprintf("%t %t %d %s", set.Record, set.StepUp, set.KeepDays, set.ChangedBy), "true true 7 boss")
	set, err = t.Store.TerminalSettings(t.Ctx, "t2")
	t.Must(err)
	t.want("another tenant's", set.Record, false)
}

func (t *storeTest) tunnels() {
	r := tunnel.Request{ID: "r", Tenant: kit.Tenant, Address: "10.0.0.1:22", Needs: map[string]string{"zone": "a"}, Guarded: true, At: t.Clock.Now()}
	changed, stop := t.Store.Watch(app.TunnelsTopic())
	defer stop()
	t.Must(t.Store.AddTunnel(t.Ctx, r, t.Clock.Now()))
	<-changed
	list, err := t.Store.Tunnels(t.Ctx, t.Clock.Now())
	t.Must(err)
	if len(list) != 1 || list[0].Address != r.Address || list[0].Needs["zone"] != "a" || !list[0].Guarded || !list[0].At.Equal(r.At) {
		t.Errorf("%+v", list)
	}
	var all sync.WaitGroup
	taken := make(chan string, 8)
	for i := range cap(taken) {
		all.Go(func() {
			who := fmt.Sprint("p", i)
			mine, err := t.Servers[i%len(t.Servers)].TakeTunnel(t.Ctx, "r", who)
			if err != nil {
				t.Error(err)
			}
			if mine {
				taken <- who
			}
		})
	}
	all.Wait()
	t.want("those who took it", len(taken), 1)
	who, err := t.Store.TunnelTaker(t.Ctx, "r")
	t.Must(err)
	t.want("who took it", who, <-taken)
	if list, err = t.Store.Tunnels(t.Ctx, t.Clock.Now()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	t.Must(t.Store.DeleteTunnel(t.Ctx, "r"))
	if _, err := t.Store.TunnelTaker(t.Ctx, "r"); app.CodeOf(err) != app.ENotFound {
		t.Error(err)
	}
}

func (t *storeTest) tickets() {
	now := t.Clock.Now()
	use := func(nonce string, at time.Time) bool {
		t.Helper()
		first, err := t.Store.UsePortTicket(t.Ctx, nonce, now.Add(time.Minute), at)
		t.Must(err)
		return first
	}
	var work sync.WaitGroup
	firsts := make([]bool, 8)
	for i := range firsts {
		work.Go(func() { firsts[i] = use("a", now) })
	}
	work.Wait()
	won := 0
	for _, f := range firsts {
		if f {
			won++
		}
	}
	t.want("a ticket was first used", won, 1)
	t.want("another one", use("b", now), true)
	t.want("still used", use("a", now.Add(59*time.Second)), false)
	t.want("forgotten with its time, when it isn't valid anyway", use("a", now.Add(time.Minute)), true)
}
