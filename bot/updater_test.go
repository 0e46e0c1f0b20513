package bot

import (
	"context"
	"errors"
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
	"muster/portal/address"
)

// fakeCards keeps cards in memory, and is the chat that shows them.
type fakeCards struct {
	visibility app.Visibility
	mu         sync.Mutex
	cards      []chat.Card
	ops        map[int64]*app.Operation
	calls      []time.Time
	texts      map[string][]string // by message
	edits      map[string][]time.Time
	refuse     func(n int) error
}

func newFakeCards(n int) *fakeCards {
	w := &fakeCards{visibility: app.VisibleTenant, ops: map[int64]*app.Operation{}, texts: map[string][]string{}, edits: map[string][]time.Time{}}
	for i := range int64(n) {
		w.ops[i+1] = &app.Operation{ID: i + 1, Kind: app.OperationCreate, Status: app.OperationRunning, Total: 1000}
		w.cards = append(w.cards, chat.Card{ID: i + 1, Kind: "slack", Cluster: fmt.Sprint("c", i+1), Operation: i + 1, Channel: "C1", Person: "U1"})
	}
	return w
}

func (w *fakeCards) ChatCards(context.Context, string) ([]chat.Card, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.cards)
	for i := range list {
		o := w.ops[list[i].Operation]
		list[i].Status, list[i].Done, list[i].Total = o.Status, o.Done, o.Total
	}
	return list, nil
}

func (w *fakeCards) ChatProgress(_ context.Context, c chat.Card) (chat.Progress, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := chat.Progress{Cluster: app.Cluster{ID: c.Cluster, Name: c.Cluster, Visibility: w.visibility, Status: app.ClusterPending}, Operation: *w.ops[c.Operation]}
	if p.Operation.Status == app.OperationSucceeded {
		p.Cluster.Status = app.ClusterActive
	}
	return p, nil
}

func (w *fakeCards) ChatShown(ctx context.Context, c chat.Card) error {
	if c.Status.Ended() {
		return w.DropCard(ctx, c.ID)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.cards {
		if w.cards[i].ID == c.ID {
			w.cards[i].Channel, w.cards[i].Message, w.cards[i].Shown, w.cards[i].ShownAt = c.Channel, c.Message, c.Shown, c.ShownAt
		}
	}
	return nil
}

func (w *fakeCards) DropCard(_ context.Context, id int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cards = slices.DeleteFunc(w.cards, func(c chat.Card) bool { return c.ID == id })
	return nil
}

func (w *fakeCards) Post(_ context.Context, channel, _ string, c Card) (string, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	message := fmt.Sprint("m", len(w.texts)+1)
	if channel == "U1" {
		channel = "D1"
	}
	return channel, message, w.take(message, c)
}

func (w *fakeCards) Edit(_ context.Context, _, message string, c Card) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(message, c)
}

func (w *fakeCards) take(message string, c Card) error {
	send(c)
	w.calls = append(w.calls, time.Now())
	if w.refuse != nil {
		if err := w.refuse(len(w.calls)); err != nil {
			return err
		}
	}
	w.texts[message] = append(w.texts[message], c.Title+" "+c.Bar)
	w.edits[message] = append(w.edits[message], time.Now())
	return nil
}

func (w *fakeCards) updater(t *testing.T) *Updater {
	return NewUpdater(Updater{Kind: "slack", Cards: w, Poster: w, Page: func(s app.Subject) string { return "https://m.test" + address.Of(s) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now})
}

func (w *fakeCards) set(f func(o *app.Operation)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.ops {
		f(o)
	}
}

func (w *fakeCards) left() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.cards)
}

func TestUpdaterKeepsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 200
		w := newFakeCards(many)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.updater(t).Run(ctx) }()
		for range 400 { // every card changes all the time
			time.Sleep(time.Second)
			w.set(func(o *app.Operation) { o.Done++ })
		}
		w.set(func(o *app.Operation) { o.Status, o.Done = app.OperationSucceeded, o.Total })
		time.Sleep(many*callEvery + 10*time.Second)
		stop()
		<-done
		if w.left() != 0 {
			t.Errorf("%d cards do not show their end", w.left())
		}
		for i := range w.calls {
			if i >= 40 && w.calls[i].Sub(w.calls[i-40]) < time.Minute {
				t.Fatalf("calls %d to %d came within %s", i-40, i, w.calls[i].Sub(w.calls[i-40]))
			}
		}
		if len(w.texts) != many {
			t.Errorf("%d messages for %d cards", len(w.texts), many)
		}
		for m, texts := range w.texts {
			if last := texts[len(texts)-1]; !strings.Contains(last, "is active") {
				t.Errorf("%s says %q last", m, last)
			}
			for i := 1; i < len(w.edits[m]); i++ {
				if w.edits[m][i].Sub(w.edits[m][i-1]) < cardEvery {
					t.Errorf("%s was edited twice within %s", m, cardEvery)
				}
			}
		}
	})
}

func TestUpdaterShowsResultsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeCards(3)
		b := w.updater(t)
		for range 3 {
			time.Sleep(b.runOnce(t.Context()))
		}
		w.set(func(o *app.Operation) { o.Done = 5 })
		w.set(func(o *app.Operation) { o.Done = 9 })
		w.ops[3].Status = app.OperationFailed
		time.Sleep(cardEvery)
		b.runOnce(t.Context())
		if got := w.texts["m3"]; len(got) != 2 || !strings.HasPrefix(got[1], "c3: creation has failed") {
			t.Fatalf("the end of c3 was not shown first: %v", w.texts)
		}
		// Another server continues.
		b = w.updater(t)
		for range 4 {
			time.Sleep(b.runOnce(t.Context()))
		}
		if got := w.texts["m1"]; len(got) != 2 || !strings.Contains(got[1], " 9 of 1,000") || len(w.texts) != 3 {
			t.Errorf("after that: %v", w.texts)
		}
	})
}

func TestUpdaterWithAFailingChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeCards(1)
		b := w.updater(t)
		w.refuse = func(n int) error {
			switch n {
			case 1:
				return &app.Error{Code: app.ERateLimit, RetryAfter: 20 * time.Second, Message: "slower"}
			case 2:
				return errors.New("no route")
			}
			return nil
		}
		began := time.Now()
		for w.ops[1].Done = 1; len(w.texts) == 0; {
			time.Sleep(b.runOnce(t.Context()))
		}
		if d := w.calls[1].Sub(began); d < 20*time.Second {
			t.Errorf("asked again after %s of 20s", d)
		}
		if d := w.calls[2].Sub(w.calls[1]); d < cardEvery {
			t.Errorf("tried again after %s", d)
		}
		w.refuse = func(int) error { return &app.Error{Code: app.ENotFound, Message: "gone"} }
		w.ops[1].Done = 2
		time.Sleep(cardEvery)
		b.runOnce(t.Context())
		if w.left() != 0 {
			t.Error("a deleted message is edited again and again")
		}
	})
}

// What not everyone in the channel may see is shown to the person who asked; a card that was seen in a channel is given up once its cluster is private.
func TestCardsOfPrivateClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeCards(1)
		w.visibility = app.VisiblePrivate
		b := w.updater(t)
		for done := range 3 {
			w.ops[1].Done = done
			time.Sleep(cardEvery)
			b.runOnce(t.Context())
		}
		if w.cards[0].Channel != "D1" || len(w.texts["m1"]) != 3 {
			t.Errorf("the card is %+v, and shows %v", w.cards[0], w.texts)
		}

		w = newFakeCards(1)
		b = w.updater(t)
		b.runOnce(t.Context())
		if w.cards[0].Channel != "C1" {
			t.Errorf("the card is %+v", w.cards[0])
		}
		w.visibility = app.VisiblePrivate
		w.ops[1].Done = 1
		time.Sleep(cardEvery)
		b.runOnce(t.Context())
		if w.left() != 0 || len(w.texts["m1"]) != 1 {
			t.Errorf("%d cards are left, and show %v", w.left(), w.texts)
		}
	})
}
