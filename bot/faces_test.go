package bot

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/template"
	"muster/portal/address"
)

// fakeChat is a chat with threads, direct messages and homes, and what app keeps of those.
type fakeChat struct {
	*fakeCards
	mu        sync.Mutex
	steps     []app.Step
	replies   map[string][]Answer // by reply
	dmRecords []*chat.DM
	begun     map[int64]int
	dms       []string // person, key, title
	refuse    func(key string) error
	looked    int
	homes     []chat.Home
	shown     map[string][]Home // by person
}

func newFakeChat(cards int) *fakeChat {
	return &fakeChat{fakeCards: newFakeCards(cards), replies: map[string][]Answer{}, begun: map[int64]int{}, shown: map[string][]Home{}}
}

func (h *fakeChat) ChatShown(ctx context.Context, c chat.Card) error {
	if c.Status.Ended() && c.ThreadState == c.Shown {
		return h.DropCard(ctx, c.ID)
	}
	h.fakeCards.mu.Lock()
	defer h.fakeCards.mu.Unlock()
	for i := range h.cards {
		if o := &h.cards[i]; o.ID == c.ID {
			o.Channel, o.Message, o.Shown, o.ShownAt, o.Thread, o.ThreadState = c.Channel, c.Message, c.Shown, c.ShownAt, c.Thread, c.ThreadState
		}
	}
	return nil
}

func (h *fakeChat) ChatSteps(context.Context, chat.Card) ([]app.Step, error) { return h.steps, nil }

func (h *fakeChat) Reply(_ context.Context, _, message string, a Answer) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	send(a)
	h.replies["r of "+message] = append(h.replies["r of "+message], a)
	return "r of " + message, nil
}

func (h *fakeChat) EditReply(_ context.Context, _, reply string, a Answer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	send(a)
	h.replies[reply] = append(h.replies[reply], a)
	return nil
}

func (h *fakeChat) CollectChatNotices(context.Context, string) error { return nil }

func (h *fakeChat) ChatDMs(context.Context, string, string) (list []chat.DM, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.dmRecords {
		if t.State == chat.ChatDMWaiting || t.State == chat.ChatDMSending && h.begun[t.ID] == 0 {
			list = append(list, *t)
		}
	}
	return list, nil
}

func (h *fakeChat) BeginDM(_ context.Context, t chat.DM, _ time.Duration) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.dmRecords {
		if o.ID == t.ID && o.Tries == t.Tries {
			o.State, o.Tries, h.begun[t.ID] = chat.ChatDMSending, o.Tries+1, 1
			return true, nil
		}
	}
	return false, nil
}

func (h *fakeChat) EndDM(_ context.Context, id int64, s chat.DMState, _ time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.dmRecords {
		if t.ID == id {
			t.State = s
		}
	}
	return nil
}

// held is what happens when no one has ended what was begun: it is due again.
func (h *fakeChat) held() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.begun)
}

func (h *fakeChat) SendDM(_ context.Context, person, key string, a Answer) error {
	send(a)
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	if h.refuse != nil {
		err = h.refuse(key)
	}
	if err == nil || app.CodeOf(err) == app.ETransient { // which got there, and the answer was lost
		h.dms = append(h.dms, person+" "+key+" "+a.Title)
	}
	return err
}

func (h *fakeChat) FindDM(_ context.Context, person, key string, _ time.Time) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looked++
	return slices.ContainsFunc(h.dms, func(m string) bool { return strings.HasPrefix(m, person+" "+key+" ") }), nil
}

func (h *fakeChat) StaleHomes(context.Context, string, string) ([]chat.Home, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.homes), nil
}

func (h *fakeChat) DropHome(context.Context, chat.Home) error { return nil }

func (h *fakeChat) Publish(_ context.Context, person string, v Home) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	send(v)
	h.shown[person] = append(h.shown[person], v)
	return nil
}

