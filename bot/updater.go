package bot

import (
	"context"
	"log/slog"
	"time"

	"muster/app"
)

// Rates of calls to a chat.
const (
	callEvery = time.Minute / 40 // all of a workspace together
	lookBusy  = time.Second      // between checks while there's something to show soon
	lookIdle  = 5 * time.Second  // otherwise; other servers may add some
	callTime  = 10 * time.Second // of one call to the chat and of recording it
	maxPause  = 5 * time.Minute  // between attempts at what the chat refuses
)

// Poster shows cards in a chat. ENotFound means that a card can never be shown there; ERateLimit, with RetryAfter, that nothing can be
// shown for a while. Optional capabilities: Threads, Messenger and Publisher.
type Poster interface {
	// Post shows a card in a channel or, if that's closed to the bot, to the person; it returns the place and the message's id.
	Post(ctx context.Context, channel, person string, c Card) (where, message string, err error)
	Edit(ctx context.Context, channel, message string, c Card) error
}

// Urgency orders calls, since a workspace accepts few.
type Urgency int

// The urgencies, lowest first.
const (
	urgentDetails Urgency = iota // threads of cards
	urgentRunning                // progress
	urgentHomes
	urgentDMs   // direct messages
	urgentEnded // results, and requests for approval
)

// Show is one pending call to the chat.
type Show struct {
	Urgency Urgency
	Since   time.Time // the older of equal urgency goes first
	// Do makes the call. It handles its own errors except ERateLimit, which counts for the workspace.
	Do func(ctx context.Context) error
}

// Source is a kind of message that an Updater keeps up to date.
type Source interface {
	// Next returns the source's most urgent call; nil for none. Soon means that there will be one soon.
	Next(ctx context.Context, now time.Time) (s *Show, soon bool, err error)
}

// Updater keeps the messages of one workspace up to date: it edits those that changed, the most urgent first, and no more often than the
// chat allows. All its state is in SQL, so another server can continue.
type Updater struct {
	Kind   string
	Team   string // the workspace; "" for all
	Tenant string // the workspace's tenant; "" is the bot's own
	Cards  Cards
	// Details are the steps of operations, shown in their cards' threads if Poster can; nil: none.
	Details Details
	// DMs are direct messages, and Homes people's homes, if Poster can and Bot is set; nil: none.
	DMs    DMs
	Homes  StaleHomes
	Poster Poster
	Page   func(app.Subject) string // its address
	Log    *slog.Logger
	Now    func() time.Time
	Bot    *Bot
	// More are further sources, within the same budget.
	More []Source

	sources []Source
	wake    chan struct{}
	next    time.Time // no call before
}

// NewUpdater makes an updater that is ready to run.
func NewUpdater(b Updater) *Updater {
	b.wake = make(chan struct{}, 1)
	b.renew()
	return &b
}

// renew forgets everything that another server may have changed.
func (b *Updater) renew() {
	b.sources = append([]Source{newCardSource(b)}, b.More...)
	if p, ok := b.Poster.(Messenger); ok && b.DMs != nil && b.Bot != nil {
		b.sources = append(b.sources, &dmSource{updater: b, dmRecords: b.DMs, messenger: p})
	}
	if p, ok := b.Poster.(Publisher); ok && b.Homes != nil && b.Bot != nil {
		b.sources = append(b.sources, &homeSource{updater: b, homes: b.Homes, publisher: p, pauses: pauses{}})
	}
}

// zone is a person's time zone.
func (b *Updater) zone(ctx context.Context, person string) string {
	if z, ok := b.Poster.(Zones); ok {
		return z.Zone(ctx, person)
	}
	return ""
}

// voice is the voice for channels.
func (b *Updater) voice() voice {
	if b.Bot == nil {
		return voice{}
	}
	return b.Bot.voice
}

// Wake checks for news at once.
func (b *Updater) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run updates messages until ctx ends. Only one server of a database may do so at a time.
func (b *Updater) Run(ctx context.Context) {
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
		timer.Reset(b.runOnce(ctx))
	}
}

// runOnce makes at most one call, and returns when to check again.
func (b *Updater) runOnce(ctx context.Context) time.Duration {
	now := b.Now()
	if wait := b.next.Sub(now); wait > 0 {
		return wait
	}
	wait := lookIdle
	var best *Show
	for _, source := range b.sources {
		s, soon, err := source.Next(ctx, now)
		if err != nil && ctx.Err() == nil {
			b.Log.Warn("bot: chat updates can't be read", "error", err)
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
	// A started call finishes even if the server stops: an unrecorded message would be posted twice.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	if err := best.Do(call); app.CodeOf(err) == app.ERateLimit {
		b.next = b.Now().Add(max(app.AsError(err).RetryAfter, callEvery))
	}
	return b.next.Sub(b.Now())
}

// pauses are the waits after refused calls, by name; each is twice as long as the one before.
type pauses map[string]pause

type pause struct {
	until time.Time
	long  time.Duration
}

func (p pauses) over(name string, now time.Time) bool { return !now.Before(p[name].until) }

func (p pauses) add(name string, now time.Time) time.Duration {
	long := min(max(2*p[name].long, cardEvery), maxPause)
	p[name] = pause{until: now.Add(long), long: long}
	return long
}

// keep forgets all others.
func (p pauses) keep(known map[string]bool) {
	for name := range p {
		if !known[name] {
			delete(p, name)
		}
	}
}
