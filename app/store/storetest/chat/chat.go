package chat

import (
	"time"

	"muster/app/chat"
	"muster/app/store/storetest/kit"
)

// chats: what a chat says is done once, and cards follow their operations until they are dropped.
func (t *storeTest) chats() {
	once := func(before time.Time, keys ...string) bool {
		t.Helper()
		first, err := t.Store.ChatOnce(t.Ctx, keys, t.Clock.Now(), before)
		t.Must(err)
		return first
	}
	long := t.Clock.Now().Add(-time.Hour)
	if !once(long, "a", "b") || once(long, "b", "c") || once(long, "c") || !once(long, "d") {
		t.Error("what was seen before is new, or what is new was seen before")
	}
	t.Clock.Move(2 * time.Hour)
	if !once(t.Clock.Now().Add(-time.Hour), "a") {
		t.Error("what is forgotten is known")
	}

	op := t.Create("web", 1)
	c := chat.Card{Kind: "slack", Tenant: kit.Tenant, Cluster: op.Cluster, Operation: op.ID, Channel: "C1", Person: "U1", At: t.Clock.Now()}
	t.Must(t.Store.SaveCard(t.Ctx, c, long))
	t.Must(t.Store.SaveCard(t.Ctx, c, long)) // the same again
	list, err := t.Store.Cards(t.Ctx, "slack", 10)
	t.Must(err)
	if len(list) != 1 || list[0].Channel != "C1" || list[0].Message != "" || list[0].Status != op.Status || list[0].Total != op.Total {
		t.Fatalf("cards: %+v, of %+v", list, op)
	}
	if other, err := t.Store.Cards(t.Ctx, "other", 10); err != nil || len(other) != 0 {
		t.Errorf("another chat has %+v, %v", other, err)
	}
	c = list[0]
	c.Channel, c.Message, c.Shown, c.ShownAt, c.Thread, c.ThreadState = "D1", "1.5", c.State(), t.Clock.Now(), "1.6", "some"
	t.Must(t.Store.ShownCard(t.Ctx, c))
	t.Must(t.Store.SaveCard(t.Ctx, chat.Card{Kind: "slack", Tenant: kit.Tenant, Cluster: op.Cluster, Operation: op.ID, Channel: "C1", Person: "U1",
		At: t.Clock.Now()}, long))
	list, err = t.Store.Cards(t.Ctx, "slack", 10)
	t.Must(err)
	if len(list) != 2 || list[0].Channel != "D1" || list[0].Message != "1.5" || list[0].Shown != c.Shown || list[0].Thread != "1.6" || list[0].ThreadState != "some" || !list[0].ShownAt.Equal(c.ShownAt.Truncate(time.Microsecond)) {
		t.Fatalf("cards: %+v, wanted %+v", list, c)
	}
	t.Must(t.Store.DropCard(t.Ctx, c.ID))
	t.Must(t.Store.DropCard(t.Ctx, c.ID))
	t.Must(t.Store.SaveCard(t.Ctx, chat.Card{Kind: "slack", Tenant: kit.Tenant, Cluster: op.Cluster, Operation: op.ID, Channel: "C2",
		At: t.Clock.Now()}, t.Clock.Now().Add(time.Second)))
	list, err = t.Store.Cards(t.Ctx, "slack", 10)
	t.Must(err)
	if len(list) != 1 || list[0].Channel != "C2" {
		t.Errorf("after the old ones went: %+v", list)
	}
}