func (h *fakeChat) updater(t *testing.T, b *Bot) *Updater {
	return NewUpdater(Updater{Kind: "slack", Cards: h, Details: h, DMs: h, Homes: h, Poster: h, Bot: b,
		Page: func(s app.Subject) string { return "https://m.test" + address.Of(s) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now})
}

func TestDetailsAreInTheCardsThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeChat(1)
		at := time.Now()
		h.steps = []app.Step{{ID: "n2.create", Node: "n2", Action: app.ActionCreate, State: app.StepSucceeded, StartedAt: at, EndedAt: at.Add(12 * time.Second)},
			{ID: "n1.create", Node: "n1", Action: app.ActionCreate, State: app.StepSucceeded}}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); h.updater(t, nil).Run(ctx) }()
		for range 300 { // five minutes, in which a step ends each second
			time.Sleep(time.Second)
			h.set(func(o *app.Operation) { o.Done++ })
		}
		h.mu.Lock()
		h.steps = append(h.steps, app.Step{ID: "n1.web.start", Node: "n1", Action: app.ActionStart, Service: "web", State: app.StepFailed, Error: "exit status 1"})
		h.mu.Unlock()
		h.set(func(o *app.Operation) { o.Status = app.OperationFailed })
		time.Sleep(time.Minute)
		stop()
		<-done
		if h.left() != 0 || len(h.texts) != 1 || len(h.replies) != 1 {
			t.Fatalf("%d cards are left; %d messages, %d threads", h.left(), len(h.texts), len(h.replies))
		}
		r := h.replies["r of m1"]
		if n := len(r); n < 5 || n > 300/20+3 {
			t.Errorf("the thread was written %d times in five minutes", n)
		}
		last := r[len(r)-1]
		if got := strings.Join(last.Lines, "\n"); got != "✗ start web on n1: exit status 1\n✓ n1: create\n✓ n2: create (12 s)" {
			t.Errorf("it says last\n%s", got)
		}
		if texts := h.texts["m1"]; !strings.Contains(texts[len(texts)-1], "has failed") {
			t.Errorf("the card says last %q", texts[len(texts)-1])
		}
	})
}

func TestDirectMessagesAreSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeChat(0)
		b, _ := talk(t)
		h.refuse = func(key string) error {
			switch key {
			case "2":
				if h.begun[2] == 1 && len(h.dms) < 2 {
					return &app.Error{Code: app.ETransient, Message: "no answer"}
				}
			case "3":
				return &app.Error{Code: app.ENotFound, Message: "no such person"}
			}
			return nil
		}
		for i := range int64(6) {
			h.dmRecords = append(h.dmRecords, &chat.DM{ID: i + 1, Kind: "slack", Team: "T1", Person: "U1", Tenant: "default", User: "ada", State: chat.ChatDMWaiting,
				Notice: app.Notice{ID: i + 1, At: time.Now(), Kind: app.NoticeApproval, Title: fmt.Sprint("notice ", i+1)}})
		}
		h.dmRecords[4].User = "eve" // who that person is not any more
		h.dmRecords[5].Notice.At = time.Now().Add(-72 * time.Hour)
		updater := h.updater(t, b.Bot)
		for range 10 {
			time.Sleep(updater.runOnce(t.Context()))
		}
		// This server dies before it knows whether the second got there; the next one looks.
		h.held()
		updater = h.updater(t, b.Bot)
		for range 10 {
			time.Sleep(updater.runOnce(t.Context()))
		}
		if got := strings.Join(h.dms, "; "); got != "U1 1 notice 1; U1 2 notice 2; U1 4 notice 4" || h.looked != 1 {
			t.Errorf("they were told %q; it was looked for %d times", got, h.looked)
		}
		for i, want := range []chat.DMState{chat.ChatDMSent, chat.ChatDMSent, chat.ChatDMDropped, chat.ChatDMSent, chat.ChatDMDropped, chat.ChatDMDropped} {
			if h.dmRecords[i].State != want {
				t.Errorf("notice %d is %s, not %s", i+1, h.dmRecords[i].State, want)
			}
		}
	})
}

