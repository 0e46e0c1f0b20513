package bot

import (
	"context"
	"strconv"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
)

// Reviews are the records of messages that show requests.
type Reviews interface {
	// OpenChatReviews adds every open request whose tenant has an approvals channel.
	OpenChatReviews(ctx context.Context, kind string) error
	ChatReviews(ctx context.Context, kind, team string) ([]chat.Review, error)
	ChatReviewed(ctx context.Context, c chat.Review, ended bool) error
	ChatRequest(ctx context.Context, c chat.Review) (cluster.Request, error)
}

// ReviewPoster shows answers to everyone in a channel. Errors have the codes of Poster's.
type ReviewPoster interface {
	Show(ctx context.Context, channel string, a Answer) (message string, err error)
	EditReply(ctx context.Context, channel, message string, a Answer) error
}

// reviewSource shows requests to their approvers.
type reviewSource struct {
	muster     Reviews
	poster     ReviewPoster
	kind, team string
	page       func(app.Subject) string // a subject's address
	voice      voice
	warn       func(text string, args ...any)
	shown      map[int64]chat.Review // what the chat shows, even if recording it failed
	pauses     pauses
}

// NewReviewSource makes the source of a workspace. Warn logs problems.
func NewReviewSource(b *Bot, m Reviews, p ReviewPoster, kind, team string, warn func(text string, args ...any)) Source {
	return &reviewSource{muster: m, poster: p, kind: kind, team: team, page: b.Page, voice: b.voice, warn: warn,
		shown: map[int64]chat.Review{}, pauses: pauses{}}
}

// Next returns the request that was shown longest ago.
func (s *reviewSource) Next(ctx context.Context, now time.Time) (best *Show, soon bool, err error) {
	if err := s.muster.OpenChatReviews(ctx, s.kind); err != nil {
		return nil, false, err
	}
	list, err := s.muster.ChatReviews(ctx, s.kind, s.team)
	if err != nil {
		return nil, false, err
	}
	known := map[string]bool{}
	for _, c := range list {
		known[strconv.FormatInt(c.ID, 10)] = true
	}
	s.pauses.keep(known)
	for id := range s.shown {
		if !known[strconv.FormatInt(id, 10)] {
			delete(s.shown, id)
		}
	}
	for _, c := range list {
		if had, ok := s.shown[c.ID]; ok {
			c.Message, c.Shown, c.ShownAt = had.Message, had.Shown, had.ShownAt
		}
		name := strconv.FormatInt(c.ID, 10)
		switch {
		case !s.pauses.over(name, now):
			soon = true
			continue
		case c.Message != "" && c.Shown == c.State():
			if !c.Status.Open() { // its end is shown but wasn't recorded
				_ = s.muster.ChatReviewed(ctx, c, true)
			}
			continue
		case c.Message != "" && now.Sub(c.ShownAt) < cardEvery:
			soon = true
			continue
		}
		soon = true
		if best == nil || c.ShownAt.Before(best.Since) {
			best = &Show{Urgency: urgentEnded, Since: c.ShownAt, Do: func(ctx context.Context) error { return s.show(ctx, c) }}
		}
	}
	return best, soon, nil
}

// show posts or edits a request's message.
func (s *reviewSource) show(ctx context.Context, c chat.Review) error {
	name := strconv.FormatInt(c.ID, 10)
	q, err := s.muster.ChatRequest(ctx, c)
	if err == nil {
		a := s.voice.approvalCard(q, s.page(app.RequestSubject(q.ID)))
		c.Status, c.Round, c.Reviews, c.DueAt = q.Status, q.Round, len(q.Reviews), q.DueAt
		if c.Message == "" {
			c.Message, err = s.poster.Show(ctx, c.Channel, a)
		} else {
			err = s.poster.EditReply(ctx, c.Channel, c.Message, a)
		}
	}
	switch app.CodeOf(err) {
	case "":
	case app.ENotFound:
		s.warn("bot: a request can't be shown to its approvers", "request", c.Request, "channel", c.Channel, "error", err)
		return s.muster.ChatReviewed(ctx, c, true)
	case app.ERateLimit:
		return err
	default:
		s.warn("bot: a request couldn't be shown to its approvers; retrying", "request", c.Request, "in", s.pauses.add(name, time.Now()), "error", err)
		return nil
	}
	c.Shown, c.ShownAt = c.State(), time.Now()
	s.shown[c.ID] = c
	delete(s.pauses, name)
	if err := s.muster.ChatReviewed(ctx, c, false); err != nil {
		s.warn("bot: a shown request couldn't be recorded", "request", c.Request, "error", err)
	}
	return nil
}
