package chat

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/store/storetest/kit"
)

// chatThreads: that a cluster is ready, fails or loses machines is reported beneath its cards where those who read them may see it, and else
// its owner directly.
func (t *storeTest) chatThreads() {
	open := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	open.Cluster.Visibility = app.VisibleTenant
	op, err := t.Store.CreateCluster(t.Ctx, open)
	t.Must(err)
	owner := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1)).Cluster.Owner
	t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: owner, Role: app.RoleUser, PasswordHash: "x", CreatedAt: t.Clock.Now()}))
	t.Clock.Move(time.Second)
	t.linked(owner, "T1/U1")
	long := t.Clock.Now().Add(-time.Hour)
	show := func(channel, message string) {
		t.Helper()
		t.Must(t.Store.SaveCard(t.Ctx, chat.Card{Kind: "slack", Team: "T1", Tenant: kit.Tenant, Cluster: op.Cluster, Operation: op.ID, Channel: channel,
			Person: "U1", At: t.Clock.Now()}, long))
		list, err := t.Store.Cards(t.Ctx, "slack", 10)
		t.Must(err)
		c := list[len(list)-1]
		c.Message, c.ShownAt = message, t.Clock.Now()
		t.Must(t.Store.ShownCard(t.Ctx, c))
		t.Must(t.Store.DropCard(t.Ctx, c.ID))
	}
	notified := func(want ...string) {
		t.Helper()
		t.Must(t.Store.CollectChatNotices(t.Ctx, "slack", chat.NoticeKinds, t.Clock.Now(), long))
		list, err := t.Store.ChatDMs(t.Ctx, "slack", "T1", t.Clock.Now(), 10)
		t.Must(err)
		var got []string
		for _, c := range list {
			got = append(got, strings.TrimSpace(c.Person+" "+c.Thread)+": "+c.Notice.Title)
			t.Must(t.Store.EndDM(t.Ctx, c.ID, chat.ChatDMSent, t.Clock.Now()))
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Fatalf("sent is %q, not %q", got, want)
		}
	}
	notified()
	show("C1", "1.1")
	show("C1", "1.2") // the newest card of a channel counts
	show("D1", "2.1")
	t.Drain()
	notified("C1 1.2: web is ready.", "D1 2.1: web is ready.")
	notified()
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, op.Cluster, "Lost machines: n1.", t.Clock.Now()))
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, op.Cluster, "Lost machines: n1.", t.Clock.Now())) // which is known
	notified("C1 1.2: web lost machines.", "D1 2.1: web lost machines.")

	// A cluster that only some may see is not mentioned in a channel.
	op = t.Create("hidden", 1)
	show("C1", "1.3")
	show("D1", "2.3")
	t.Drain()
	notified("D1 2.3: hidden is ready.")

	// A card that is not posted yet shows the end by itself.
	op = t.Create("late", 1)
	t.Must(t.Store.SaveCard(t.Ctx, chat.Card{Kind: "slack", Team: "T1", Tenant: kit.Tenant, Cluster: op.Cluster, Operation: op.ID, Channel: "C1",
		Person: "U1", At: t.Clock.Now()}, long))
	t.Drain()
	notified()

	// Other tenants' cards of the same name are none of it, and a cluster without a card is notified of directly.
	other := t.Create("db", 1)
	t.Must(t.Store.MarkLost(t.Ctx, "other", other.Cluster, "x", t.Clock.Now()))
	t.Drain()
	notified("U1: db is ready.")
}

// chatAsks: a request that is approved has its card where it was asked for, once, also where it was approved before that was noted.
func (t *storeTest) chatAsks() {
	cards := func() (list []string) {
		t.Helper()
		all, err := t.Store.Cards(t.Ctx, "slack", 10)
		t.Must(err)
		for _, c := range all {
			list = append(list, c.Channel+" "+c.Person+" "+c.Cluster)
		}
		return list
	}
	ask := func(r cluster.Request, of string) {
		t.Helper()
		t.Must(t.Store.SaveAsk(t.Ctx, chat.Ask{Kind: "slack", Team: "T1", Tenant: of, Request: r.ID, Channel: "C1", Person: "U1", At: t.Clock.Now()}))
	}
	approve := func(r cluster.Request) {
		t.Helper()
		for _, who := range []string{"bob", "cy"} {
			var err error
			r, err = t.Store.MoveRequest(t.Ctx, t.Approval(r, who))
			t.Must(err)
		}
	}
	first, second, third, foreign := t.SaveRequest(t.Waiting(kit.Tenant, "one")), t.SaveRequest(t.Waiting(kit.Tenant,
		"two")), t.SaveRequest(t.Waiting(kit.Tenant, "three")),
		t.SaveRequest(t.Waiting(kit.Tenant, "four"))
	ask(first, kit.Tenant)
	ask(first, kit.Tenant)
	ask(foreign, "other")
	if list := cards(); len(list) != 0 {
		t.Errorf("before it is approved there are the cards %q", list)
	}
	approve(first)
	approve(foreign)
	approve(second)
	ask(second, kit.Tenant) // too late, and still
	ask(third, kit.Tenant)
	_, err := t.Store.MoveRequest(t.Ctx, cluster.RequestMove{Tenant: kit.Tenant, ID: third.ID, Act: cluster.RequestDeny, Who: kit.Financier(kit.Tenant, "bob"),
		Now: t.Clock.Now(), Reason: "too dear"})
	t.Must(err)
	if got := strings.Join(cards(), "; "); !strings.HasPrefix(got, "C1 U1 one") || !strings.Contains(got, "; C1 U1 two") || len(cards()) != 2 {
		t.Errorf("the cards are %q", got)
	}
}