func TestLeaseWarning(t *testing.T) {
	b, s := talk(t)
	s.outlook.Offer = template.LeaseOffer{By: 2 * time.Hour, Step: 6 * time.Hour, Latest: s.outlook.Until.Add(6 * time.Hour)}
	n := app.Notice{Kind: app.NoticeLease, Cluster: "shop-7", Title: "The lease of shop expires in 1 h.", Text: "All is lost then.", About: app.ClusterSubject("shop-7"), Act: app.ParseSubject("/x"), ActionName: "Extend"}
	a := b.notices.message(t.Context(), b.request(ada, s.actor), n)
	var names []string
	for _, x := range a.Buttons {
		names = append(names, strings.ReplaceAll(x.Name, "\u00a0", " "))
	}
	if got := strings.Join(names, "; "); got != "+2 h; +4 h; +1 d (not allowed)" || !a.Buttons[2].Quiet || a.Buttons[1].Quiet || len(a.Links) != 1 {
		t.Fatalf("the buttons are %q, %+v", got, a)
	}
	done := b.Press(t.Context(), ada, a.Buttons[1].Value)
	if len(s.leases) != 1 || s.leases[0].By != 4*time.Hour || done.Beside || !strings.Contains(done.text(), "Lease of shop extended") {
		t.Errorf("after +4 h: %+v, %+v", s.leases, done)
	}
	// A second press has seen an expiry that's out of date.
	s.outlook.Until = s.outlook.Until.Add(4 * time.Hour)
	if done = b.Press(t.Context(), ada, a.Buttons[1].Value); len(s.leases) != 1 || !strings.Contains(done.Title, "has already changed") {
		t.Errorf("again: %+v, %+v", s.leases, done)
	}
	s.refuse = &app.Error{Code: app.EForbidden, Message: "It is not yours."}
	if a = b.notices.message(t.Context(), b.request(ada, s.actor), n); len(a.Buttons) != 0 || a.Lines[0] != n.Text {
		t.Errorf("without a way to extend it: %+v", a)
	}
	decide := b.notices.message(t.Context(), b.request(ada, s.actor), app.Notice{Kind: app.NoticeApproval, Request: 12, Title: "x", Act: app.RequestSubject(12), ActionName: "Decide", About: app.RequestSubject(12)})
	if len(decide.Buttons) != 1 || decide.Buttons[0].Name != "Approve request" || !strings.Contains(decide.text(), "bob wants to create: big") {
		t.Errorf("to decide: %+v", decide)
	}
}

