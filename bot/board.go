package bot

import (
	"context"
	"log/slog"
	"time"

	"muster/app"
)

// How often a chat is spoken to about cards.
const (
	cardEvery = 3 * time.Second  // one card is edited at most that often
	callEvery = time.Minute / 40 // all cards of a workspace together
	lookBusy  = time.Second      // between two looks while there are cards
	lookIdle  = 5 * time.Second  // while there are none; other servers may make some
	callTime  = 10 * time.Second // of one call to the chat, and of the note of it
	mostPause = 5 * time.Minute  // of a card that the chat does not take
)

// Cards are what app keeps of them.
type Cards interface {
	ChatCards(ctx context.Context, kind string) ([]app.ChatCard, error)
	ChatProgress(ctx context.Context, c app.ChatCard) (app.ChatProgress, error)
	ChatShown(ctx context.Context, c app.ChatCard) error
	DropCard(ctx context.Context, id int64) error
}

var _ Cards = (*app.App)(nil)

// Poster shows cards in a chat. ENotFound says that a card cannot be shown there, now or later; ERateLimit, with RetryAfter,
// that nothing can be shown for a while.
type Poster interface {
	// Post shows a card in a channel or, where that is closed to the bot, to the person; it gives where and by which name.
	Post(ctx context.Context, channel, person string, c Card) (where, message string, err error)
	Edit(ctx context.Context, channel, message string, c Card) error
}

// Board keeps the cards of one workspace true: those that changed are edited, in the newest state, ends first, and no more
// often than the chat takes. Everything that it must know stands in SQL, so another server goes on where this one was.
type Board struct {
	Kind   string
	Cards  Cards
	Poster Poster
	URL    func(path string) string
	Log    *slog.Logger
	Now    func() time.Time

	wake   chan struct{}
	shown  map[int64]app.ChatCard // what the chat has been given, also where it could not be noted
	pauses map[int64]pause
	next   time.Time // no call before
}

type pause struct {
	until time.Time
	long  time.Duration
}

// NewBoard makes a board ready to run.
func NewBoard(b Board) *Board {
	b.wake, b.shown, b.pauses = make(chan struct{}, 1), map[int64]app.ChatCard{}, map[int64]pause{}
	return &b
}

// Wake tells that there is a new card.
func (b *Board) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run tends the cards until ctx ends. One server of a database does so at a time.
func (b *Board) Run(ctx context.Context) {
	clear(b.shown) // another server may have shown more since
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		case <-timer.C:
		}
		timer.Reset(b.tend(ctx))
	}
}

// tend makes one call at most, and says when to look again.
func (b *Board) tend(ctx context.Context) time.Duration {
	if wait := b.next.Sub(b.Now()); wait > 0 {
		return wait
	}
	list, err := b.Cards.ChatCards(ctx, b.Kind)
	if err != nil {
		if ctx.Err() == nil {
			b.Log.Warn("bot: the cards cannot be read", "error", err)
		}
		return lookIdle
	}
	b.forget(list)
	if len(list) == 0 {
		return lookIdle
	}
	c, found := b.pick(ctx, list)
	if !found {
		return lookBusy
	}
	b.next = b.Now().Add(callEvery)
	// What was begun is ended also when the server is: a message that nobody noted would be posted twice.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	if err := b.show(call, c); err != nil {
		b.postpone(call, c, err)
	}
	return b.next.Sub(b.Now())
}

// forget drops what is known of cards that are gone.
func (b *Board) forget(list []app.ChatCard) {
	known := make(map[int64]bool, len(list))
	for _, c := range list {
		known[c.ID] = true
	}
	for id := range b.shown {
		if !known[id] {
			delete(b.shown, id)
		}
	}
	for id := range b.pauses {
		if !known[id] {
			delete(b.pauses, id)
		}
	}
}

// pick chooses the card to show now: ends before anything else, then the one that was not shown for the longest time.
func (b *Board) pick(ctx context.Context, list []app.ChatCard) (best app.ChatCard, found bool) {
	now := b.Now()
	for _, c := range list {
		if s, ok := b.shown[c.ID]; ok {
			c.Channel, c.Message, c.Shown, c.ShownAt = s.Channel, s.Message, s.Shown, s.ShownAt
		}
		switch {
		case c.Message != "" && c.Shown == c.State():
			if c.Status.Ended() { // its end is shown, and was not noted
				_ = b.Cards.DropCard(ctx, c.ID)
			}
			continue
		case now.Before(b.pauses[c.ID].until), c.Message != "" && now.Sub(c.ShownAt) < cardEvery:
			continue
		}
		if !found || c.Status.Ended() && !best.Status.Ended() || c.Status.Ended() == best.Status.Ended() && c.ShownAt.Before(best.ShownAt) {
			best, found = c, true
		}
	}
	return best, found
}

// show posts or edits a card in its newest state.
func (b *Board) show(ctx context.Context, c app.ChatCard) error {
	p, err := b.Cards.ChatProgress(ctx, c)
	if err != nil {
		return err
	}
	o := p.Operation
	c.Status, c.Done, c.Total, c.HeldUntil = o.Status, o.Done, o.Total, o.HeldUntil
	card := NewCard(p, b.URL("/clusters/"+c.Cluster), b.Now())
	if c.Message == "" {
		c.Channel, c.Message, err = b.Poster.Post(ctx, c.Channel, c.Person, card)
	} else {
		err = b.Poster.Edit(ctx, c.Channel, c.Message, card)
	}
	if err != nil {
		return err
	}
	c.Shown, c.ShownAt = c.State(), b.Now()
	b.shown[c.ID] = c
	delete(b.pauses, c.ID)
	if err := b.Cards.ChatShown(ctx, c); err != nil {
		b.Log.Warn("bot: a card could not be noted", "card", c.ID, "error", err)
	}
	return nil
}

// postpone does with a card that could not be shown what its error asks for.
func (b *Board) postpone(ctx context.Context, c app.ChatCard, err error) {
	e := app.AsError(err)
	switch e.Code {
	case app.ENotFound:
		b.Log.Info("bot: a card is given up", "card", c.ID, "cluster", c.Cluster, "error", err)
		if err := b.Cards.DropCard(ctx, c.ID); err == nil {
			return
		}
	case app.ERateLimit:
		b.next = b.Now().Add(max(e.RetryAfter, callEvery))
		return
	}
	long := min(max(2*b.pauses[c.ID].long, cardEvery), mostPause)
	b.pauses[c.ID] = pause{until: b.Now().Add(long), long: long}
	b.Log.Warn("bot: a card could not be shown; it is tried again", "card", c.ID, "in", long, "error", err)
}
