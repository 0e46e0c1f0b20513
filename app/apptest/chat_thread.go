package apptest

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
)

// chatThreads: that a cluster is ready, fails or loses machines is told beneath its cards where those who read them may see it, and else
// its owner directly.
func (t *storeTest) chatThreads() {
	open := NewCluster(tenant, "web", 1, t.clock.Now(), Chain(1))
	open.Cluster.Visibility = app.VisibleTenant
	op, err := t.s.CreateCluster(t.ctx, open)
	t.must(err)
	owner := NewCluster(tenant, "web", 1, t.clock.Now(), Chain(1)).Cluster.Owner
	t.must(t.s.CreateUser(t.ctx, app.User{Tenant: tenant, Name: owner, Role: app.RoleUser, PasswordHash: "x", CreatedAt: t.clock.Now()}))
	t.clock.Move(time.Second)
	t.linked(owner, "T1/U1")
	long := t.clock.Now().Add(-time.Hour)
	show := func(channel, message string) {
		t.Helper()
		t.must(t.s.SaveCard(t.ctx, chat.ChatCard{Kind: "slack", Team: "T1", Tenant: tenant, Cluster: op.Cluster, Operation: op.ID, Channel: channel, Person: "U1", At: t.clock.Now()}, long))
		list, err := t.s.Cards(t.ctx, "slack", 10)
		t.must(err)
		c := list[len(list)-1]
		c.Message, c.ShownAt = message, t.clock.Now()
		t.must(t.s.ShownCard(t.ctx, c))
		t.must(t.s.DropCard(t.ctx, c.ID))
	}
	told := func(want ...string) {
		t.Helper()
		t.must(t.s.GatherChat(t.ctx, "slack", chat.ChatNoticeKinds, t.clock.Now(), long))
		list, err := t.s.ChatTells(t.ctx, "slack", "T1", t.clock.Now(), 10)
		t.must(err)
		var got []string
		for _, c := range list {
			got = append(got, strings.TrimSpace(c.Person+" "+c.Thread)+": "+c.Notice.Title)
			t.must(t.s.EndTell(t.ctx, c.ID, chat.ChatTellTold, t.clock.Now()))
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Fatalf("told is %q, not %q", got, want)
		}
	}
	told()
	show("C1", "1.1")
	show("C1", "1.2") // the newest card of a channel counts
	show("D1", "2.1")
	t.drain()
	told("C1 1.2: web is ready.", "D1 2.1: web is ready.")
	told()
	t.must(t.s.MarkLost(t.ctx, tenant, op.Cluster, "Lost machines: n1.", t.clock.Now()))
	t.must(t.s.MarkLost(t.ctx, tenant, op.Cluster, "Lost machines: n1.", t.clock.Now())) // which is known
	told("C1 1.2: web lost machines.", "D1 2.1: web lost machines.")

	// A cluster that only some may see is not told of in a channel.
	op = t.create("hidden", 1)
	show("C1", "1.3")
	show("D1", "2.3")
	t.drain()
	told("D1 2.3: hidden is ready.")

	// A card that is not posted yet shows the end by itself.
	op = t.create("late", 1)
	t.must(t.s.SaveCard(t.ctx, chat.ChatCard{Kind: "slack", Team: "T1", Tenant: tenant, Cluster: op.Cluster, Operation: op.ID, Channel: "C1", Person: "U1", At: t.clock.Now()}, long))
	t.drain()
	told()

	// Other tenants' cards of the same name are none of it, and a cluster without a card is told of directly.
	other := t.create("db", 1)
	t.must(t.s.MarkLost(t.ctx, "other", other.Cluster, "x", t.clock.Now()))
	t.drain()
	told("U1: db is ready.")
}

// chatAsks: a request that is approved has its card where it was asked for, once, also where it was approved before that was noted.
func (t *storeTest) chatAsks() {
	cards := func() (list []string) {
		t.Helper()
		all, err := t.s.Cards(t.ctx, "slack", 10)
		t.must(err)
		for _, c := range all {
			list = append(list, c.Channel+" "+c.Person+" "+c.Cluster)
		}
		return list
	}
	ask := func(r app.Request, of string) {
		t.Helper()
		t.must(t.s.SaveAsk(t.ctx, chat.ChatAsk{Kind: "slack", Team: "T1", Tenant: of, Request: r.ID, Channel: "C1", Person: "U1", At: t.clock.Now()}))
	}
	approve := func(r app.Request) {
		t.Helper()
		for _, who := range []string{"bob", "cy"} {
			var err error
			r, err = t.s.MoveRequest(t.ctx, t.approval(r, who))
			t.must(err)
		}
	}
	first, second, third, foreign := t.keepRequest(t.waiting(tenant, "one")), t.keepRequest(t.waiting(tenant, "two")), t.keepRequest(t.waiting(tenant, "three")),
		t.keepRequest(t.waiting(tenant, "four"))
	ask(first, tenant)
	ask(first, tenant)
	ask(foreign, "other")
	if list := cards(); len(list) != 0 {
		t.Errorf("before it is approved there are the cards %q", list)
	}
	approve(first)
	approve(foreign)
	approve(second)
	ask(second, tenant) // too late, and still
	ask(third, tenant)
	_, err := t.s.MoveRequest(t.ctx, app.RequestMove{Tenant: tenant, ID: third.ID, Act: app.RequestDeny, Who: financier(tenant, "bob"), Now: t.clock.Now(), Reason: "too dear"})
	t.must(err)
	if got := strings.Join(cards(), "; "); !strings.HasPrefix(got, "C1 U1 one") || !strings.Contains(got, "; C1 U1 two") || len(cards()) != 2 {
		t.Errorf("the cards are %q", got)
	}
}