func TestHome(t *testing.T) {
	b, s := talk(t)
	end := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	op := func(kind app.OperationKind, status app.OperationStatus, ended time.Time) *app.Operation {
		return &app.Operation{ID: 1, Kind: kind, Status: status, EndedAt: ended}
	}
	s.clusters = []app.ClusterSummary{
		{Cluster: app.Cluster{ID: "shop-7", Name: "shop", Owner: "ada", Template: "web", Size: 3, Status: app.ClusterActive, CostPerHour: 0.3, Currency: "USD", ExpiresAt: end}, Operation: op(app.OperationCreate, app.OperationSucceeded, end.Add(-time.Hour))},
		{Cluster: app.Cluster{ID: "old-2", Name: "old", Owner: "ada", Template: "web", Status: app.ClusterDeleted}, Operation: op(app.OperationDelete, app.OperationSucceeded, end)},
		{Cluster: app.Cluster{ID: "db-9", Name: "db", Owner: "ada", Template: "db", Size: 1, Status: app.ClusterPending}, Operation: op(app.OperationResize, app.OperationRunning, time.Time{})},
		{Cluster: app.Cluster{ID: "his-1", Name: "his", Owner: "bob", Status: app.ClusterActive}},
	}
	s.inbox = []cluster.Request{{ID: 12, Kind: app.OperationCreate, Requester: "bob", Status: cluster.RequestWaiting, Spec: cluster.CreateRequest{Name: "big"}}}
	h := b.Home(t.Context(), ada)
	got := Modal{Parts: h.Parts}.text()
	for _, want := range []string{"Signed in as ada (tenant default)", "Waiting for your approval\nRequest 12\nbob wants to create: big", "shop – active, 3 nodes, from web, expires 22 Nov 2026 10:00 UTC, $0.30/h",
		"db – resizing, 1 node, from db, no expiry", "Recent activity\nold was deleted – 22 Nov 2026 10:00 UTC\nshop is active – 22 Nov 2026 09:00 UTC"} {
		if !strings.Contains(got, want) {
			t.Errorf("the home does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "his") {
		t.Error("it shows what is another's")
	}
	var buttons []Button
	for _, p := range h.Parts {
		buttons = append(buttons, p.Buttons...)
	}
	for i, want := range []string{"New cluster…", "View request", "Extend lease…", "Delete cluster", "Delete cluster"} {
		if buttons[i].Name != want {
			t.Fatalf("button %d is %q", i, buttons[i].Name)
		}
	}
	if a := b.Press(t.Context(), ada, buttons[0].Value); a.Modal == nil || a.Modal.ID != modalCreate || !a.Beside {
		t.Errorf("the start opens %+v", a)
	}
	if a := b.Press(t.Context(), ada, buttons[2].Value); len(a.Buttons) < 2 || !a.Beside {
		t.Errorf("extend shows %+v", a)
	}
	if buttons[3].Confirm == nil || !strings.Contains(buttons[3].Confirm.Text, "3 nodes will be lost") {
		t.Errorf("delete asks %+v", buttons[3].Confirm)
	}
	if len(s.homes) != 1 || s.homes[0].Team != "T1" || s.homes[0].Person != "U1" || s.homes[0].User != "ada" || s.homes[0].Shown != h.digest() {
		t.Errorf("it is kept as %+v", s.homes)
	}

	s.unknown = true
	h = b.Home(t.Context(), ada)
	if len(h.Parts) != 1 || len(h.Parts[0].Buttons) != 1 || s.homes[1].User != "" {
		t.Fatalf("a stranger's home is %+v", h)
	}
	if a := b.Press(t.Context(), ada, h.Parts[0].Buttons[0].Value); len(a.Links) != 1 || !strings.Contains(a.Links[0].URL, "/link?token=") {
		t.Errorf("a stranger is linked by %+v", a)
	}
	if a := b.Press(t.Context(), ada, buttons[3].Value); !a.Wrong || len(s.deleted) != 0 {
		t.Errorf("a stranger deletes: %+v", a)
	}
}

func TestHomesAreKeptFreshWithinTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeChat(0)
		b, s := talk(t)
		s.clusters = []app.ClusterSummary{{Cluster: app.Cluster{ID: "shop-7", Name: "shop", Owner: "ada", Status: app.ClusterActive}}}
		for i := range 30 {
			h.homes = append(h.homes, chat.Home{Kind: "slack", Team: "T1", Person: fmt.Sprint("U", i), Tenant: "default", User: "ada", StaleAt: time.Now(), ShownAt: time.Now()})
		}
		same := b.Home(t.Context(), ada).digest()
		h.homes[3].Shown = same
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); h.updater(t, b.Bot).Run(ctx) }()
		time.Sleep(homeEvery - time.Second)
		h.mu.Lock()
		early := len(h.shown)
		h.mu.Unlock()
		time.Sleep(time.Minute)
		stop()
		<-done
		n := 0
		for _, v := range h.shown {
			n += len(v)
		}
		if early != 0 || n < 30 || n > 42 || len(h.shown["U3"]) != 0 {
			t.Errorf("%d homes were shown too early, %d calls in a minute, %d for one that was the same", early, n, len(h.shown["U3"]))
		}
	})
}

func TestUnfurl(t *testing.T) {
	b, s := talk(t)
	list := b.Unfurl(t.Context(), ada, []string{"https://m.test/clusters/shop-7", "https://m.test/clusters/shop-7/update?x=1#log", "https://m.test/clusters/shop-secret-7", "https://m.test/clusters/nope", "https://evil.test/clusters/shop-7",
		"http://m.test/clusters/shop-7", "https://m.test.evil/clusters/shop-7", "https://u@m.test/clusters/shop-7", "https://m.test/clusters/", "https://m.test/requests/1", "https://m.test/clusters/new", "::", ""})
	if len(list) != 2 || list[0].URL != "https://m.test/clusters/shop-7" || list[0].Title != "shop is active" || strings.Join(list[0].Lines, "; ") != "3 nodes from web" {
		t.Errorf("it says %+v", list)
	}
	if text := fmt.Sprint(list); strings.Contains(text, "ada") || strings.Contains(text, "0.3") {
		t.Errorf("others are told too much: %s", text)
	}
	s.unknown = true
	if list := b.Unfurl(t.Context(), ada, []string{"https://m.test/clusters/shop-7"}); len(list) != 0 {
		t.Errorf("of a stranger's link it says %+v", list)
	}
	s.unknown, s.actor.Tenant = false, "acme"
	if list := b.Unfurl(t.Context(), ada, []string{"https://m.test/clusters/shop-7"}); len(list) != 0 {
		t.Errorf("of another tenant's it says %+v", list)
	}
}

