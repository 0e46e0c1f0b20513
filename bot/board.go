package bot

import (
	"context"
	"log/slog"
	"time"

	"muster/app"
)

// How often a chat is spoken to by itself.
const (
	callEvery = time.Minute / 40 // all of a workspace together
	lookBusy  = time.Second      // between two looks while there is something to show soon
	lookIdle  = 5 * time.Second  // while there is not; other servers may make some
	callTime  = 10 * time.Second // of one call to the chat, and of the note of it
	mostPause = 5 * time.Minute  // of what the chat does not take
)

// Poster shows cards in a chat. ENotFound says that a card cannot be shown there, now or later; ERateLimit, with RetryAfter,
// that nothing can be shown for a while. What else it can do it says by Threads, Teller and Publisher.
type Poster interface {
	// Post shows a card in a channel or, where that is closed to the bot, to the person; it returns where and by which name.
	Post(ctx context.Context, channel, person string, c Card) (where, message string, err error)
	Edit(ctx context.Context, channel, message string, c Card) error
}

// Urgency says what goes first where a workspace takes few calls.
type Urgency int

// The urgencies, the least first.
const (
	urgentDetails Urgency = iota // what stands beneath cards
	urgentRunning                // how far things are
	urgentHomes
	urgentTold  // what people are told directly
	urgentEnded // how things have ended, and who has to decide
)

// Show is one call to the chat that wants to be made.
type Show struct {
	Urgency Urgency
	Since   time.Time // the older one goes first among those as urgent
	// Do makes it. What goes wrong it looks after by itself, save for ERateLimit, which counts for the workspace.
	Do func(ctx context.Context) error
}

// Source is a kind of message that a Board keeps true.
type Source interface {
	// Next returns what of it is to be shown now before all else; nil for nothing. Soon tells that there will be something before long.
	Next(ctx context.Context, now time.Time) (s *Show, soon bool, err error)
}

// Board keeps the messages of one workspace true: those that changed are edited, in the newest state, the most urgent first, and
// no more often than the chat takes. Everything that it must know stands in SQL, so another server goes on where this one was.
type Board struct {
	Kind   string
	Team   string // the workspace; "" for all
	Tenant string // whose workspace it is; "" is the bot's own
	Cards  Cards
	// Details are the steps of operations, told beneath their cards where Poster can; nil: they are not.
	Details Details
	// Tells are what people are told directly, and Homes their homes, where Poster can and Bot says it; nil: there are none.
	Tells  Tells
	Homes  StaleHomes
	Poster Poster
	Page   func(app.Subject) string // its address
	Log    *slog.Logger
	Now    func() time.Time
	Bot    *Bot
	// More are what else is shown there, within the same budget.
	More []Source

	sources []Source
	wake    chan struct{}
	next    time.Time // no call before
}

// NewBoard makes a board ready to run.
func NewBoard(b Board) *Board {
	b.wake = make(chan struct{}, 1)
	b.renew()
	return &b
}

// renew forgets all that another server may have changed since.
func (b *Board) renew() {
	b.sources = append([]Source{newCardSource(b)}, b.More...)
	if p, ok := b.Poster.(Teller); ok && b.Tells != nil && b.Bot != nil {
		b.sources = append(b.sources, &tellSource{board: b, tells: b.Tells, teller: p})
	}
	if p, ok := b.Poster.(Publisher); ok && b.Homes != nil && b.Bot != nil {
		b.sources = append(b.sources, &homeSource{board: b, homes: b.Homes, publisher: p, pauses: pauses{}})
	}
}

// zone is the time zone of someone of the workspace.
func (b *Board) zone(ctx context.Context, person string) string {
	if z, ok := b.Poster.(Zones); ok {
		return z.Zone(ctx, person)
	}
	return ""
}

// voice is how all who read a channel are spoken to.
func (b *Board) voice() voice {
	if b.Bot == nil {
		return voice{}
	}
	return b.Bot.voice
}

// Wake tells that there is something new.
func (b *Board) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run tends the messages until ctx ends. One server of a database does so at a time.
func (b *Board) Run(ctx context.Context) {
	b.renew()
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
	now := b.Now()
	if wait := b.next.Sub(now); wait > 0 {
		return wait
	}
	wait := lookIdle
	var best *Show
	for _, source := range b.sources {
		s, soon, err := source.Next(ctx, now)
		if err != nil && ctx.Err() == nil {
			b.Log.Warn("bot: what is to be shown in a chat cannot be read", "error", err)
		}
		if soon {
			wait = lookBusy
		}
		if s != nil && (best == nil || s.Urgency > best.Urgency || s.Urgency == best.Urgency && s.Since.Before(best.Since)) {
			best = s
		}
	}
	if best == nil {
		return wait
	}
	b.next = b.Now().Add(callEvery)
	// What was begun is ended also when the server is: a message that no one noted would be posted twice.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	if err := best.Do(call); app.CodeOf(err) == app.ERateLimit {
		b.next = b.Now().Add(max(app.AsError(err).RetryAfter, callEvery))
	}
	return b.next.Sub(b.Now())
}

// pauses are of what the chat did not take, by what names it; each is twice as long as the one before.
type pauses map[string]pause

type pause struct {
	until time.Time
	long  time.Duration
}

func (p pauses) over(name string, now time.Time) bool { return !now.Before(p[name].until) }

func (p pauses) add(name string, now time.Time) time.Duration {
	long := min(max(2*p[name].long, cardEvery), mostPause)
	p[name] = pause{until: now.Add(long), long: long}
	return long
}

// keep forgets those of what is gone.
func (p pauses) keep(known map[string]bool) {
	for name := range p {
		if !known[name] {
			delete(p, name)
		}
	}
}
