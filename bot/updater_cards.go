package bot

import (
	"context"
	"strconv"
	"time"

	"muster/app"
	"muster/app/chat"
)

const (
	cardEvery   = 3 * time.Second  // minimum time between edits of a card
	threadEvery = 20 * time.Second // and of its thread
)

// Cards are the records of cards in app.
type Cards interface {
	ChatCards(ctx context.Context, kind string) ([]chat.Card, error)
	ChatProgress(ctx context.Context, c chat.Card) (chat.Progress, error)
	ChatShown(ctx context.Context, c chat.Card) error
	DropCard(ctx context.Context, id int64) error
}

// Details are the steps of an operation, for the thread beneath its card.
type Details interface {
	// ChatSteps returns those that ended, in that order; only the newest if there are too many.
	ChatSteps(ctx context.Context, c chat.Card) ([]app.Step, error)
}

// cardSource shows operations' progress.
type cardSource struct {
	updater  *Updater
	threads  Threads // nil: none
	details  Details
	shown    map[int64]chat.Card // what the chat shows, even if recording it failed
	notified map[int64]time.Time // when the thread was updated
	pauses   pauses
}

func newCardSource(b *Updater) *cardSource {
	s := &cardSource{updater: b, shown: map[int64]chat.Card{}, notified: map[int64]time.Time{}, pauses: pauses{}}
	if threads, can := b.Poster.(Threads); can && b.Details != nil {
		s.threads, s.details = threads, b.Details
	}
	return s
}

// Next returns results first, then the card that was updated longest ago, then threads.
func (s *cardSource) Next(ctx context.Context, now time.Time) (best *Show, soon bool, err error) {
	list, err := s.updater.Cards.ChatCards(ctx, s.updater.Kind)
	if err != nil {
		return nil, false, err
	}
	s.forget(list)
	for _, c := range list {
		if s.updater.Team != "" && c.Team != "" && c.Team != s.updater.Team {
			continue
		}
		soon = true
		if had, ok := s.shown[c.ID]; ok {
			c.Channel, c.Message, c.Shown, c.ShownAt, c.Thread, c.ThreadState = had.Channel, had.Message, had.Shown, had.ShownAt, had.Thread, had.ThreadState
		}
		show := s.show(ctx, c, now)
		if show != nil && (best == nil || show.Urgency > best.Urgency || show.Urgency == best.Urgency && show.Since.Before(best.Since)) {
			best = show
		}
	}
	return best, soon, nil
}

// show returns a card's pending call; nil for none.
func (s *cardSource) show(ctx context.Context, c chat.Card, now time.Time) *Show {
	state, name := c.State(), strconv.FormatInt(c.ID, 10)
	current := c.Message != "" && c.Shown == state
	detailed := s.threads == nil || c.ThreadState == state
	ended := c.Status.Ended()
	switch {
	case !s.pauses.over(name, now):
		return nil
	case current && detailed:
		if ended { // its end is shown but wasn't recorded
			_ = s.updater.Cards.DropCard(ctx, c.ID)
		}
		return nil
	case !current && (c.Message == "" || now.Sub(c.ShownAt) >= cardEvery):
		urgency := urgentRunning
		if ended {
			urgency = urgentEnded
		}
		return &Show{Urgency: urgency, Since: c.ShownAt, Do: func(ctx context.Context) error { return s.postpone(ctx, c, s.edit(ctx, c)) }}
	}
	tell := &Show{Urgency: urgentDetails, Since: s.notified[c.ID], Do: func(ctx context.Context) error { return s.postpone(ctx, c, s.tell(ctx, c)) }}
	switch {
	case detailed:
		return nil
	case current && ended: // the last update; it takes turns with running cards
		tell.Urgency, tell.Since = urgentRunning, c.ShownAt
		return tell
	case now.Sub(s.notified[c.ID]) >= threadEvery:
		return tell
	}
	return nil
}

// forget drops the state of cards that no longer exist.
func (s *cardSource) forget(list []chat.Card) {
	known, names := make(map[int64]bool, len(list)), make(map[string]bool, len(list))
	for _, c := range list {
		known[c.ID], names[strconv.FormatInt(c.ID, 10)] = true, true
	}
	for id := range s.shown {
		if !known[id] {
			delete(s.shown, id)
			delete(s.notified, id)
		}
	}
	s.pauses.keep(names)
}

// edit posts or edits a card in its newest state.
func (s *cardSource) edit(ctx context.Context, c chat.Card) error {
	b := s.updater
	p, err := b.Cards.ChatProgress(ctx, c)
	if err != nil {
		return err
	}
	if p.Cluster.Visibility != app.VisibleTenant {
		switch {
		case c.Message == "":
			c.Channel = c.Person // not everyone in the channel may see the cluster
		case c.Channel != c.Person && !isDirect(c.Channel):
			return app.Errorf(app.ENotFound, "cluster %s is private now", c.Cluster)
		}
	}
	o := p.Operation
	c.Status, c.Done, c.Total, c.HeldUntil = o.Status, o.Done, o.Total, o.HeldUntil
	page := app.ClusterSubject(c.Cluster)
	if p.Run != nil {
		page = app.RunSubject(c.Cluster, c.Operation)
	}
	card := b.voice().card(p, b.Page(page), b.Now())
	if c.Message == "" {
		c.Channel, c.Message, err = b.Poster.Post(ctx, c.Channel, c.Person, card)
	} else {
		err = b.Poster.Edit(ctx, c.Channel, c.Message, card)
	}
	if err != nil {
		return err
	}
	c.Shown, c.ShownAt = c.State(), b.Now()
	if s.threads == nil {
		c.ThreadState = c.Shown
	}
	s.note(ctx, c)
	return nil
}

// tell lists finished steps in a card's thread: one message, which grows.
func (s *cardSource) tell(ctx context.Context, c chat.Card) error {
	steps, err := s.details.ChatSteps(ctx, c)
	if err != nil {
		return err
	}
	if a := detailsOf(c, steps); len(a.Lines) > 0 {
		if c.Thread == "" {
			c.Thread, err = s.threads.Reply(ctx, c.Channel, c.Message, a)
		} else {
			err = s.threads.EditReply(ctx, c.Channel, c.Thread, a)
		}
	}
	// A card stays useful without its thread.
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return err
	}
	c.ThreadState = c.State()
	s.notified[c.ID] = s.updater.Now()
	s.note(ctx, c)
	return nil
}

func (s *cardSource) note(ctx context.Context, c chat.Card) {
	s.shown[c.ID] = c
	delete(s.pauses, strconv.FormatInt(c.ID, 10))
	if err := s.updater.Cards.ChatShown(ctx, c); err != nil {
		s.updater.Log.Warn("bot: a card couldn't be recorded", "card", c.ID, "error", err)
	}
}

// postpone drops a card or delays it, depending on its error.
func (s *cardSource) postpone(ctx context.Context, c chat.Card, err error) error {
	switch app.CodeOf(err) {
	case "":
		return nil
	case app.ENotFound:
		s.updater.Log.Info("bot: a card is given up", "card", c.ID, "cluster", c.Cluster, "error", err)
		if err := s.updater.Cards.DropCard(ctx, c.ID); err == nil {
			return nil
		}
	case app.ERateLimit:
		return err
	}
	long := s.pauses.add(strconv.FormatInt(c.ID, 10), s.updater.Now())
	s.updater.Log.Warn("bot: a card couldn't be shown; retrying", "card", c.ID, "in", long, "error", err)
	return err
}