func TestActionsAfterAFailure(t *testing.T) {
	b, s := talk(t)
	p := chat.Progress{Cluster: app.Cluster{ID: "shop-7", Name: "shop", Owner: "ada", Status: app.ClusterFailed},
		Operation: app.Operation{ID: 41, Kind: app.OperationCreate, Status: app.OperationFailed, Done: 3, Total: 9, StartedAt: time.Now()},
		Failed:    &app.Step{ID: "n1.web.install", Node: "n1", Action: app.ActionInstall, Service: "web", Error: "exit status 100"}, Lines: []string{"E: no such package"}}
	p.Ways = cluster.TroubleOf(cluster.View{Cluster: p.Cluster, Nodes: []app.Node{{Name: "n1"}}, Operations: []app.Operation{p.Operation}}, cluster.Definition{}, cluster.Unfinished{Failed: 1, Other: true}).Options
	c := NewCard(p, "u", time.Now())
	if len(c.Buttons) != 4 || c.Buttons[0].Name != "Resume operation" || c.Buttons[1].Name != "Roll back operation" || c.Buttons[2].Name != "Repair cluster" || c.Buttons[3].Name != "View log" || len(c.Log) != 1 {
		t.Fatalf("the card is %+v", c)
	}
	a := b.Press(t.Context(), ada, c.Buttons[0].Value)
	if len(s.resumed) != 1 || s.resumed[0] != 41 || !a.Beside || len(a.Started) != 1 {
		t.Errorf("retry: %v, %+v", s.resumed, a)
	}
	a = b.Press(t.Context(), ada, c.Buttons[1].Value)
	if len(s.undone) != 0 || !a.Beside || len(a.Buttons) != 1 || !strings.Contains(a.text(), "2 machines will be deleted with all data: n1 and n2.") {
		t.Fatalf("roll back: %v, %+v", s.undone, a)
	}
	if a = b.Press(t.Context(), ada, a.Buttons[0].Value); len(s.undone) != 1 || s.undone[0] != "undo" || a.Beside {
		t.Errorf("rolled back: %v, %+v", s.undone, a)
	}
	s.lines = []app.LogLine{{Step: "n1.web.install", Text: "one ``` <!channel>"}}
	a = b.Press(t.Context(), ada, c.Buttons[3].Value)
	if len(s.filters) != 1 || s.filters[0].Step != "n1.web.install" || s.filters[0].Operation != 41 || !s.filters[0].Tail || len(a.Log) != 1 || a.Log[0] != "one ``` <!channel>" ||
		a.Links[0].URL != "https://m.test/clusters/shop-7?step=n1.web.install#log" {
		t.Errorf("logs: %+v, %+v", s.filters, a)
	}
	p.Ways = nil
	if c = NewCard(p, "u", time.Now()); len(c.Buttons) != 1 || c.Buttons[0].Name != "View log" {
		t.Errorf("of what was followed by something else one can %+v", c.Buttons)
	}
	s.refuse = &app.Error{Code: app.EForbidden, Message: "It belongs to bob."}
	for _, x := range []Button{c.Buttons[0], action{Do: doResume, Cluster: "shop-7", Beside: true}.button("x", false), action{Do: doRollBack, Cluster: "shop-7", Beside: true}.button("x", false)} {
		if a := b.Press(t.Context(), ada, x.Value); !a.Beside || strings.Contains(x.Value, "logs") == a.Wrong {
			t.Errorf("%s is answered %+v", x.Value, a)
		}
	}
}

func TestTooLargeButtonsAreRefused(t *testing.T) {
	b, s := talk(t)
	var services []string
	for range 200 {
		services = append(services, "a-long-service")
	}
	if a := b.Say(t.Context(), ada, "add shop "+strings.Join(services[:120], " ")); !a.Wrong && len(a.Buttons[0].Value) > maxAction {
		t.Errorf("the button has %d bytes", len(a.Buttons[0].Value))
	}
	_, err := action{Do: doUpdate, Services: services}.asking("Add", false)
	if app.CodeOf(err) != app.ETooLarge || len(s.updated) != 0 {
		t.Errorf("it is answered %v", err)
	}
}
